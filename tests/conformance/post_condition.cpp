#include "post_condition.hpp"

#include <map>

namespace conformance {

using kumihimo::CollectiveKind;
using kumihimo::Counts;

std::int64_t PostCondition::block(std::int32_t b) const {
  return c_.counts.known == Counts::Known::uniform ? c_.counts.each : (*c_.counts.table)[static_cast<std::size_t>(b)];
}

std::int64_t PostCondition::pair(std::int32_t from, std::int32_t to) const {
  if (c_.counts.known != Counts::Known::local) return block(to);
  return (*c_.counts.table)[static_cast<std::size_t>(from * c_.ranks + to)];
}

std::int64_t PostCondition::edge(std::int32_t from, std::int64_t block) const {
  if (c_.counts.known == Counts::Known::uniform) return c_.counts.each;
  if (c_.kind == CollectiveKind::neighbor_allgather) return (*c_.counts.table)[static_cast<std::size_t>(from)];
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

std::int64_t PostCondition::input_elements(std::int32_t rank) const {
  std::int64_t sum = 0;
  switch (c_.kind) {
  case CollectiveKind::barrier:
    return 0;
  case CollectiveKind::gather:
  case CollectiveKind::allgather:
    return block(rank);
  case CollectiveKind::scatter:
    return at_root(rank) ? blocks_before(c_.ranks) : 0;
  case CollectiveKind::reduce_scatter:
    return blocks_before(c_.ranks);
  case CollectiveKind::alltoall:
    for (std::int32_t to = 0; to < c_.ranks; ++to) sum += pair(rank, to);
    return sum;
  case CollectiveKind::neighbor_allgather:
    return edge(rank, 0);
  case CollectiveKind::neighbor_alltoall:
    for (std::size_t k = 0; k < c_.neighbours->destinations(kumihimo::Rank{rank}).size(); ++k)
      sum += edge(rank, static_cast<std::int64_t>(k));
    return sum;
  default:
    return c_.counts.each;
  }
}

std::int64_t PostCondition::output_elements(std::int32_t rank) const {
  std::int64_t sum = 0;
  switch (c_.kind) {
  case CollectiveKind::barrier:
    return 0;
  case CollectiveKind::gather:
    return at_root(rank) ? blocks_before(c_.ranks) : 0;
  case CollectiveKind::allgather:
    return blocks_before(c_.ranks);
  case CollectiveKind::scatter:
  case CollectiveKind::reduce_scatter:
    return block(rank);
  case CollectiveKind::alltoall:
    for (std::int32_t from = 0; from < c_.ranks; ++from) sum += pair(from, rank);
    return sum;
  case CollectiveKind::neighbor_allgather:
  case CollectiveKind::neighbor_alltoall: {
    std::int64_t none = 0;
    for (const Origin& o : origins(rank, none)) sum += o.count;
    return sum;
  }
  case CollectiveKind::reduce:
    return at_root(rank) ? c_.counts.each : 0;
  default:
    return c_.counts.each;
  }
}

std::int64_t PostCondition::input_begin(std::int32_t rank) const {
  const bool gathers = c_.kind == CollectiveKind::gather || c_.kind == CollectiveKind::allgather;
  return gathers && c_.aliased(kumihimo::Rank{rank}) ? blocks_before(rank) : 0;
}

// MPI 4.1, section 8.6: as if by point-to-point messages, sent to the destinations and received from the sources in the
// order of the lists; but of each Cartesian axis first the block for the rank before, which comes from the one after.
std::vector<PostCondition::Origin> PostCondition::of_neighbours(std::int32_t rank) const {
  const auto sources = c_.neighbours->sources(kumihimo::Rank{rank});
  const bool whole = c_.kind == CollectiveKind::neighbor_allgather;
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
  switch (c_.kind) {
  case CollectiveKind::bcast:
    return {{c_.root.value, 0, c_.counts.each}};
  case CollectiveKind::gather:
    if (!at_root(rank)) return {};
    [[fallthrough]];
  case CollectiveKind::allgather:
    for (std::int32_t r = 0; r < c_.ranks; ++r) from.push_back({r, 0, block(r)});
    return from;
  case CollectiveKind::scatter:
    if (c_.in_place && at_root(rank)) begin = blocks_before(rank);
    return {{c_.root.value, blocks_before(rank), block(rank)}};
  case CollectiveKind::alltoall:
    for (std::int32_t r = 0; r < c_.ranks; ++r) {
      std::int64_t first = 0;
      for (std::int32_t to = 0; to < rank; ++to) first += pair(r, to);
      from.push_back({r, first, pair(r, rank)});
    }
    return from;
  case CollectiveKind::neighbor_allgather:
  case CollectiveKind::neighbor_alltoall:
    return of_neighbours(rank);
  default:
    return {};
  }
}

std::optional<std::string> PostCondition::wrong_reduction(const Arithmetic& arithmetic,
                                                          const std::vector<Buffer>& inputs, std::int32_t rank,
                                                          const Buffer& output) const {
  std::int32_t contributors = c_.ranks;
  if (c_.kind == CollectiveKind::scan) contributors = rank + 1;
  if (c_.kind == CollectiveKind::exscan) contributors = rank;
  if (contributors == 0 || (c_.kind == CollectiveKind::reduce && !at_root(rank))) return std::nullopt;
  const bool scatters = c_.kind == CollectiveKind::reduce_scatter;
  const std::int64_t first = scatters ? blocks_before(rank) : 0, count = scatters ? block(rank) : c_.counts.each;
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
