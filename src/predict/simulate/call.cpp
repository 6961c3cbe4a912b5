#include "simulate/call.hpp"

#include "program/binding.hpp"

#include <algorithm>
#include <tuple>

namespace kumihimo::simulation {
namespace {

double bytes_of_scratch(const Program& program, const Binding& binding) {
  std::int64_t elements = 0;
  for (const Scratch& scratch : program.scratch)
    elements += binding.scratch_elements(scratch, scratch_window(program, scratch, binding.segments()));
  return static_cast<double>(elements * binding.data().type_bytes);
}

double seconds_of_call(const Schedule& schedule, const NetworkPaths& network, Rank rank) {
  const auto& [node, software] = std::tie(network.machine().node, network.machine().software);
  const Binding binding(schedule, rank);
  double seconds = 0, scratch = 0;
  if (software.input_copy_rate && schedule.collective().reduces() && !binding.one_memory()) {
    const double bytes = static_cast<double>(binding.input_elements() * binding.data().type_bytes);
    seconds += bytes * network.slowdown(bytes) / software.input_copy_rate->value.value;
    if (binding.output_elements() < binding.input_elements()) scratch = bytes;
  }
  const double factor = network.factor(rank.value);
  if (!node.scratch_kept) return seconds / factor;
  scratch += bytes_of_scratch(schedule.program(rank), binding);
  if (scratch > static_cast<double>(node.scratch_kept->value.value))
    seconds += scratch / node.scratch_rate->value.value;
  return seconds / factor;
}

} // namespace

void add_call(const Schedule& schedule, const NetworkPaths& network, SchedulePrediction& p) {
  const Machine& machine = network.machine();
  if (!machine.software.input_copy_rate && !machine.node.scratch_kept) return;
  double longest = 0;
  for (std::int32_t rank = 0; rank < schedule.ranks(); ++rank)
    longest = std::max(longest, seconds_of_call(schedule, network, Rank{rank}));
  if (!p.phases.empty()) p.phases.front().seconds.value += longest;
  p.seconds.value += longest, p.latency.value += longest;
}

void add_setup(const ProgramSet& set, const NetworkPaths& network, Lanes lanes, SchedulePrediction& p) {
  const Binding binding(set, Rank{0});
  const std::int64_t elements = std::max(binding.input_elements(), binding.output_elements());
  const auto bytes = static_cast<double>(elements * set.data->type_bytes);
  for (std::size_t i = 0; i < p.phases.size(); ++i) {
    const double seconds = network.setup_seconds(lanes, i, bytes);
    p.phases[i].seconds.value += seconds;
    p.seconds.value += seconds, p.latency.value += seconds;
  }
}

} // namespace kumihimo::simulation
