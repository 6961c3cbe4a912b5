#include "tasks/injected_noise.hpp"

#include "base/text_parsing.hpp"
#include "measure/clock.hpp"

#include <limits>

namespace kumihimo::tasks {
namespace {

// Of nanoseconds; none: another form.
std::optional<std::int64_t> time_in(std::string_view text) {
  constexpr std::pair<std::string_view, double> units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  constexpr double most = 1e15;
  const std::optional<double> number = take_number<double>(text);
  for (const auto& [name, nanoseconds] : units)
    if (number && text == name && *number * nanoseconds >= 1 && *number * nanoseconds <= most)
      return static_cast<std::int64_t>(*number * nanoseconds);
  return std::nullopt;
}

// From 0 to 1: SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014).
double random_share(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t z = seed + (number + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

} // namespace

Result<NoisePattern> parse_noise_pattern(std::string_view text, std::string_view option) {
  if (text.empty()) return NoisePattern{};
  constexpr double most_share = 0.9;
  std::string_view rest = text;
  const std::optional<std::int64_t> length = time_in(take_until(rest, '/')), interval = time_in(rest);
  if (!length || !interval)
    return wrong_value(std::string(option) + " must be the length of a detour and the interval from one to the next",
                       text, "write " + std::string(option) + "=30ms/100ms");
  if (static_cast<double>(*length) > most_share * static_cast<double>(*interval))
    return wrong_value(std::string(option) + " must leave a tenth of the time", text, "make the interval longer");
  return NoisePattern{.length = *length, .interval = *interval};
}

std::int64_t NoisePattern::start_of(std::int64_t detour) const {
  const auto free = static_cast<double>(interval - length);
  return detour * interval + static_cast<std::int64_t>(free * random_share(seed, static_cast<std::uint64_t>(detour)));
}

std::int64_t NoisePattern::resumed(std::int64_t time) const {
  const std::int64_t start = start_of(time / interval);
  return start <= time && time < start + length ? start + length : time;
}

std::int64_t NoisePattern::delayed(std::int64_t begin, std::int64_t end) const {
  for (std::int64_t detour = begin / interval; start_of(detour) < end; ++detour)
    if (start_of(detour) >= begin) end += length;
  return end;
}

void InjectedNoise::start() {
  taken_.clear();
  zero_ = measure::now_ns();
}

// The detour uses the processor, as what it stands for does.
void InjectedNoise::wait_until(std::int64_t time) {
  const std::int64_t begin = measure::now_ns() - zero_;
  if (begin >= time) return;
  while (measure::now_ns() - zero_ < time) {
  }
  taken_.push_back({begin, measure::now_ns() - zero_});
}

TaskWork InjectedNoise::around(const TaskWork& work) {
  if (pattern_.length == 0) return work;
  return [this, &work](TaskId task, int thread) -> Status {
    if (thread != thread_) return work(task, thread);
    wait_until(pattern_.resumed(measure::now_ns() - zero_));
    const std::int64_t begin = measure::now_ns() - zero_;
    const Status done = work(task, thread);
    wait_until(pattern_.delayed(begin, measure::now_ns() - zero_));
    return done;
  };
}

} // namespace kumihimo::tasks
