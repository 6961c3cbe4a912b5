// The data that programs name: how elements are numbered, and the buffers of each rank. Offsets and counts are in
// elements of one type.
#pragma once

#include "base/datatype.hpp"
#include "base/ids.hpp"
#include "program/program.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kumihimo {

// A numbering of elements in blocks that follow each other. Either all blocks have `each` elements, or `begins` tells
// where each block begins and the last one ends, or, where ranks differ, `elements_at` tells how many it has.
struct BlockLayout {
  std::string name;                            // "input_blocks"
  std::string unit = "block";                  // one of them, for people
  std::int64_t blocks = 0;                     // of every rank; where ranks differ (blocks_at) the most of any
  std::int64_t each = 0;                       // elements of a block
  std::function<std::int64_t(Rank)> blocks_at; // number of blocks of a rank
  std::shared_ptr<const std::vector<std::int64_t>> begins;     // the same on all ranks
  std::function<std::int64_t(Rank, std::int64_t)> elements_at; // of a block of a rank: input and output blocks alone

  bool uniform() const { return !begins && !elements_at; }
  std::int64_t blocks_of(Rank rank) const { return blocks_at ? blocks_at(rank) : blocks; }
  std::int64_t elements(Rank rank, std::int64_t block) const {
    if (elements_at) return elements_at(rank, block);
    return begins ? (*begins)[static_cast<std::size_t>(block) + 1] - (*begins)[static_cast<std::size_t>(block)] : each;
  }
};

// Whether both number the same elements alike, whatever their names.
inline bool same_numbering(const BlockLayout& a, const BlockLayout& b) {
  if (a.elements_at || b.elements_at || a.blocks_at || b.blocks_at) return false;
  return a.blocks == b.blocks && a.begins == b.begins && (a.begins || a.each == b.each);
}

// The blocks of one rank's own buffers, if no rank knows those of all ranks (alltoallv, gatherv, collectives of
// neighbours): where each block begins in its buffer, and its number of elements. Blocks are in the order of the names
// that the rank's program uses. Blocks that the rank does not know are empty. In place both sides are in one memory.
struct OwnBlocks {
  struct Block {
    std::int64_t begin = 0, count = 0;
    bool operator==(const Block&) const = default;
  };
  std::vector<Block> input, output;
  bool operator==(const OwnBlocks&) const = default;
};

// The input and output buffer of one rank.
struct BufferPair {
  static constexpr std::int64_t all_blocks = -1;    // all elements of the blocks of its layout
  std::int64_t input = 0, output = 0;               // elements
  std::int64_t input_block = -1, output_block = -1; // the only block of its array that a buffer holds; -1: it has all
  bool one_memory = false;                          // input and output begin at one place
  bool at_block = false; // or, with one_memory, the buffer of one block lies at that block's place in the other
  bool operator==(const BufferPair&) const = default;
};

struct DataLayout {
  std::int32_t ranks = 1;
  DataType type = DataType::float64;
  std::int64_t type_bytes = 8;
  std::optional<Operation> operation; // of steps that reduce; none: no step does
  Rank source{-1};                    // whose data an offload hands out, where there is no operation
  bool vector = false;                // Layout::vector exists
  std::int64_t elements = 0;          // in Layout::vector
  std::vector<BlockLayout> blocks;    // Layout::input_blocks, Layout::output_blocks, and declared ones
  // Input block b of rank r has the length of output block r of rank b.
  bool transposed = false;
  // Input and output are two names of one buffer, which programs write by both.
  bool one_buffer = false;
  std::function<BufferPair(Rank)> buffers;
  // The blocks of this rank, if the programs are for this rank alone; Binding::bind() exchanges them.
  std::shared_ptr<const OwnBlocks> own;

  bool has(Layout layout) const {
    return layout == Layout::vector ? vector : static_cast<std::size_t>(layout) <= blocks.size();
  }
  // Layout of blocks that it has.
  const BlockLayout& layout(Layout layout) const { return blocks[static_cast<std::size_t>(layout) - 1]; }
};

} // namespace kumihimo
