#include "simulate/flow/fair_shares.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace kumihimo::simulation {
namespace {
constexpr double tolerance = 1e-9;
} // namespace

void FairShares::count(const FlowSet& flows) {
  touched_.clear(); // all counts are 0
  for (const Resource r : flows.resources) {
    Cell& c = cells_[r];
    if (c.count++ == 0) touched_.push_back(r);
  }
  for (const Resource r : touched_) {
    Cell& c = cells_[r];
    c.left = capacities_[r];
    c.users = c.count;
  }
}

// Each active flow bids the least share along its way; each resource learns the lowest bid of its flows.
void FairShares::offer_rates(FlowSet& flows) {
  for (const Resource r : touched_) {
    Cell& c = cells_[r];
    c.lowest = std::numeric_limits<double>::infinity();
    c.share = c.count > 0 ? c.left / c.count : c.lowest;
  }
  for (const std::uint32_t f : active_) {
    double offer_rates = flows.limit[f];
    for (const Resource r : flows.of(f)) offer_rates = std::min(offer_rates, cells_[r].share);
    flows.rate[f] = offer_rates;
  }
}

bool FairShares::uniform(FlowSet& flows) const {
  const auto [low, high] = std::minmax_element(flows.rate.begin(), flows.rate.end());
  return *low >= *high * (1 - tolerance);
}

// Flows that bid their own limit, or cross a resource all of whose flows bid its share, have their rate.
void FairShares::fix_rates(FlowSet& flows) {
  for (const std::uint32_t f : active_)
    for (const Resource r : flows.of(f)) cells_[r].lowest = std::min(cells_[r].lowest, flows.rate[f]);
  std::size_t kept = 0;
  const auto settled = [&](std::uint32_t f) {
    if (flows.rate[f] >= flows.limit[f] * (1 - tolerance)) return true;
    for (const Resource r : flows.of(f)) {
      const Cell& c = cells_[r];
      if (c.lowest >= c.share * (1 - tolerance)) return true;
    }
    return false;
  };
  for (const std::uint32_t f : active_) {
    if (!settled(f)) {
      active_[kept++] = f;
      continue;
    }
    for (const Resource r : flows.of(f)) {
      Cell& c = cells_[r];
      c.left = std::max(0.0, c.left - flows.rate[f]);
      --c.count;
    }
  }
  active_.resize(kept);
}

void FairShares::solve(FlowSet& flows) {
  count(flows);
  flows.rate.assign(flows.size(), 0);
  if (flows.size() == 0) return;
  active_.resize(flows.size());
  std::iota(active_.begin(), active_.end(), 0U);
  for (int pass = 0; !active_.empty(); ++pass) { // the lowest bid of all settles, so that each pass ends some
    offer_rates(flows);
    if (pass == 0 && uniform(flows)) break;
    fix_rates(flows);
  }
  for (const Resource r : touched_) cells_[r].count = 0;
}

} // namespace kumihimo::simulation
