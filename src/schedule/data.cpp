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
    if (side.whose == Ranks::none || (side.whose == Ranks::root && rank != c.root)) return 0;
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

} // namespace kumihimo
