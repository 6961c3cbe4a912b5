#include "distributed_fft/exchange_choice.hpp"

#include "distributed_fft/exchanges.hpp"
#include "measure/clock.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace kumihimo::distributed_fft {
namespace {

using application::Runtime;
using Exchanges = std::vector<std::unique_ptr<BlockExchange>>;

constexpr int rounds = 3; // the first one opens connections

Result<Exchanges> exchanges_of(const std::vector<PlannedExchange>& planned, const TransformWay& way) {
  Exchanges made;
  for (const PlannedExchange& each : planned) made.push_back(TRY(make_exchange(each.table, way, each.ranks)));
  return made;
}

Status run_once(Exchanges& exchanges) {
  for (const std::unique_ptr<BlockExchange>& each : exchanges) {
    if (Status s = each->reserve(); !s) return s;
    if (Status s = each->start(); !s) return s;
    if (Status s = each->finish(); !s) return s;
    each->release();
  }
  return Nothing{};
}

// The least of the rounds after the first.
Result<double> seconds_of(Exchanges& exchanges, Runtime& runtime) {
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < rounds; ++round) {
    runtime.processes().barrier();
    const std::int64_t begin = measure::now_ns();
    if (Status s = runtime.agree(run_once(exchanges)); !s) return s.error();
    const double slowest = runtime.processes().largest({measure::seconds_since(begin)})[0];
    if (round > 0) least = std::min(least, slowest);
  }
  return least;
}

} // namespace

Result<MeasuredExchanges> measure_exchanges(const std::vector<PlannedExchange>& planned, const TransformWay& way,
                                            std::span<const std::string_view> names, double budget, Runtime& runtime) {
  const std::int64_t begin = measure::now_ns();
  MeasuredExchanges found;
  Status unfit = Nothing{};
  for (const std::string_view name : names) {
    found.was_cut_short =
        !found.times.empty() && runtime.processes().largest({measure::seconds_since(begin)})[0] >= budget;
    if (found.was_cut_short) break;
    TransformWay tried = way;
    tried.exchange = name;
    Result<Exchanges> exchanges = exchanges_of(planned, tried);
    if (!exchanges && exchanges.error().kind == Error::Kind::not_applicable) {
      unfit = exchanges.error();
      continue;
    }
    if (!exchanges) return exchanges.error();
    found.times.push_back({tried.exchange, TRY(seconds_of(*exchanges, runtime))});
  }
  if (found.times.empty()) return unfit.error();
  std::ranges::stable_sort(found.times, {}, &ExchangeTime::seconds);
  return found;
}

} // namespace kumihimo::distributed_fft
