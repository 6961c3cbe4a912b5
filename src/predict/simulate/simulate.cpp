#include "simulate/simulate.hpp"

#include "program/binding.hpp"
#include "simulate/call.hpp"
#include "simulate/models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace kumihimo {

std::string_view name_of(ScheduleModel model) {
  return std::array{"bound", "cost", "flow", "exact"}[static_cast<std::size_t>(model)];
}

Result<FlowStage> parse_stage(std::string_view name) {
  std::string names;
  for (std::size_t s = 0; s < flow_stages.size(); ++s) {
    if (flow_stages[s].without.empty()) continue;
    if (flow_stages[s].name == name) return static_cast<FlowStage>(s);
    names += (names.empty() ? "" : s + 1 < flow_stages.size() ? ", " : " or ") + std::string(flow_stages[s].name);
  }
  return wrong_value("--without must be one of " + names, fmt::format("'{}'", name));
}

Seconds SchedulePrediction::bound() const {
  Seconds highest;
  for (const LowerBound& b : bounds) highest = std::max(highest, b.seconds);
  return highest;
}

Result<SchedulePrediction> simulate_bound(const Collective& collective, const Job& job,
                                          const std::optional<Placement>& placement, const SimulateOptions& options) {
  auto network = TRY(simulation::NetworkPaths::make(job, collective.ranks, placement, options.scalar_reduction));
  SchedulePrediction p;
  p.model = ScheduleModel::bound;
  p.bounds = simulation::lower_bounds(collective, network);
  p.seconds = p.bound();
  for (const LowerBound& b : p.bounds)
    if (b.seconds == p.seconds) p.limiting = b.name;
  p.links = job.machine.topology->links();
  return p;
}

CostRates cost_rates(const Machine& machine, bool scalar_reduction) {
  const NetworkNumbers& net = machine.network;
  const NodeNumbers& node = machine.node;
  const SoftwareNumbers& software = machine.software;
  const bool alone = machine.family == Family::single_node;
  const double way = (alone ? node.shared_memory_latency : net.hop_latency).value.value;
  const double rate = alone ? node.shared_memory_bandwidth.value.value
                            : std::min(net.link_bandwidth.value.value, net.engine_bandwidth.value.value);
  const double reduced = (scalar_reduction ? node.reduction_rate_scalar : node.reduction_rate).value.value;
  CostRates rates{software.message_cost.value.value + way + software.relay_latency.value.value, 1 / rate, 1 / reduced};
  rates.engine_base = std::numeric_limits<double>::quiet_NaN(); // no machine without an engine has a time for it
  if (const auto& engine = machine.offload) {
    rates.engine_base = engine->base_latency.value.value, rates.engine_stage = engine->stage_latency.value.value;
    rates.engine_bytes = static_cast<double>(engine->max_bytes.value.value);
  }
  return rates;
}

Result<SchedulePrediction> simulate_cost(Seconds seconds, const Collective& collective, const Job& job,
                                         const std::optional<Placement>& placement, const SimulateOptions& options) {
  Result<SchedulePrediction> p = simulate_bound(collective, job, placement, options);
  if (!p) return p;
  p->model = ScheduleModel::cost;
  p->seconds = seconds;
  p->limiting.clear();
  p->accuracy = "the closed form ignores the topology: each message has its own path of one hop";
  return p;
}

namespace {

// Of the buffers of a rank, the largest of all: a root's may be any; where the machine says what caches they are in.
double rank_bytes(const ProgramSet& set, const Job& job) {
  std::int64_t most = 0;
  for (std::int32_t r = 0; job.machine.node.copies && r < set.ranks(); ++r) {
    const Binding binding(set, Rank{r});
    const std::int64_t input = binding.input_elements(), output = binding.output_elements();
    most = std::max(most, binding.one_memory() ? std::max(input, output) : input + output);
  }
  return static_cast<double>(most * set.data->type_bytes);
}

// By levels a slower link or node may seem to save time, since it changes which messages meet. Then the time without
// any such is the better one.
Result<SchedulePrediction> predict_alike(const ProgramSet& set, const simulation::NetworkPaths& network, const Job& job,
                                         const std::optional<Placement>& placement, const SimulateOptions& options,
                                         Seconds bound) {
  if (options.noise && options.model != ScheduleModel::exact)
    return not_applicable("noise differs from rank to rank, which only the exact model follows", {},
                          "use --model exact");
  if (options.model == ScheduleModel::exact) return simulation::predict_exact(set, network, options.noise);
  auto p = simulation::predict_flow(set, network, options, bound);
  const Machine& machine = job.machine;
  if (!p || p->is_solved || (machine.slow_links.empty() && machine.slow_nodes.empty())) return p;
  Job even = job;
  even.machine.slow_links.clear(), even.machine.slow_nodes.clear();
  const auto even_network =
      TRY(simulation::NetworkPaths::make(even, set.ranks(), placement, options.scalar_reduction, rank_bytes(set, job)));
  auto least = simulation::predict_flow(set, even_network, options, bound);
  if (!least || least->sampled.has_value() != p->sampled.has_value()) return p; // of loops walked and of samples
  return least->seconds > p->seconds ? least : p;
}

// Ranks that share a processor begin one after the other.
Result<SchedulePrediction> predict(const ProgramSet& set, const simulation::NetworkPaths& network, const Job& job,
                                   const std::optional<Placement>& placement, const SimulateOptions& options,
                                   Seconds bound) {
  auto p = predict_alike(set, network, job, placement, options, bound);
  if (!p) return p;
  if (!p->phases.empty()) p->phases.front().seconds.value += network.longest_turn();
  p->seconds.value += network.longest_turn();
  p->latency.value += network.longest_turn();
  return p;
}

} // namespace

Result<SchedulePrediction> simulate(const ProgramSet& set, const Job& job, const std::optional<Placement>& placement,
                                    const SimulateOptions& options) {
  if (options.model == ScheduleModel::bound)
    return not_applicable("--model bound applies to collectives only", {}, "use --model flow or exact");
  auto network =
      TRY(simulation::NetworkPaths::make(job, set.ranks(), placement, options.scalar_reduction, rank_bytes(set, job)));
  auto p = predict(set, network, job, placement, options, Seconds{});
  if (p && !options.keep_link_bytes) p->link_bytes = {};
  return p;
}

Result<SchedulePrediction> simulate(const Schedule& schedule, const Job& job, const std::optional<Placement>& placement,
                                    const SimulateOptions& options) {
  if (options.model == ScheduleModel::bound) return simulate_bound(schedule.collective(), job, placement, options);
  auto network = TRY(simulation::NetworkPaths::make(job, schedule.ranks(), placement, options.scalar_reduction,
                                                    rank_bytes(schedule, job)));
  SchedulePrediction bounded;
  bounded.bounds = simulation::lower_bounds(schedule.collective(), network);
  auto p = predict(schedule, network, job, placement, options, bounded.bound());
  if (!p) return p;
  simulation::add_call(schedule, network, *p);
  p->bounds = std::move(bounded.bounds);
  if (!options.keep_link_bytes) p->link_bytes = {};
  return p;
}

} // namespace kumihimo
