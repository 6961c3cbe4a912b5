#include "verify/values.hpp"

#include "base/hash.hpp"

#include <fmt/format.h>

#include <cassert>

namespace kumihimo::verify {
std::size_t ValueStore::NodeHash::operator()(const Node& n) const noexcept {
  const auto pair =
      static_cast<std::uint64_t>(static_cast<std::uint32_t>(n.left)) << 32 | static_cast<std::uint32_t>(n.right);
  return mixed(mixed(mixed(0, pair), static_cast<std::uint64_t>(n.position)), static_cast<std::uint64_t>(n.count));
}
std::size_t ValueStore::PartHash::operator()(const PartKey& k) const noexcept {
  return mixed(mixed(mixed(0, static_cast<std::uint64_t>(k.value)), static_cast<std::uint64_t>(k.first)),
               static_cast<std::uint64_t>(k.count));
}

std::uint64_t ValueStore::signature(std::int32_t rank) { return mixed(0, static_cast<std::uint64_t>(rank) + 1); }

ValueId ValueStore::intern(const Node& node, const Facts& facts) {
  const auto [it, fresh] = index_.try_emplace(node, static_cast<ValueId>(nodes_.size()));
  if (fresh) nodes_.push_back(node), facts_.push_back(facts);
  return it->second;
}

ValueId ValueStore::leaf(std::int32_t rank, std::int64_t position, std::int64_t count) {
  return intern({rank, -1, position, count},
                {1, signature(rank), position, rank, rank + 1, true, mixed(1, static_cast<std::uint64_t>(rank))});
}

ValueId ValueStore::combine(ValueId left, ValueId right) {
  assert(count(left) == count(right));
  const Facts &a = facts_[left], &b = facts_[right];
  Facts f;
  f.contributions = a.contributions + b.contributions;
  f.ranks = a.ranks + b.ranks;
  f.position = a.position == b.position ? a.position : -1;
  f.in_order = a.in_order && b.in_order && a.high == b.low;
  f.low = a.low, f.high = b.high;
  f.order = mixed(mixed(2, a.order), b.order);
  return intern({left, right, 0, count(left)}, f);
}

ValueId ValueStore::part(ValueId value, std::int64_t first, std::int64_t n) {
  const Node node = nodes_[value];
  if (first == 0 && n == node.count) return value;
  if (node.right < 0) return leaf(node.left, node.position + first, n);
  const PartKey key{value, first, n};
  if (const auto it = parts_.find(key); it != parts_.end()) return it->second;
  const ValueId made = combine(part(node.left, first, n), part(node.right, first, n));
  parts_.emplace(key, made);
  return made;
}

std::string ValueStore::text(ValueId value, std::size_t most) const {
  if (value == nothing) return "nothing";
  // Depth first, left to right, cut off after `most` contributions.
  struct Open {
    ValueId value;
    const char* text;
  };
  std::vector<Open> stack{{value, nullptr}};
  std::string s;
  for (std::size_t seen = 0; !stack.empty();) {
    const Open open = stack.back();
    stack.pop_back();
    if (open.text) {
      s += open.text;
      continue;
    }
    const Node& n = nodes_[open.value];
    if (n.right < 0) {
      if (++seen > most) return s + "...";
      s += fmt::format("{}", n.left);
      continue;
    }
    s += "(";
    stack.insert(stack.end(), {{nothing, ")"}, {n.right, nullptr}, {nothing, "+"}, {n.left, nullptr}});
  }
  if (facts_[value].position >= 0) s += fmt::format(" at element {}", facts_[value].position);
  return s;
}

} // namespace kumihimo::verify
