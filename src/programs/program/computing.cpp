#include "program/computing.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo {

double seconds_at(const ComputeRates& rates, const Work& work) {
  const double counted = work.flops > 0 ? work.flops / rates.flops : 0;
  const double moved = work.bytes > 0 ? work.bytes / rates.bytes : 0;
  return work.seconds + std::max(counted, moved);
}

Result<double> seconds_of(const Work& work, const ComputeRates& rates) {
  if ((work.flops > 0 && rates.flops <= 0) || (work.bytes > 0 && rates.bytes <= 0))
    return not_applicable(
        fmt::format("a compute step of {} flops and {} bytes needs the rates of a machine", work.flops, work.bytes), {},
        "give its time in seconds, or a --machine with these rates");
  const double seconds = seconds_at(rates, work);
  if (seconds <= most_compute_seconds) return seconds;
  return failed(fmt::format("a compute step takes {:g} s, more than {:g}", seconds, most_compute_seconds), {},
                "give fewer flops or bytes");
}

} // namespace kumihimo
