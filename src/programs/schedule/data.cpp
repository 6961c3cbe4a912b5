#include "schedule/data.hpp"

#include "program/binding.hpp"

#include <algorithm>
#include <utility>

namespace kumihimo {
namespace {

std::shared_ptr<const std::vector<std::int64_t>> begins_of(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> begins{0};
  begins.reserve(counts.size() + 1);
  for (const std::int64_t n : counts) begins.push_back(begins.back() + n);
  return std::make_shared<const std::vector<std::int64_t>>(std::move(begins));
}

void number_blocks_of_neighbours(const Collective& c, BlockLayout& input, BlockLayout& output) {
  const auto neighbours = c.neighbours;
  input.blocks = output.blocks = neighbours->most_blocks();
  output.blocks_at = [neighbours](Rank r) { return static_cast<std::int64_t>(neighbours->sources(r).size()); };
  if (!c.kind->sends_to_each()) // one block for all destinations
    input.blocks_at = [](Rank) { return std::int64_t{1}; };
  else
    input.blocks_at = [neighbours](Rank r) { return static_cast<std::int64_t>(neighbours->destinations(r).size()); };
  if (!c.counts.table) return;
  input.elements_at = [c](Rank r, std::int64_t block) { return elements_to(c, r, block); };
  output.elements_at = [c](Rank r, std::int64_t block) { return elements_from(c, r, block); };
}

// The layouts of the buffers of a collective of blocks.
std::vector<BlockLayout> blocks_of(const Collective& c) {
  BlockLayout input, output;
  input.name = "input_blocks", output.name = "output_blocks";
  input.blocks = output.blocks = c.ranks;
  input.each = output.each = c.counts.irregular() ? 0 : c.counts.each;
  const auto table = c.counts.table;
  if (c.neighbours) {
    number_blocks_of_neighbours(c, input, output);
  } else if (table && c.counts.known == Counts::Known::local) {
    const std::int64_t P = c.ranks;
    input.elements_at = [table, P](Rank r, std::int64_t b) {
      return (*table)[static_cast<std::size_t>(r.value * P + b)];
    };
    output.elements_at = [table, P](Rank r, std::int64_t b) {
      return (*table)[static_cast<std::size_t>(b * P + r.value)];
    };
  } else if (table) {
    input.begins = output.begins = begins_of(*table);
  }
  return {std::move(input), std::move(output)};
}

BufferPair buffers_of(const Collective& c, Rank rank) {
  const auto elements = [&](const CollectiveRow::Side& side) -> std::int64_t {
    if (side.whose == WhichRanks::none || (side.whose == WhichRanks::root && rank != c.root)) return 0;
    return side.part == Part::vector ? c.counts.each : BufferPair::all_blocks;
  };
  const CollectiveRow::Side &input = c.kind->input, &output = c.kind->output;
  BufferPair b;
  b.one_memory = c.aliased(rank);
  b.input = elements(input), b.output = elements(output);
  if (c.neighbours) return b;
  if (input.part == Part::block) b.input_block = rank.value;
  if (output.part == Part::block) b.output_block = rank.value;
  // In place a block lies where it is of all; but the result of a reduce_scatter lies at the buffer's start.
  b.at_block = !c.reduces() && (input.part == Part::block || output.part == Part::block);
  return b;
}

// Elements that rank `from` has for rank `to`, or of block `to`.
std::int64_t block(const Collective& c, std::int32_t from, std::int32_t to) {
  if (!c.counts.irregular()) return c.counts.each;
  const std::int64_t at = c.counts.known == Known::local ? std::int64_t{from} * c.ranks + to : to;
  return (*c.counts.table)[static_cast<std::size_t>(at)];
}

// Where that begins in an input that has a block for each rank.
std::int64_t begin(const Collective& c, std::int32_t from, std::int32_t to) {
  if (!c.counts.irregular()) return c.counts.each * to;
  std::int64_t sum = 0;
  for (std::int32_t b = 0; b < to; ++b) sum += block(c, from, b);
  return sum;
}

std::vector<Contribution> of_sources(const Collective& c, Rank rank) {
  std::vector<Contribution> all;
  for (std::int64_t k = 0; const Neighbourhood::End from : c.neighbours->sources(rank)) {
    Contribution part{elements_from(c, rank, k++), from.rank, from.rank + 1, 0};
    for (std::int32_t b = 0; c.kind->sends_to_each() && from.exists() && b < from.block; ++b)
      part.position += elements_to(c, Rank{from.rank}, b);
    all.push_back(part);
  }
  return all;
}

struct RankSpan { // of ranks
  std::int32_t low = 0, high = 0;
};
RankSpan contributors(const Collective& c, Rank rank) {
  switch (c.kind->from) {
  case Contributors::root: return {c.root.value, c.root.value + 1};
  case Contributors::all: return {0, c.ranks};
  case Contributors::up_to_itself: return {0, rank.value + 1};
  case Contributors::before_itself: return {0, rank.value};
  default: return {};
  }
}

} // namespace

std::shared_ptr<const DataLayout> data_of(const Collective& c, std::vector<BlockLayout> declared) {
  DataLayout d;
  d.ranks = c.ranks;
  d.type = c.type;
  d.type_bytes = c.type_bytes;
  if (c.reduces()) d.operation = c.operation;
  if (c.has_root()) d.source = c.root;
  d.vector = c.kind->is_vector();
  if (d.vector)
    d.elements = c.counts.each;
  else if (c.kind->moves_data())
    d.blocks = blocks_of(c);
  d.blocks.insert(d.blocks.end(), std::make_move_iterator(declared.begin()), std::make_move_iterator(declared.end()));
  d.transposed = c.counts.known == Counts::Known::local;
  d.one_buffer = c.kind->has_one_buffer();
  d.own = c.counts.own;
  d.buffers = [c](Rank rank) { return buffers_of(c, rank); };
  return std::make_shared<const DataLayout>(std::move(d));
}

std::int64_t longest_buffer_bytes(const Collective& c) {
  const auto data = data_of(c);
  std::int64_t longest = 0;
  for (std::int32_t r = 0; r < c.ranks; ++r) {
    const Binding binding(data, {}, Rank{r});
    longest = std::max({longest, binding.input_elements(), binding.output_elements()});
  }
  return longest * c.type_bytes;
}

std::vector<Contribution> contributions(const Collective& c, Rank rank) {
  if (c.neighbours) return of_sources(c, rank);
  if (c.kind->output.whose == WhichRanks::root && rank != c.root) return {};
  const auto [low, high] = contributors(c, rank);
  if (low == high) return {};
  if (c.kind->is_vector()) return {{c.counts.each, low, high, 0}};
  const std::int32_t r = rank.value;
  if (!c.kind->receives_from_each()) return {{block(c, low, r), low, high, begin(c, low, r)}};
  std::vector<Contribution> all;
  const bool sums = c.kind->reduces(), for_each = c.kind->sends_to_each();
  for (std::int32_t b = 0; b < c.ranks; ++b) // a sum of each block; or what each rank has for this one, or for all
    all.push_back(sums       ? Contribution{block(c, low, b), low, high, begin(c, low, b)}
                  : for_each ? Contribution{block(c, b, r), b, b + 1, begin(c, b, r)}
                             : Contribution{block(c, b, b), b, b + 1, 0});
  return all;
}

} // namespace kumihimo
