#include "post_condition.hpp"

#include <map>

namespace conformance {

using kumihimo::Contributors;
using kumihimo::Counts;
using kumihimo::Part;
using kumihimo::WhichRanks;

std::int64_t PostCondition::block(std::int32_t b) const {
  return c_.counts.known == Counts::Known::uniform ? c_.counts.each : (*c_.counts.table)[static_cast<std::size_t>(b)];
}

std::int64_t PostCondition::pair(std::int32_t from, std::int32_t to) const {
  if (c_.counts.known != Counts::Known::local) return block(to);
  return (*c_.counts.table)[static_cast<std::size_t>(from * c_.ranks + to)];
}

std::int64_t PostCondition::edge(std::int32_t from, std::int64_t block) const {
  if (c_.counts.known == Counts::Known::uniform) return c_.counts.each;
  if (!c_.kind->sends_to_each()) return (*c_.counts.table)[static_cast<std::size_t>(from)];
  for (std::int32_t r = 0; r < from; ++r)
    block += static_cast<std::int64_t>(c_.neighbours->destinations(kumihimo::Rank{r}).size());
  return (*c_.counts.table)[static_cast<std::size_t>(block)];
}

std::int64_t PostCondition::blocks_before(std::int32_t b) const {
  std::int64_t sum = 0;
  for (std::int32_t i = 0; i < b; ++i) sum += block(i);
  return sum;
}

Buffer PostCondition::slice(const Buffer& b, std::int64_t first, std::int64_t count) const {
  const auto begin = b.begin() + first * c_.type_bytes;
  return {begin, begin + count * c_.type_bytes};
}

bool PostCondition::has(const kumihimo::CollectiveRow::Side& side, std::int32_t rank) const {
  return side.whose == WhichRanks::all || (side.whose == WhichRanks::root && at_root(rank));
}

std::int64_t PostCondition::input_elements(std::int32_t rank) const {
  const auto& side = c_.kind->input;
  if (c_.kind->has_one_buffer()) return c_.counts.each;
  if (!has(side, rank)) return 0;
  if (side.part == Part::vector) return c_.counts.each;
  if (side.part == Part::block) return c_.neighbours ? edge(rank, 0) : block(rank);
  const std::int64_t blocks =
      c_.neighbours ? static_cast<std::int64_t>(c_.neighbours->destinations(kumihimo::Rank{rank}).size()) : c_.ranks;
  std::int64_t sum = 0;
  for (std::int32_t b = 0; b < blocks; ++b) sum += c_.neighbours ? edge(rank, b) : pair(rank, b);
  return sum;
}

std::int64_t PostCondition::output_elements(std::int32_t rank) const {
  const auto& side = c_.kind->output;
  if (!has(side, rank)) return 0;
  if (side.part == Part::vector) return c_.counts.each;
  if (side.part == Part::block) return block(rank);
  if (c_.reduces()) return blocks_before(c_.ranks);
  std::int64_t sum = 0, none = 0;
  for (const Origin& o : origins(rank, none)) sum += o.count;
  return sum;
}

std::int64_t PostCondition::input_begin(std::int32_t rank) const {
  const bool own_block = c_.kind->input.part == Part::block;
  return own_block && c_.aliased(kumihimo::Rank{rank}) ? blocks_before(rank) : 0;
}

// MPI 4.1, section 8.6: as if by point-to-point messages, sent to the destinations and received from the sources in the
// order of the lists; but of each Cartesian axis first the block for the rank before, which comes from the one after.
std::vector<PostCondition::Origin> PostCondition::of_neighbours(std::int32_t rank) const {
  const auto sources = c_.neighbours->sources(kumihimo::Rank{rank});
  const bool whole = !c_.kind->sends_to_each();
  std::vector<Origin> from(sources.size());
  std::map<std::int32_t, std::size_t> seen; // of each source: how far its list of destinations has been gone through
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::size_t k = c_.neighbours->is_cartesian() ? i ^ 1U : i;
    const std::int32_t source = sources[k].rank;
    from[k] = {-1, 0, c_.counts.irregular() ? 0 : c_.counts.each};
    if (source < 0) continue;
    const auto theirs = c_.neighbours->destinations(kumihimo::Rank{source});
    std::size_t& block = seen[source];
    while (theirs[block].rank != rank) ++block;
    from[k] = {source, 0, edge(source, static_cast<std::int64_t>(block))};
    for (std::size_t b = 0; !whole && b < block; ++b) from[k].first += edge(source, static_cast<std::int64_t>(b));
    ++block;
  }
  return from;
}

std::vector<PostCondition::Origin> PostCondition::origins(std::int32_t rank, std::int64_t& begin) const {
  std::vector<Origin> from;
  begin = 0;
  if (!has(c_.kind->output, rank)) return {};
  if (c_.neighbours) return of_neighbours(rank);
  if (c_.kind->output.part == Part::vector) return {{c_.root.value, 0, c_.counts.each}};
  if (c_.kind->output.part == Part::block) {
    if (c_.in_place && at_root(rank)) begin = blocks_before(rank);
    return {{c_.root.value, blocks_before(rank), block(rank)}};
  }
  for (std::int32_t r = 0; r < c_.ranks; ++r) {
    std::int64_t first = 0;
    for (std::int32_t to = 0; c_.kind->sends_to_each() && to < rank; ++to) first += pair(r, to);
    from.push_back({r, first, c_.kind->sends_to_each() ? pair(r, rank) : block(r)});
  }
  return from;
}

std::optional<std::string> PostCondition::wrong_reduction(const Arithmetic& arithmetic,
                                                          const std::vector<Buffer>& inputs, std::int32_t rank,
                                                          const Buffer& output) const {
  std::int32_t contributors = c_.ranks;
  if (c_.kind->from == Contributors::up_to_itself) contributors = rank + 1;
  if (c_.kind->from == Contributors::before_itself) contributors = rank;
  if (contributors == 0 || !has(c_.kind->output, rank)) return std::nullopt;
  const std::int64_t first = c_.kind->output.part == Part::block ? blocks_before(rank) : 0,
                     count = output_elements(rank);
  std::vector<Buffer> operands;
  for (std::int32_t r = 0; r < contributors; ++r)
    operands.push_back(slice(inputs[static_cast<std::size_t>(r)], first, count));
  return arithmetic.wrong(operands, slice(output, 0, count));
}

std::optional<std::string> PostCondition::wrong(const Arithmetic& arithmetic, const std::vector<Buffer>& inputs,
                                                std::int32_t rank, const Buffer& output) const {
  if (c_.reduces()) return wrong_reduction(arithmetic, inputs, rank, output);
  std::int64_t at = 0;
  for (const Origin& o : origins(rank, at)) {
    if (o.rank < 0) {
      if (slice(output, at, o.count) != Buffer(static_cast<std::size_t>(o.count * c_.type_bytes), untouched))
        return "element " + std::to_string(at) + " and the next, which nobody sends, are written";
    } else if (slice(output, at, o.count) != slice(inputs[static_cast<std::size_t>(o.rank)], o.first, o.count))
      return "the data of rank " + std::to_string(o.rank) + " is not at element " + std::to_string(at);
    at += o.count;
  }
  return std::nullopt;
}

} // namespace conformance
