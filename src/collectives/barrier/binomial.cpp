// binomial: barrier up and down a binomial tree.
//
// Idea: a rank that has waits from all its children tells its parent; the root then tells its children, and so on.
// Wins: 2 (P - 1) signals in all, where dissemination takes P log2 P: less load on a shared node or a thin network.
// Reference: Mellor-Crummey, Scott, ACM TOCS 9(1), 1991, section 3 (tree barriers).
#include "collectives/patterns/blocks.hpp"

#include <bit>

namespace kumihimo::barrier_binomial {
namespace {

void write(LaneBuilder& lane, const Collective& c, std::int64_t r) {
  const int levels = r == 0 ? 62 : std::countr_zero(static_cast<std::uint64_t>(r));
  std::vector<Step> waits, signals;
  for (int k = 0; k < levels && r + (std::int64_t{1} << k) < c.ranks; ++k) {
    waits.push_back(wait_signal(r + (std::int64_t{1} << k)));
    signals.insert(signals.begin(), signal(r + (std::int64_t{1} << k))); // the tallest subtree first
  }
  if (!waits.empty()) lane.round(std::move(waits));
  if (r != 0) {
    lane.step(signal(r & (r - 1)));
    lane.step(wait_signal(r & (r - 1)));
  }
  if (!signals.empty()) lane.round(std::move(signals));
}

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "signals up and down a binomial tree",
          .cost = {(ceil_log_P + floor_log_P) * alpha},
          .reference = "Mellor-Crummey, Scott, ACM TOCS 9(1), 1991",
          .recipe = one_lane("signals", write)};
}

} // namespace kumihimo::barrier_binomial
