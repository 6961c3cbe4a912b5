// From names to elements: what the extents of one rank's program mean for the counts of its collective. Offsets are in
// elements of the collective's type.
#pragma once

#include "base/wide.hpp"
#include "program/program.hpp"
#include "schedule/collective.hpp"

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
  Binding(const Collective& collective, Segments segments, Rank rank);

  // Other blocks of the same rank, where its counts are its own: as many as before.
  void bind(std::shared_ptr<const OwnBlocks> blocks);

  // The elements of an extent in the order it names them, empty runs left out, adjacent ones joined. O(runs).
  void append_runs(const Extent& extent, Values values, std::vector<ElementRun>& runs) const;
  std::int64_t length(const Extent& extent, Values values) const;

  // Where a chunk of this rank's program lies, relative to the start of its buffer.
  void append_chunk(const Program& program, const Chunk& chunk, Values values, std::vector<ElementRun>& runs) const;

  // The place that the extents' names give to a buffer's first element: not 0 where the buffer holds no array of
  // blocks but this rank's own block alone (input of gather and allgather, output of scatter and reduce_scatter).
  std::int64_t first_named(Buffer::Kind buffer) const;
  // Where the input's first element is in the output where the two are one memory; negative for scatter.
  std::int64_t input_within_output() const;

  std::int64_t input_elements() const; // of the whole input buffer of this rank; 0 where it has none
  std::int64_t output_elements() const;

  std::int64_t blocks_of(Layout layout) const; // how many its array has

  // The elements of a named scratch from its first block on; and the runs of an array of blocks as they lie in it.
  std::int64_t named_elements(const Scratch& scratch) const;
  void lay_into(const Scratch& named, std::vector<ElementRun>& runs, std::size_t from) const;

  // Scratch: elements of one cell, of the whole buffer, and where the data of a chunk lies in it.
  std::int64_t cell_elements(const Scratch& scratch) const;
  std::int64_t scratch_elements(const Scratch& scratch, std::int64_t window) const;
  std::int64_t scratch_first(const Scratch& scratch, std::int64_t window, std::int64_t cell,
                             std::int64_t segment) const;

  const Collective& collective() const { return collective_; }
  Segments segments() const { return segments_; }
  Rank rank() const { return rank_; }

 private:
  void append_runs(const Extent& extent, Values values, std::vector<ElementRun>& runs, bool in_buffer) const;
  void find_begins(int side);
  std::int64_t elements_of(int side, std::int64_t block) const;
  // Of blocks one behind the other, which is how they are named; and in this rank's buffer, where they may lie
  // anywhere.
  const std::vector<std::int64_t>& begins_in(Layout layout) const; // of irregular counts
  std::int64_t block_begin(Layout layout, std::int64_t block) const;
  std::int64_t begin_in_buffer(Layout layout, std::int64_t block) const;
  std::int64_t elements_of_buffer(Layout layout) const;
  std::int64_t block_count(Layout layout, std::int64_t block) const;
  std::int64_t largest_block(Layout layout) const;

  Collective collective_;
  Segments segments_;
  Rank rank_;
  std::vector<std::int64_t> begins_[2]; // prefix sums of the block counts, where they are not uniform
};

// The copies of a scratch buffer: those of its lane's window; a shared one has the largest window of the program.
std::int64_t scratch_window(const Program& program, const Scratch& scratch, Segments segments);

} // namespace kumihimo
