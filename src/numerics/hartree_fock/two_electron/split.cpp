#include "hartree_fock/two_electron/split.hpp"

#include <algorithm>
#include <numeric>

namespace kumihimo::hartree_fock::two_electron {

namespace {

double part_computed(double quartets, double screened) { return quartets > 0 ? quartets / (quartets + screened) : 0; }

} // namespace

std::vector<double> WorkSplit::shares() const {
  std::vector<double> share(computed_.size(), 0.5), processors = processors_, device = device_;
  std::vector<std::size_t> order;
  double on_processors = 0, on_device = 0;
  for (std::size_t i = 0; i < share.size(); ++i) {
    processors[i] *= computed_[i];
    device[i] *= computed_[i];
    if (processors[i] > 0 && device[i] > 0) {
      order.push_back(i);
      on_processors += processors[i];
    } else { // its half, as far as it is known
      on_processors += processors[i] / 2;
      on_device += device[i] / 2;
    }
  }
  std::ranges::sort(order, std::ranges::greater{}, [&](std::size_t i) { return processors[i] / device[i]; });
  for (const std::size_t i : order) {
    const double gap = on_processors - on_device; // which the share x closes: gap = x (processors + device)
    share[i] = std::clamp(gap / (processors[i] + device[i]), 0.0, 1.0);
    on_processors -= share[i] * processors[i];
    on_device += share[i] * device[i];
  }
  return share;
}

void WorkSplit::measured(std::span<const double> share, std::span<const MachinePart> processors,
                         std::span<const MachinePart> device) {
  const auto learn = [](double& known, const MachinePart& of, double cost) {
    const double part = cost * part_computed(of.quartets, of.screened);
    if (part < 1e-6 || of.seconds <= 0) return; // too little to tell
    known = known > 0 ? (known + of.seconds / part) / 2 : of.seconds / part;
  };
  for (std::size_t i = 0; i < share.size(); ++i) {
    const MachinePart &mine = processors[i], &other = device[i];
    learn(processors_[i], mine, 1 - share[i]);
    learn(device_[i], other, share[i]);
    // Of a class of which nothing was computed the last part that is known stays.
    if (mine.quartets + other.quartets > 0)
      computed_[i] = part_computed(mine.quartets + other.quartets, mine.screened + other.screened);
  }
}

double WorkSplit::seconds(std::span<const double> shares) const {
  double on_processors = 0, on_device = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    on_processors += (1 - shares[i]) * computed_[i] * processors_[i];
    on_device += shares[i] * computed_[i] * device_[i];
  }
  return std::max(on_processors, on_device);
}

} // namespace kumihimo::hartree_fock::two_electron
