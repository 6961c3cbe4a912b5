#include "lu/update_split.hpp"

#include <algorithm>
#include <cmath>

namespace kumihimo::lu {
namespace {

void take(double& rate, const UpdateSplit::Part& part) {
  if (part.flops > 0 && part.seconds > 0 && std::isfinite(part.flops / part.seconds)) rate = part.flops / part.seconds;
}

double bounded(double share) {
  return std::isnan(share) ? 0.5 : std::clamp(share, UpdateSplit::least, 1 - UpdateSplit::least);
}

} // namespace

UpdateSplit::UpdateSplit(double share) : share_(bounded(share)) {}

std::int64_t UpdateSplit::device_columns(std::int64_t columns) const {
  return std::llround(share_ * static_cast<double>(columns));
}

void UpdateSplit::measured(const Part& device, const Part& processors) {
  take(device_rate_, device);
  take(processor_rate_, processors);
  if (device_rate_ == 0 || processor_rate_ == 0) return;
  const double wanted = bounded(device_rate_ / (device_rate_ + processor_rate_)), apart = std::abs(wanted - share_);
  near_ = apart <= near ? near_ + 1 : 0;
  far_ = apart > far ? far_ + 1 : 0;
  if (far_ >= strayed) holds_ = false;
  if (near_ >= steady) holds_ = true;
  if (!holds_) share_ = bounded(share_ + damping * (wanted - share_));
}

} // namespace kumihimo::lu
