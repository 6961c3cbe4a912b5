#include "program/binding.hpp"

#include <algorithm>
#include <cassert>

namespace kumihimo {

Binding::Binding(std::shared_ptr<const DataLayout> data, Segments segments, Rank rank)
    : data_(std::move(data)), segments_(segments), rank_(rank), own_(data_->own) {
  if (data_->buffers) buffers_ = data_->buffers(rank);
  find_begins();
}

void Binding::bind(std::shared_ptr<const OwnBlocks> blocks) {
  assert(own_ && blocks->input.size() == own_->input.size() && blocks->output.size() == own_->output.size());
  own_ = std::move(blocks);
  find_begins();
}

void Binding::find_begins() {
  for (const Layout side : {Layout::input_blocks, Layout::output_blocks}) {
    if (!data_->has(side) || !(own_ || data_->layout(side).elements_at)) continue;
    auto& begins = begins_[side == Layout::output_blocks];
    const std::int64_t blocks = blocks_of(side);
    begins.assign(static_cast<std::size_t>(blocks) + 1, 0);
    for (std::int64_t b = 0; b < blocks; ++b) {
      begins[b + 1] = begins[b] + count_of(side, b);
    }
  }
}

// Count of a block whose length this rank has by itself.
std::int64_t Binding::count_of(Layout side, std::int64_t block) const {
  if (!own_) return data_->layout(side).elements_at(rank_, block);
  return (side == Layout::input_blocks ? own_->input : own_->output)[static_cast<std::size_t>(block)].count;
}

std::int64_t Binding::block_begin(Layout layout, std::int64_t block) const {
  const BlockLayout& blocks = data_->layout(layout);
  return blocks.uniform() && !is_own(layout) ? block * blocks.each : begins_in(layout)[block];
}

const std::vector<std::int64_t>& Binding::begins_in(Layout layout) const {
  return is_own(layout) ? begins_[layout == Layout::output_blocks] : *data_->layout(layout).begins;
}

// Whether this rank has begins of its own.
bool Binding::is_own(Layout layout) const {
  return layout <= Layout::output_blocks && (own_ || data_->layout(layout).elements_at);
}

std::int64_t Binding::begin_in_buffer(Layout layout, std::int64_t block) const {
  if (!own_) return block_begin(layout, block);
  return (layout == Layout::output_blocks ? own_->output : own_->input)[static_cast<std::size_t>(block)].begin;
}

std::int64_t Binding::elements_of_buffer(Layout layout) const {
  if (!own_) return block_begin(layout, blocks_of(layout));
  std::int64_t end = 0;
  for (const OwnBlocks::Block& b : layout == Layout::output_blocks ? own_->output : own_->input)
    if (b.count > 0) end = std::max(end, b.begin + b.count);
  return end;
}

std::int64_t Binding::block_count(Layout layout, std::int64_t block) const {
  const BlockLayout& blocks = data_->layout(layout);
  if (blocks.uniform() && !is_own(layout)) return blocks.each;
  const std::vector<std::int64_t>& begins = begins_in(layout);
  return begins[block + 1] - begins[block];
}

std::int64_t Binding::largest_block(Layout layout) const {
  if (data_->layout(layout).uniform() && !is_own(layout)) return data_->layout(layout).each;
  std::int64_t most = 0;
  for (std::int64_t b = 0; b < blocks_of(layout); ++b) most = std::max(most, block_count(layout, b));
  return most;
}

namespace {

void append(std::vector<ElementRun>& runs, std::size_t mine, ElementRun run) {
  if (run.count == 0) return;
  if (runs.size() > mine && runs.back().first + runs.back().count == run.first)
    runs.back().count += run.count;
  else
    runs.push_back(run);
}

// fn(first unit, units) for each run of a run list.
template <class F>
void for_each_run(const RunList& list, Values values, F&& fn) {
  const std::int64_t first = list.first.evaluate(values), count = list.count.evaluate(values);
  for (std::int64_t o = 0; o < list.outer.runs; ++o)
    for (std::int64_t i = 0; i < list.inner.runs; ++i) fn(first + o * list.outer.stride + i * list.inner.stride, count);
}

} // namespace

void Binding::append_runs(const Extent& extent, Values values, std::vector<ElementRun>& runs) const {
  append_runs(extent, values, runs, false);
}

void Binding::append_runs(const Extent& extent, Values values, std::vector<ElementRun>& runs, bool in_buffer) const {
  const std::size_t mine = runs.size();
  const std::int64_t segment = values[0];
  const std::int64_t m = segments_.count * extent.parts; // parts of the whole
  for (const RunList& list : extent.runs)
    for_each_run(list, values, [&](std::int64_t first, std::int64_t count) {
      if (count <= 0) return;
      if (extent.layout == Layout::vector) {
        const std::int64_t n = data_->elements, base = segment * extent.parts;
        const std::int64_t begin = part_begin(base + first, m, n), end = part_begin(base + first + count, m, n);
        append(runs, mine, {begin, end - begin});
        return;
      }
      const std::int64_t part = segment * extent.parts + extent.part.evaluate(values);
      for (std::int64_t block = first; block < first + count; ++block) {
        const std::int64_t n = block_count(extent.layout, block);
        const std::int64_t base = in_buffer ? begin_in_buffer(extent.layout, block) : block_begin(extent.layout, block);
        const std::int64_t begin = part_begin(part, m, n), end = part_begin(part + 1, m, n);
        append(runs, mine, {base + begin, end - begin});
      }
    });
}

std::int64_t Binding::length(const Extent& extent, Values values) const {
  if (extent.layout == Layout::vector && extent.runs.size() == 1 &&
      extent.runs[0].inner.runs * extent.runs[0].outer.runs == 1) {
    const RunList& list = extent.runs[0];
    const std::int64_t first = values[0] * extent.parts + list.first.evaluate(values),
                       count = list.count.evaluate(values);
    const std::int64_t m = segments_.count * extent.parts, n = data_->elements;
    return count <= 0 ? 0 : part_begin(first + count, m, n) - part_begin(first, m, n);
  }
  thread_local std::vector<ElementRun> runs;
  runs.clear();
  append_runs(extent, values, runs);
  std::int64_t sum = 0;
  for (const ElementRun& run : runs) sum += run.count;
  return sum;
}

void Binding::append_chunk(const Program& program, const Chunk& chunk, Values values,
                           std::vector<ElementRun>& runs) const {
  if (chunk.buffer.kind == Buffer::Kind::scratch) {
    const Scratch& scratch = program.scratch[chunk.buffer.index];
    if (scratch.named) {
      const std::size_t mine = runs.size();
      append_runs(chunk.extent, values, runs);
      return append_runs_of(scratch, runs, mine);
    }
    const std::int64_t window = scratch_window(program, scratch, segments_), elements = length(chunk.extent, values);
    if (elements > 0) runs.push_back({scratch_first(scratch, window, chunk.at.evaluate(values), values[0]), elements});
    return;
  }
  const std::size_t mine = runs.size();
  append_runs(chunk.extent, values, runs, true);
  const std::int64_t first = first_named(chunk.buffer.kind);
  for (std::size_t i = mine; first != 0 && i < runs.size(); ++i) runs[i].first -= first;
}

std::int64_t Binding::first_named(Buffer::Kind buffer) const {
  if (own_) return 0; // whose begins are in the buffer
  const bool input = buffer == Buffer::Kind::input;
  const std::int64_t block = only_block(buffer);
  return block < 0 ? 0 : block_begin(input ? Layout::input_blocks : Layout::output_blocks, block);
}

std::int64_t Binding::input_within_output() const {
  if (!buffers_.at_block) return 0;
  return first_named(Buffer::Kind::input) - first_named(Buffer::Kind::output);
}

std::int64_t Binding::elements_of(Buffer::Kind buffer) const {
  const bool input = buffer == Buffer::Kind::input;
  const std::int64_t declared = input ? buffers_.input : buffers_.output, block = only_block(buffer);
  if (declared != BufferPair::all_blocks) return declared;
  const Layout layout = input ? Layout::input_blocks : Layout::output_blocks;
  return block < 0 || own_ ? elements_of_buffer(layout) : block_count(layout, block);
}

std::int64_t Binding::named_elements(const Scratch& named) const {
  if (named.layout == Layout::vector) return data_->elements;
  const std::int64_t straight = std::min(named.units, blocks_of(named.layout) - named.first);
  return block_begin(named.layout, named.first + straight) - block_begin(named.layout, named.first) +
         block_begin(named.layout, named.units - straight);
}

void Binding::append_runs_of(const Scratch& named, std::vector<ElementRun>& runs, std::size_t from) const {
  if (named.layout == Layout::vector) return; // the whole of it
  const std::int64_t begin = block_begin(named.layout, named.first);
  const std::int64_t before = block_begin(named.layout, blocks_of(named.layout)) - begin; // the first block's place
  std::vector<ElementRun> laid;
  for (std::size_t i = from; i < runs.size(); ++i) {
    const ElementRun run = runs[i];
    const std::int64_t wrapped = std::clamp<std::int64_t>(begin - run.first, 0, run.count);
    append(laid, 0, {before + run.first, wrapped});
    append(laid, 0, {run.first + wrapped - begin, run.count - wrapped});
  }
  runs.resize(from);
  runs.insert(runs.end(), laid.begin(), laid.end());
}

std::int64_t Binding::cell_elements(const Scratch& scratch) const {
  if (scratch.named) return named_elements(scratch);
  // floor(x + y) - floor(x) <= ceil(y): no range of `units` units is longer than this.
  const std::int64_t m = segments_.count * scratch.parts;
  const auto ceiling = [&](std::int64_t units, std::int64_t n) {
    return static_cast<std::int64_t>((static_cast<Wide>(units) * n + m - 1) / m);
  };
  if (scratch.layout == Layout::vector) return ceiling(scratch.units, data_->elements);
  return scratch.units * ceiling(1, largest_block(scratch.layout));
}

std::int64_t Binding::scratch_elements(const Scratch& scratch, std::int64_t window) const {
  return scratch.named ? named_elements(scratch) : cell_elements(scratch) * scratch.cells * window;
}

std::int64_t Binding::scratch_first(const Scratch& scratch, std::int64_t window, std::int64_t cell,
                                    std::int64_t segment) const {
  assert(cell >= 0 && cell < scratch.cells);
  return (segment % window * scratch.cells + cell) * cell_elements(scratch);
}

std::int64_t scratch_window(const Program& program, const Scratch& scratch, Segments segments) {
  std::int64_t window = 1;
  for (const Lane& lane : program.lanes)
    if (scratch.shared || lane.id == scratch.lane) window = std::max(window, lane.window);
  return std::min(window, std::max<std::int64_t>(1, segments.count));
}

} // namespace kumihimo
