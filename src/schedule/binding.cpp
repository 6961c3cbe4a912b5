#include "schedule/binding.hpp"

#include <algorithm>
#include <cassert>

namespace kumihimo {

Binding::Binding(const Collective& collective, Segments segments, Rank rank)
    : collective_(collective), segments_(segments), rank_(rank) {
  if (collective_.counts.known == Counts::Known::uniform) return;
  for (const int side : {0, 1}) find_begins(side);
}

void Binding::bind(std::shared_ptr<const OwnBlocks> blocks) {
  assert(collective_.counts.own && blocks->input.size() == collective_.counts.own->input.size() &&
         blocks->output.size() == collective_.counts.own->output.size());
  collective_.counts.own = std::move(blocks);
  for (const int side : {0, 1}) find_begins(side);
}

void Binding::find_begins(int side) {
  auto& begins = begins_[side];
  const std::int64_t blocks = blocks_of(side == 0 ? Layout::input_blocks : Layout::output_blocks);
  begins.assign(static_cast<std::size_t>(blocks) + 1, 0);
  for (std::int64_t b = 0; b < blocks; ++b) begins[b + 1] = begins[b] + elements_of(side, b);
}

std::int64_t Binding::elements_of(int side, std::int64_t b) const {
  const Counts& c = collective_.counts;
  const std::int64_t p = collective_.ranks;
  if (c.own) return (side == 0 ? c.own->input : c.own->output)[static_cast<std::size_t>(b)].count;
  if (c.known == Counts::Known::neighbours)
    return side == 0 ? elements_to(collective_, rank_, b) : elements_from(collective_, rank_, b);
  if (c.known == Counts::Known::local) return (*c.table)[side == 0 ? rank_.value * p + b : b * p + rank_.value];
  return (*c.table)[b];
}

std::int64_t Binding::block_begin(Layout layout, std::int64_t block) const {
  if (collective_.counts.known == Counts::Known::uniform) return block * collective_.counts.each;
  return begins_in(layout)[block];
}

const std::vector<std::int64_t>& Binding::begins_in(Layout layout) const {
  if (is_own_order(layout)) return (*collective_.counts.orders)[index_of_order(layout)];
  return begins_[layout == Layout::output_blocks];
}

std::int64_t Binding::begin_in_buffer(Layout layout, std::int64_t block) const {
  const auto& own = collective_.counts.own;
  if (!own) return block_begin(layout, block);
  return (layout == Layout::output_blocks ? own->output : own->input)[static_cast<std::size_t>(block)].begin;
}

std::int64_t Binding::elements_of_buffer(Layout layout) const {
  const auto& own = collective_.counts.own;
  if (!own) return block_begin(layout, blocks_of(layout));
  std::int64_t end = 0;
  for (const OwnBlocks::Block& b : layout == Layout::output_blocks ? own->output : own->input)
    if (b.count > 0) end = std::max(end, b.begin + b.count);
  return end;
}

std::int64_t Binding::block_count(Layout layout, std::int64_t block) const {
  if (collective_.counts.known == Counts::Known::uniform) return collective_.counts.each;
  const std::vector<std::int64_t>& begins = begins_in(layout);
  return begins[block + 1] - begins[block];
}

std::int64_t Binding::largest_block(Layout layout) const {
  if (collective_.counts.known == Counts::Known::uniform) return collective_.counts.each;
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
        const std::int64_t n = collective_.counts.each, base = segment * extent.parts;
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
    const std::int64_t m = segments_.count * extent.parts, n = collective_.counts.each;
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
      return lay_into(scratch, runs, mine);
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
  if (collective_.counts.own) return 0; // whose begins are in the buffer
  const CollectiveKind k = collective_.kind;
  const bool own_input = k == CollectiveKind::gather || k == CollectiveKind::allgather;
  const bool own_output = k == CollectiveKind::scatter || k == CollectiveKind::reduce_scatter;
  if (buffer == Buffer::Kind::input && own_input) return block_begin(Layout::input_blocks, rank_.value);
  if (buffer == Buffer::Kind::output && own_output) return block_begin(Layout::output_blocks, rank_.value);
  return 0;
}

std::int64_t Binding::input_within_output() const {
  const CollectiveKind k = collective_.kind;
  if (k == CollectiveKind::gather || k == CollectiveKind::allgather) return first_named(Buffer::Kind::input);
  return k == CollectiveKind::scatter ? -first_named(Buffer::Kind::output) : 0;
}

std::int64_t Binding::input_elements() const {
  const Collective& c = collective_;
  switch (c.kind) {
  case CollectiveKind::barrier:
    return 0;
  case CollectiveKind::bcast:
    return rank_ == c.root ? c.counts.each : 0;
  case CollectiveKind::reduce:
  case CollectiveKind::allreduce:
  case CollectiveKind::scan:
  case CollectiveKind::exscan:
    return c.counts.each;
  case CollectiveKind::gather:
  case CollectiveKind::allgather:
    if (c.counts.own) return elements_of_buffer(Layout::input_blocks);
    return block_count(Layout::input_blocks, rank_.value);
  case CollectiveKind::scatter:
    return rank_ == c.root ? elements_of_buffer(Layout::input_blocks) : 0;
  case CollectiveKind::reduce_scatter:
  case CollectiveKind::alltoall:
  case CollectiveKind::neighbor_allgather:
  case CollectiveKind::neighbor_alltoall:
    return elements_of_buffer(Layout::input_blocks);
  }
  return 0;
}

std::int64_t Binding::output_elements() const {
  const Collective& c = collective_;
  switch (c.kind) {
  case CollectiveKind::barrier:
    return 0;
  case CollectiveKind::reduce:
    return rank_ == c.root ? c.counts.each : 0;
  case CollectiveKind::bcast:
  case CollectiveKind::allreduce:
  case CollectiveKind::scan:
  case CollectiveKind::exscan:
    return c.counts.each;
  case CollectiveKind::gather:
    return rank_ == c.root ? elements_of_buffer(Layout::output_blocks) : 0;
  case CollectiveKind::allgather:
  case CollectiveKind::alltoall:
  case CollectiveKind::neighbor_allgather:
  case CollectiveKind::neighbor_alltoall:
    return elements_of_buffer(Layout::output_blocks);
  case CollectiveKind::scatter:
  case CollectiveKind::reduce_scatter:
    if (c.counts.own) return elements_of_buffer(Layout::output_blocks);
    return block_count(Layout::output_blocks, rank_.value);
  }
  return 0;
}

std::int64_t Binding::blocks_of(Layout layout) const {
  if (collective_.neighbours) {
    if (layout == Layout::output_blocks)
      return static_cast<std::int64_t>(collective_.neighbours->sources(rank_).size());
    const bool one = collective_.kind == CollectiveKind::neighbor_allgather; // for all destinations
    return one ? 1 : static_cast<std::int64_t>(collective_.neighbours->destinations(rank_).size());
  }
  return is_of_pairs(layout) ? std::int64_t{collective_.ranks} * collective_.ranks : collective_.ranks;
}

std::int64_t Binding::named_elements(const Scratch& named) const {
  if (named.layout == Layout::vector) return collective_.counts.each;
  const std::int64_t straight = std::min(named.units, blocks_of(named.layout) - named.first);
  return block_begin(named.layout, named.first + straight) - block_begin(named.layout, named.first) +
         block_begin(named.layout, named.units - straight);
}

void Binding::lay_into(const Scratch& named, std::vector<ElementRun>& runs, std::size_t from) const {
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
  if (scratch.layout == Layout::vector) return ceiling(scratch.units, collective_.counts.each);
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
