#include "fft3d/choose_exchange.hpp"

#include "distributed_fft/row_and_column.hpp"
#include "distributed_fft/sphere_fft.hpp"
#include "fft3d/kept_exchanges.hpp"

#include <algorithm>
#include <functional>

namespace kumihimo::fft3d {
namespace {

using application::Runtime;
using distributed_fft::ExchangeKind, distributed_fft::ExchangeTime, distributed_fft::MeasuredExchanges,
    distributed_fft::PlannedExchange, distributed_fft::RowAndColumn, distributed_fft::TransformWay;

// In the order in which they are tried: what was fast elsewhere first.
constexpr std::string_view exchanges[] = {"linear", "pairwise",    "paced",       "two_phase",
                                          "bruck",  "three_phase", "hierarchical"};

bool has_windows(const TransformWay& way) { return way.throttle > 0 || way.send_window > 0 || way.receive_window > 0; }

bool may_be_measured(const TransformWay& way, Runtime& runtime) {
  const std::vector<std::int64_t> nodes = runtime.processes().node_of_rank();
  const bool by_messages = way.kind == ExchangeKind::messages || way.kind == ExchangeKind::leaders;
  return by_messages && !has_windows(way) &&
         std::ranges::adjacent_find(nodes, std::ranges::not_equal_to()) != nodes.end();
}

Result<MeasuredExchanges> measured(const FftProblem& problem, double budget, const TransformWay& way,
                                   Runtime& runtime) {
  const fft::RankPencils spectrum = problem.spectrum();
  const RowAndColumn groups = TRY(RowAndColumn::make(spectrum, way.kind, runtime));
  std::vector<PlannedExchange> planned;
  if (problem.sphere)
    planned.push_back({distributed_fft::block_table(*problem.sphere, runtime.ranks(), way.bands_at_once), runtime});
  else
    planned = planned_exchanges(spectrum, groups, runtime.rank(), way);
  if (planned.empty()) return MeasuredExchanges();
  return measure_exchanges(planned, way, exchanges, budget, runtime);
}

// Of what rank 0 has found; empty: it has found nothing.
std::string_view exchange_of_rank_0(const std::vector<ExchangeTime>& times, Runtime& runtime) {
  double place = -1;
  if (runtime.rank() == 0 && !times.empty())
    if (const auto* const at = std::ranges::find(exchanges, times[0].exchange); at != std::end(exchanges))
      place = static_cast<double>(at - exchanges);
  place = runtime.processes().largest({place})[0];
  return place < 0 ? std::string_view() : exchanges[static_cast<std::size_t>(place)];
}

} // namespace

Result<ChosenExchange> choose_exchange(const FftProblem& problem, double budget, const std::string& wisdom_folder,
                                       TransformWay& way, Runtime& runtime) {
  ChosenExchange chosen;
  if (way.exchange != automatic_exchange) return chosen;
  way.exchange = has_windows(way) ? "linear" : "pairwise";
  if (!may_be_measured(way, runtime)) return chosen;
  const bool keeps = runtime.rank() == 0;
  const KeptExchanges kept(keeps ? wisdom_folder : "", runtime.processes().message_library());
  const JsonMember of = exchange_case(problem, way, runtime);
  const auto found = kept.find(*of, budget);
  if (!found) chosen.kept = found.error();
  if (found && *found) chosen.times = (*found)->times;
  if (const std::string_view name = exchange_of_rank_0(chosen.times, runtime); !name.empty()) {
    way.exchange = name;
    chosen.is_from_wisdom = true;
    return chosen;
  }
  const MeasuredExchanges made = TRY(measured(problem, budget, way, runtime));
  if (made.times.empty()) return chosen;
  chosen.times = made.times;
  way.exchange = made.times[0].exchange;
  if (keeps && chosen.kept) chosen.kept = kept.keep(*of, made, budget);
  return chosen;
}

} // namespace kumihimo::fft3d
