#include "simulate/noise.hpp"

#include "base/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kumihimo {

Status check(const Noise& noise) {
  constexpr double most_share = 0.9;
  const auto is_number = [](double value) { return std::isfinite(value) && value >= 0; };
  if (!is_number(noise.events_per_second))
    return wrong_value("the events of noise per second must be 0 or more",
                       fmt::format("{:g}", noise.events_per_second));
  if (!is_number(noise.seconds))
    return wrong_value("the seconds of a noise event must be 0 or more", fmt::format("{:g}", noise.seconds));
  const double share = noise.events_per_second * noise.seconds;
  if (share > most_share)
    return wrong_value(
        fmt::format("noise must leave a tenth of the time: events per second times seconds at most {}", most_share),
        fmt::format("{:g}", share));
  return Nothing{};
}

double noise_phase(const Noise& noise, std::int32_t rank) {
  const std::uint64_t bits = mixed(mixed(noise.seed, 0x6e6f697365), static_cast<std::uint64_t>(rank)); // "noise"
  return std::ldexp(static_cast<double>(bits >> 11), -53) / noise.events_per_second;
}

double seconds_lost(const Noise& noise, std::int32_t rank, double start, double seconds) {
  const bool is_quiet = noise.events_per_second <= 0 || noise.seconds <= 0 || (noise.rank && *noise.rank != rank);
  if (is_quiet || seconds <= 0) return 0;
  const double period = 1 / noise.events_per_second, free = period - noise.seconds;
  const double since = start - noise_phase(noise, rank), into = since - std::floor(since / period) * period;
  const double left_of_event = std::max(0.0, noise.seconds - into),
               before_next = period - std::max(into, noise.seconds);
  if (seconds <= before_next) return left_of_event;
  // Each event but the last is followed by a whole period's work.
  return left_of_event + std::ceil((seconds - before_next) / free) * noise.seconds;
}

} // namespace kumihimo
