// From names to elements: what the extents of one rank's program mean in the set's layouts and the rank's buffers.
#pragma once

#include "base/int128.hpp"
#include "program/program_set.hpp"

#include <array>
#include <memory>
#include <span>

namespace kumihimo {

// The first element of part i of m over n elements: floor(i n / m), in 128 bits.
constexpr std::int64_t part_begin(std::int64_t i, std::int64_t m, std::int64_t n) {
  return static_cast<std::int64_t>(static_cast<Wide>(i) * n / m);
}

struct ElementRun {
  std::int64_t first = 0, count = 0;
  bool operator==(const ElementRun&) const = default;
};

class Binding {
 public:
  Binding(const ProgramSet& set, Rank rank) : Binding(set.data, set.segments, rank) {}
  Binding(std::shared_ptr<const DataLayout> data, Segments segments, Rank rank);

  // Other blocks of the same rank, where they are its own (DataLayout::own): as many as before.
  void bind(std::shared_ptr<const OwnBlocks> blocks);

  // The elements of an extent in the order it names them, empty runs left out, adjacent ones joined. O(runs).
  void append_runs(const Extent& extent, Values values, std::vector<ElementRun>& runs) const;
  std::int64_t length(const Extent& extent, Values values) const;

  // Where a chunk of this rank's program lies, relative to the start of its buffer.
  void append_chunk(const Program& program, const Chunk& chunk, Values values, std::vector<ElementRun>& runs) const;

  // The place that the extents' names give to a buffer's first element: not 0 where the buffer holds no array of
  // blocks but this rank's own block alone.
  std::int64_t first_named(Buffer::Kind buffer) const;
  // Where the input's first element is in the output if the two are one memory; below 0: the output's in the input.
  std::int64_t input_within_output() const;
  bool one_memory() const { return buffers_.one_memory; }

  // Of the whole buffer of this rank; 0 where it has none.
  std::int64_t input_elements() const { return elements_of(Buffer::Kind::input); }
  std::int64_t output_elements() const { return elements_of(Buffer::Kind::output); }
  // The only block of its array that a buffer holds; -1: it holds all, or parts of a vector.
  std::int64_t only_block(Buffer::Kind buffer) const {
    return buffer == Buffer::Kind::input ? buffers_.input_block : buffers_.output_block;
  }

  std::int64_t blocks_of(Layout layout) const { return data_->layout(layout).blocks_of(rank_); } // of its array

  // The elements of a named scratch from its first block on; and the runs of an array of blocks as they lie in it.
  std::int64_t named_elements(const Scratch& scratch) const;
  void append_runs_of(const Scratch& named, std::vector<ElementRun>& runs, std::size_t from) const;

  // Scratch: elements of one cell, of the whole buffer, and where the data of a chunk lies in it.
  std::int64_t cell_elements(const Scratch& scratch) const;
  std::int64_t scratch_elements(const Scratch& scratch, std::int64_t window) const;
  std::int64_t scratch_first(const Scratch& scratch, std::int64_t window, std::int64_t cell,
                             std::int64_t segment) const;

  const DataLayout& data() const { return *data_; }
  Segments segments() const { return segments_; }
  Rank rank() const { return rank_; }

 private:
  void append_runs(const Extent& extent, Values values, std::vector<ElementRun>& runs, bool in_buffer) const;
  std::int64_t elements_of(Buffer::Kind buffer) const;
  void find_begins();
  std::int64_t count_of(Layout side, std::int64_t block) const;
  bool is_own(Layout layout) const;
  // Of blocks one behind the other, which is how they are named; and in this rank's buffer, where they may lie
  // anywhere.
  const std::vector<std::int64_t>& begins_in(Layout layout) const; // of blocks of different lengths
  std::int64_t block_begin(Layout layout, std::int64_t block) const;
  std::int64_t begin_in_buffer(Layout layout, std::int64_t block) const;
  std::int64_t elements_of_buffer(Layout layout) const;
  std::int64_t block_count(Layout layout, std::int64_t block) const;
  std::int64_t largest_block(Layout layout) const;

  std::shared_ptr<const DataLayout> data_;
  Segments segments_;
  Rank rank_;
  BufferPair buffers_;
  std::shared_ptr<const OwnBlocks> own_;            // DataLayout::own, or what was bound later
  std::array<std::vector<std::int64_t>, 2> begins_; // of input and output blocks that are this rank's own
};

// The copies of a scratch buffer: those of its lane's window; a shared one has the largest window of the program.
std::int64_t scratch_window(const Program& program, const Scratch& scratch, Segments segments);

} // namespace kumihimo
