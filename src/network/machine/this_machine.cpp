#include "machine/discovery.hpp"
#include "machine/numbers.hpp"
#include "topology/single_node.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kumihimo {
namespace {

constexpr std::string_view by_hwloc = "hwloc";

std::string counted(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

// The first number that is not positive and finite, by name.
std::optional<std::string> first_impossible(const Machine& machine) {
  std::optional<std::string> name;
  const auto check = [&](std::string_view key, const auto& number) {
    const double value = [&] {
      if constexpr (std::is_integral_v<std::decay_t<decltype(number.value)>>)
        return double(number.value);
      else if constexpr (std::is_same_v<std::decay_t<decltype(number.value)>, OperationSet>)
        return double(number.value.bits); // names, of which there is one
      else
        return double(number.value.value);
    }();
    if (!name && !(value > 0 && std::isfinite(value))) name = fmt::format("{} of {}", key, value);
  };
  visit_numbers(machine, [&](std::string_view, std::string_view key, const auto& number) {
    if constexpr (requires { number.has_value(); }) {
      if (number) check(key, *number);
    } else {
      check(key, number);
    }
  });
  return name;
}

} // namespace

Result<Machine> this_machine(const Host& host, const Calibration& calibration) {
  const auto measured = [&](auto value) { return Quantity{value, Provenance::measured, calibration.method}; };
  const auto discovered = [](auto value) { return Quantity{value, Provenance::measured, std::string(by_hwloc)}; };
  Machine machine;
  machine.name = "this-machine";
  machine.summary = fmt::format("{}, {}, {}", host.processor.empty() ? "this host" : host.processor,
                                counted(host.cores, "core"), counted(host.hardware_threads, "hardware thread"));
  machine.topology = std::make_shared<SingleNode>();
  if (const Status set = machine.set_levels(host.levels); !set) return set.error();
  NodeNumbers& node = machine.node;
  node.default_ranks_per_node = {calibration.ranks, Provenance::assumed, "asked for"};
  node.cores = discovered(host.cores);
  node.memory = discovered(host.memory);
  if (host.last_level_cache) node.last_level_cache = discovered(*host.last_level_cache);
  node.memory_bandwidth = measured(calibration.memory_bandwidth);
  node.reduction_rate = measured(calibration.reduction_rate);
  node.reduction_rate_scalar = measured(calibration.reduction_rate_scalar);
  node.shared_memory_bandwidth = measured(calibration.copy_bandwidth);
  node.shared_memory_latency = measured(calibration.message_latency);
  machine.software.message_cost = measured(calibration.message_cost);
  machine.software.relay_latency = measured(calibration.relay_latency);
  machine.software.segment_bytes = {calibration.segment_bytes, Provenance::assumed, "declared by the calibration"};
  if (const auto wrong = first_impossible(machine))
    return failed("the calibration gave a number that is not positive", *wrong, "measure again");
  return machine;
}

} // namespace kumihimo
