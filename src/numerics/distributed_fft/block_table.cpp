#include "distributed_fft/block_table.hpp"

#include "collectives/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

namespace kumihimo::distributed_fft {
namespace {

bool are_equal(const std::vector<std::int64_t>& lengths) {
  return std::ranges::adjacent_find(lengths, std::ranges::not_equal_to()) == lengths.end();
}

Result<const Variant*> alltoall_row(const TransformWay& way) {
  return Registry::standard().find(CollectiveKind::alltoall, way.exchange);
}

// Those that are given. Error: the alltoall does not take one of them (not_applicable).
Result<Parameters> parameters_of(const TransformWay& way, const Variant& row) {
  const std::int64_t group = way.kind == ExchangeKind::messages ? way.group : 0; // of leaders it is no parameter
  const std::tuple<const ParameterDeclaration&, std::int64_t, const char*> given[] = {
      {parameter::throttle, way.throttle, "linear"},
      {parameter::send_window, way.send_window, "linear"},
      {parameter::receive_window, way.receive_window, "linear"},
      {parameter::group, group, "hierarchical"}};
  Parameters parameters;
  for (const auto& [declared, value, taker] : given) {
    if (value == 0) continue;
    if (std::ranges::none_of(row.parameters, [&](const auto& each) { return each.parameter == &declared; }))
      return not_applicable(fmt::format("exchange={} takes no {}", row.name, declared.name), value,
                            fmt::format("leave it out, or use exchange={}", taker));
    parameters.*std::get<ParameterDeclaration::Number>(declared.value) = value;
  }
  return parameters;
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
  Result<Schedule> made = row->build(exchange, space, TRY(parameters_of(way, *row)));
  if (!made && made.error().kind == Error::Kind::not_applicable)
    return not_applicable("the exchange " + way.exchange + " does not fit here: " + made.error().problem, {},
                          "use exchange=pairwise");
  return made;
}

} // namespace kumihimo::distributed_fft
