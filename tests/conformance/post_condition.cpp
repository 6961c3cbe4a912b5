#include "post_condition.hpp"

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
    if (slice(output, at, o.count) != slice(inputs[static_cast<std::size_t>(o.rank)], o.first, o.count))
      return "the data of rank " + std::to_string(o.rank) + " is not at element " + std::to_string(at);
    at += o.count;
  }
  return std::nullopt;
}

} // namespace conformance
