// Symbolic data. A value stands for a run of consecutive elements, each the result of the same tree of operations over
// the ranks' contributions at consecutive positions: a leaf is (rank, position), a node op(left, right). Equal trees
// are one value (hash-consed), so that "same bits on all ranks" is equality of two integers, and every value carries
// what the checks ask of it: how many contributions, of whom, and whether they stand in rank order.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace kumihimo::verify {

using ValueId = std::int32_t;
inline constexpr ValueId nothing = -1;

struct Facts {
  std::int64_t contributions = 0;
  std::uint64_t ranks = 0;        // sum over the contributions of signature(rank): a hash of the multiset
  std::int64_t position = -1;     // of all contributions' first element; -1 if they differ
  std::int32_t low = 0, high = 0; // if in_order: the contributions are those of ranks low .. high-1, in that order
  bool in_order = false;
  std::uint64_t order = 0; // hash of the tree, whatever the elements: equal where the order of reduction is
};

class ValueStore {
 public:
  void reserve(std::size_t values) { nodes_.reserve(values), facts_.reserve(values), index_.reserve(values); }
  ValueId leaf(std::int32_t rank, std::int64_t position, std::int64_t count);
  ValueId combine(ValueId left, ValueId right); // of equal counts
  // Elements [first, first + count) of the value.
  ValueId part(ValueId value, std::int64_t first, std::int64_t count);

  std::int64_t count(ValueId v) const { return nodes_[v].count; }
  const Facts& facts(ValueId v) const { return facts_[v]; }
  std::string text(ValueId v, std::size_t most = 12) const; // "((0+1)+2) at 5"

  static std::uint64_t signature(std::int32_t rank);

 private:
  // leaf: right < 0, left is the rank. Otherwise op(left, right).
  struct Node {
    std::int32_t left = -1, right = -1;
    std::int64_t position = 0, count = 0;
    bool operator==(const Node&) const = default;
  };
  struct NodeHash {
    std::size_t operator()(const Node& n) const noexcept;
  };
  struct PartKey {
    ValueId value;
    std::int64_t first, count;
    bool operator==(const PartKey&) const = default;
  };
  struct PartHash {
    std::size_t operator()(const PartKey& k) const noexcept;
  };

  ValueId intern(const Node& node, const Facts& facts);

  std::vector<Node> nodes_;
  std::vector<Facts> facts_;
  std::unordered_map<Node, ValueId, NodeHash> index_;
  std::unordered_map<PartKey, ValueId, PartHash> parts_;
};

} // namespace kumihimo::verify
