#include "goal/machine_rates.hpp"

#include <algorithm>

namespace kumihimo::goal {

WorkRates rates_of(const Job& job, bool scalar_reduction) {
  const NodeNumbers& node = job.machine.node;
  const double ranks = std::max<double>(1, static_cast<double>(job.slots.size()) / job.slots.nodes());
  WorkRates rates;
  rates.reduced = (scalar_reduction ? node.reduction_rate_scalar : node.reduction_rate).value.value;
  rates.copied = node.shared_memory_bandwidth.value.value;
  rates.compute = {node.flop_rate ? node.flop_rate->value.value / ranks : 0, node.memory_bandwidth.value.value / ranks};
  return rates;
}

} // namespace kumihimo::goal
