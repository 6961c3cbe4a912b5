#include "fft3d/choose_exchange.hpp"

#include "distributed_fft/row_and_column.hpp"
#include "distributed_fft/sphere_fft.hpp"

#include <algorithm>
#include <functional>

namespace kumihimo::fft3d {
namespace {

using application::Runtime;
using distributed_fft::ExchangeKind, distributed_fft::ExchangeTime, distributed_fft::PlannedExchange,
    distributed_fft::RowAndColumn, distributed_fft::TransformWay;

// In the order in which they are tried: what was fast elsewhere first.
constexpr std::string_view exchanges[] = {"linear", "pairwise",    "paced",       "two_phase",
                                          "bruck",  "three_phase", "hierarchical"};

bool may_be_measured(const TransformWay& way, Runtime& runtime) {
  const std::vector<std::int64_t> nodes = runtime.processes().node_of_rank();
  const bool by_messages = way.kind == ExchangeKind::messages || way.kind == ExchangeKind::leaders;
  return by_messages && way.throttle == 0 &&
         std::ranges::adjacent_find(nodes, std::ranges::not_equal_to()) != nodes.end();
}

} // namespace

Result<std::vector<ExchangeTime>> choose_exchange(const FftProblem& problem, double budget, TransformWay& way,
                                                  Runtime& runtime) {
  if (way.exchange != automatic_exchange) return std::vector<ExchangeTime>();
  way.exchange = way.throttle > 0 ? "linear" : "pairwise";
  if (!may_be_measured(way, runtime)) return std::vector<ExchangeTime>();
  const fft::RankPencils spectrum = problem.spectrum();
  const RowAndColumn groups = TRY(RowAndColumn::make(spectrum, way.kind, runtime));
  std::vector<PlannedExchange> planned;
  if (problem.sphere)
    planned.push_back({distributed_fft::block_table(*problem.sphere, runtime.ranks(), way.bands_at_once), runtime});
  else
    planned = planned_exchanges(spectrum, groups, runtime.rank(), way);
  if (planned.empty()) return std::vector<ExchangeTime>();
  std::vector<ExchangeTime> times = TRY(measure_exchanges(planned, way, exchanges, budget, runtime));
  way.exchange = times[0].exchange;
  return times;
}

} // namespace kumihimo::fft3d
