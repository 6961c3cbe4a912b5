#include "distributed_fft/block_table.hpp"

#include "collectives/registry.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace kumihimo::distributed_fft {
namespace {

bool are_equal(const std::vector<std::int64_t>& lengths) {
  return std::ranges::adjacent_find(lengths, std::ranges::not_equal_to()) == lengths.end();
}

Result<const Variant*> alltoall_row(const TransformWay& way) {
  return Registry::standard().find(CollectiveKind::alltoall, way.exchange);
}

} // namespace

Result<BlockTable> blocks_for(const TransformWay& way, const BlockTable& table) {
  const Variant* const row = TRY(alltoall_row(way));
  if (row->equal_counts.empty() || are_equal(table.points)) return table;
  BlockTable equal = table;
  std::ranges::fill(equal.points, *std::ranges::max_element(table.points));
  return equal;
}

bool takes_unequal_blocks(const TransformWay& way) {
  const Result<const Variant*> row = alltoall_row(way);
  return row && (*row)->equal_counts.empty();
}

std::vector<std::int64_t> begins_of(const BlockTable& table, std::int32_t rank, bool sent) {
  std::vector<std::int64_t> begins = {0};
  for (std::int32_t other = 0; other < table.ranks; ++other)
    begins.push_back(begins.back() + (sent ? table.at(rank, other) : table.at(other, rank)));
  return begins;
}

// A point is two numbers.
Result<Schedule> alltoall_of(const BlockTable& table, const TransformWay& way, const RankSpace& space) {
  const Variant* const row = TRY(alltoall_row(way));
  const DataType type = way.single_precision ? DataType::float32 : DataType::float64;
  std::vector<std::int64_t> counts = table.points;
  for (std::int64_t& each : counts) each *= 2;
  const bool equal = are_equal(counts);
  const Collective of_equal = make_collective(CollectiveKind::alltoall, table.ranks, counts[0], type);
  const Collective exchange = equal ? of_equal : TRY(with_counts(of_equal, std::move(counts)));
  Parameters parameters;
  if (way.throttle > 0) parameters.throttle = way.throttle;
  if (way.group > 0 && way.kind == ExchangeKind::messages) parameters.group = way.group;
  Result<Schedule> made = row->build(exchange, space, parameters);
  if (!made && made.error().kind == Error::Kind::not_applicable)
    return not_applicable("the exchange " + way.exchange + " does not fit here: " + made.error().problem, {},
                          "use exchange=pairwise");
  return made;
}

} // namespace kumihimo::distributed_fft
