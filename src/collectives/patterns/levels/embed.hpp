// A schedule of some ranks as a part of one of more: peers, buffers, blocks and lanes renamed, nothing else. It is what
// the combinator of levels (hierarchical.cpp) is made of, and knows no algorithm.
#pragma once

#include "program/builder.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kumihimo {

// Numbers of a part's ranks (or of where its blocks begin) as numbers of the whole: evenly apart, or as a table says.
class Numbering {
 public:
  explicit Numbering(std::vector<std::int64_t> of);

  Expression operator()(const Expression& number) const;
  std::int64_t at(std::int64_t number) const;
  std::optional<std::int64_t> apart() const; // where evenly
  std::int64_t size() const { return size_; }

 private:
  std::shared_ptr<const Table> table_; // none where evenly apart
  std::int64_t first_ = 0, apart_ = 1, size_ = 0;
};

// Role of the part's data in the whole.
enum class PartData : std::uint8_t {
  same,             // the vector is the vector
  vector_of_blocks, // the vector is the array of all blocks: part i of it is part i of each block
  groups_of_blocks, // a block is a range of blocks, or of pairs
  blocks_of_pairs,  // an alltoall's blocks: what all ranks of a group have for all of another
  signals           // no data: a message is a signal
};

// The orders that a hierarchy declares. Seats: the blocks of all ranks, of which those of a group of ranks follow each
// other. The pairs: what the rank in seat a has for the one in seat b in an alltoall, by source (block a P + b), by
// destination (block b P + a), or by the source's group: block f P + b g + (a - f) of a group of g in the seats from f
// on, so that what it has for another group is one range.
struct SeatOrders {
  static constexpr Layout seats = declared_layout(0), pairs_by_source = declared_layout(1),
                          pairs_by_destination = declared_layout(2), pairs_by_group = declared_layout(3);
};

// A buffer of the part, in the whole.
struct EmbeddedBuffer {
  Array array;
  Layout layout = Layout::vector; // in which blocks are named there
  std::int64_t before = 0;        // blocks of the part's numbering that lie before the buffer's first
  // Where it has this rank's own block alone, and that is called otherwise there.
  std::optional<std::int64_t> own_block = {};
};

struct Embedding {
  PartData meaning = PartData::same;
  std::int64_t blocks = 0; // of the whole
  const Numbering* peers = nullptr;
  const Numbering* begins = nullptr;   // groups: the first block of each of the part's blocks, and the end of the last
  std::int64_t first_own = 0, own = 0; // of pairs: the seats of this rank's group
  EmbeddedBuffer input, output;
  bool by_group = false;                 // members' rows go where the leader sorts them by group
  Layout scratch = Layout::input_blocks; // of blocks, in the part's scratch; but for seats and pairs as the part says
  std::int32_t first_lane = 0;           // its lanes' ids begin here; each is after all lanes below
  Scope after = Scope::segment;
  std::string role;
};

// Adds the lanes and scratch of a part's program to `whole`. What the language cannot say, if anything; then `whole` is
// of no use.
std::optional<std::string> embed(const Program& part, const Embedding& embedding, Program& whole);

} // namespace kumihimo
