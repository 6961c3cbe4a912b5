// Binding: the elements that the extents of one rank's program name, in the set's layouts and in the rank's buffers.
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

  // Exchanges the rank's own blocks (DataLayout::own) for the same number of other ones.
  void bind(std::shared_ptr<const OwnBlocks> blocks);

  // Appends the elements of an extent in its order, without empty runs, adjacent ones joined. O(runs).
  void append_runs(const Extent& extent, Values values, std::vector<ElementRun>& runs) const;
  std::int64_t length(const Extent& extent, Values values) const;

  // Appends the elements of a chunk of this rank's program, relative to the start of its buffer.
  void append_chunk(const Program& program, const Chunk& chunk, Values values, std::vector<ElementRun>& runs) const;

  // The number that extents give to a buffer's first element. It is 0 unless the buffer holds only this rank's block.
  std::int64_t first_named(Buffer::Kind buffer) const;
  // The offset of the input in the output if the two are one memory; negative: of the output in the input.
  std::int64_t input_within_output() const;
  bool one_memory() const { return buffers_.one_memory; }

  // Numbers of elements of this rank's buffers; 0 if it has none.
  std::int64_t input_elements() const { return elements_of(Buffer::Kind::input); }
  std::int64_t output_elements() const { return elements_of(Buffer::Kind::output); }
  // The only block of its array that a buffer holds; -1: it holds all, or parts of a vector.
  std::int64_t only_block(Buffer::Kind buffer) const {
    return buffer == Buffer::Kind::input ? buffers_.input_block : buffers_.output_block;
  }

  // The number of blocks of the rank's array in this layout.
  std::int64_t blocks_of(Layout layout) const { return data_->layout(layout).blocks_of(rank_); }

  // The number of elements of a named scratch. append_runs_of() changes runs[from ...] of its array to places in it.
  std::int64_t named_elements(const Scratch& scratch) const;
  void append_runs_of(const Scratch& named, std::vector<ElementRun>& runs, std::size_t from) const;

  // The number of elements of one cell and of the whole scratch buffer; and the first element of a cell in a segment.
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
  // First elements of blocks: as extents name them, one block behind the other; and in this rank's buffer, where they
  // may lie anywhere.
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

// The number of copies of a scratch buffer: the window of its lane, or if shared the largest window of the program.
std::int64_t scratch_window(const Program& program, const Scratch& scratch, Segments segments);

} // namespace kumihimo
