#include "mapping/anneal/temperature.hpp"

#include <algorithm>
#include <cmath>

namespace kumihimo::mapping {

Exponentials::Exponentials() {
  for (std::size_t at = 0; at < samples_.size(); ++at)
    samples_[at] = -std::log((static_cast<double>(at) + 0.5) / static_cast<double>(samples_.size()));
}

void Temperature::heat(const std::vector<double>& uphill, double accepted) {
  hot_ = rate_ = std::clamp(accepted, cold, 0.9);
  value_ = 0;
  if (uphill.empty()) return;
  double low = 0, high = *std::max_element(uphill.begin(), uphill.end()) * 1000;
  for (int round = 0; round < 60; ++round) {
    const double middle = (low + high) / 2;
    double sum = 0;
    for (const double added : uphill) sum += std::exp(-added / middle);
    (sum > hot_ * static_cast<double>(uphill.size()) ? high : low) = middle;
  }
  value_ = high;
}

void Temperature::steer(double done, std::int64_t uphill, std::int64_t accepted) {
  constexpr double smoothing = 0.1, step = 0.05;
  if (uphill == 0) return;
  const double target = hot_ * std::pow(cold / hot_, done);
  rate_ += smoothing * (static_cast<double>(accepted) / static_cast<double>(uphill) - rate_);
  value_ *= 1 + step * std::clamp((target - rate_) / target, -1.0, 1.0);
}

} // namespace kumihimo::mapping
