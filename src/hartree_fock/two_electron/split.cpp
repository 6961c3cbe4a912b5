#include "hartree_fock/two_electron/split.hpp"

#include <algorithm>
#include <numeric>

namespace kumihimo::hartree_fock::two_electron {

std::vector<double> Split::shares() const {
  std::vector<double> share(processors_.size(), 0.5);
  std::vector<std::size_t> order;
  double on_processors = 0, on_device = 0;
  for (std::size_t i = 0; i < share.size(); ++i) {
    if (processors_[i] > 0 && device_[i] > 0) {
      order.push_back(i);
      on_processors += processors_[i];
    } else { // its half, as far as it is known
      on_processors += processors_[i] / 2;
      on_device += device_[i] / 2;
    }
  }
  std::ranges::sort(order, std::ranges::greater{}, [&](std::size_t i) { return processors_[i] / device_[i]; });
  for (const std::size_t i : order) {
    const double gap = on_processors - on_device; // which the share x closes: gap = x (processors + device)
    share[i] = std::clamp(gap / (processors_[i] + device_[i]), 0.0, 1.0);
    on_processors -= share[i] * processors_[i];
    on_device += share[i] * device_[i];
  }
  return share;
}

void Split::measured(std::span<const double> share, std::span<const double> processor_seconds,
                     std::span<const double> device_seconds) {
  const auto learn = [](double& known, double seconds, double part) {
    if (part < 1e-3 || seconds <= 0) return; // too little to tell
    known = known > 0 ? (known + seconds / part) / 2 : seconds / part;
  };
  for (std::size_t i = 0; i < share.size(); ++i) {
    learn(processors_[i], processor_seconds[i], 1 - share[i]);
    learn(device_[i], device_seconds[i], share[i]);
  }
}

double Split::seconds(std::span<const double> shares) const {
  double on_processors = 0, on_device = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    on_processors += (1 - shares[i]) * processors_[i];
    on_device += shares[i] * device_[i];
  }
  return std::max(on_processors, on_device);
}

} // namespace kumihimo::hartree_fock::two_electron
