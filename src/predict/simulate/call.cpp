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

std::int64_t pieces(const Extent& extent) {
  std::int64_t all = 0;
  for (const RunList& list : extent.runs) all += list.inner.runs * list.outer.runs;
  return all;
}

// Of all its copies that pack or unpack, in one segment.
double seconds_of_packing(const Body& body, const SoftwareNumbers& software) {
  constexpr std::int64_t most_plain = 2; // a cyclic range is two copies
  double seconds = 0;
  for (const Node& node : body) {
    if (const Loop* loop = std::get_if<Loop>(&node)) {
      seconds += static_cast<double>(loop->trip) * seconds_of_packing(loop->body, software);
      continue;
    }
    for (const Step& step : std::get<Round>(node).steps) {
      if (step.kind != StepKind::copy) continue;
      const std::int64_t of = std::max(pieces(step.source.extent), pieces(step.target.extent));
      if (of > most_plain)
        seconds += software.pack_cost->value.value + static_cast<double>(of) * software.pack_piece_cost->value.value;
    }
  }
  return seconds;
}

double seconds_of_packing(const Schedule& schedule, const Program& program, const SoftwareNumbers& software) {
  double longest = 0;
  for (const Lane& lane : program.lanes) longest = std::max(longest, seconds_of_packing(lane.body, software));
  return static_cast<double>(schedule.segments.count) * longest;
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
  if (!node.scratch_kept && !software.pack_cost) return seconds / factor;
  const Program program = schedule.program(rank);
  if (software.pack_cost) seconds += seconds_of_packing(schedule, program, software);
  if (!node.scratch_kept) return seconds / factor;
  scratch += bytes_of_scratch(program, binding);
  if (scratch > static_cast<double>(node.scratch_kept->value.value))
    seconds += scratch / node.scratch_rate->value.value;
  return seconds / factor;
}

} // namespace

void add_call(const Schedule& schedule, const NetworkPaths& network, SchedulePrediction& p) {
  const Machine& machine = network.machine();
  if (!machine.software.input_copy_rate && !machine.node.scratch_kept && !machine.software.pack_cost) return;
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
