#include "goal/noise.hpp"

#include "base/hash.hpp"
#include "base/text_parsing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace kumihimo::goal {
namespace {

// In (0, 1).
double uniform(std::uint64_t word) { return (static_cast<double>(word >> 11) + 0.5) * 0x1p-53; }

Time length_of(const std::vector<NoiseDetour>& detours) {
  Time sum = 0;
  for (const NoiseDetour& each : detours) sum += each.length;
  return sum;
}

std::string text_of(Time picoseconds) {
  using Unit = std::pair<const char*, double>;
  constexpr std::array units{Unit{"s", 1e12}, Unit{"ms", 1e9}, Unit{"us", 1e6}, Unit{"ns", 1e3}, Unit{"ps", 1.0}};
  const double time = static_cast<double>(picoseconds);
  const auto unit = std::find_if(units.begin(), units.end() - 1, [&](const auto& of) { return time >= of.second; });
  return fmt::format("{:.6g} {}", time / unit->second, unit->first);
}

} // namespace

Status check(const NoiseModel& model) {
  if (model.interval == 0) return wrong_value("the time between detours must be above 0", 0);
  if (model.every < 1) return wrong_value("noise must be on every rank, or every n-th", model.every);
  for (const NoiseModel::Ranks& of : model.ranks)
    if (of.first < 0 || of.last < of.first)
      return wrong_value("ranks with noise must be from a first to a last one",
                         fmt::format("{}-{}", of.first, of.last));
  Time end = 0;
  for (const NoiseDetour& each : model.detours) {
    if (each.start < end) return wrong_value("each detour must begin after the end of the one before");
    end = each.start + each.length;
  }
  if (end > model.interval) return wrong_value("detours must end within the trace");
  const Time length = model.kind == NoiseModel::Kind::trace ? length_of(model.detours) : model.length;
  if (static_cast<double>(length) > 0.9 * static_cast<double>(model.interval))
    return wrong_value("noise must leave a rank a tenth of its time",
                       fmt::format("{} of {}", text_of(length), text_of(model.interval)),
                       "make detours shorter or rarer");
  return Nothing{};
}

Status check(const NoiseModel& model, std::int32_t ranks) {
  for (const NoiseModel::Ranks& of : model.ranks)
    if (of.last >= ranks)
      return wrong_value(fmt::format("ranks with noise must be from 0 to {}, the last one of the job", ranks - 1),
                         of.first == of.last ? fmt::format("{}", of.last) : fmt::format("{}-{}", of.first, of.last));
  return check(model);
}

Result<NoiseModel> parse_noise_trace(std::string_view text, std::string_view file) {
  NoiseModel model;
  model.kind = NoiseModel::Kind::trace;
  std::int64_t number = 0;
  double unit = 1e3; // picoseconds
  while (!text.empty()) {
    ++number;
    const std::string_view line = trimmed(take_until(text, '\n'));
    if (line.starts_with('#') && line.find("[us") != std::string_view::npos) unit = 1e6;
    if (line.empty() || line.front() == '#') continue;
    const auto place = [&] { return fmt::format("{}:{}", file, number); };
    const auto words = words_of(line);
    const auto start = number_in<double>(words[0]);
    const auto length = words.size() == 2 ? number_in<double>(words[1]) : std::nullopt;
    const auto fits = [&](const auto& value) { return value && *value >= 0 && *value * unit <= 1e18; };
    if (!fits(start) || !fits(length))
      return located(place(), wrong_value("a line must be the start and the length of a detour in nanoseconds",
                                          fmt::format("'{}'", on_one_line(line))));
    const auto scaled = [&](double time) { return static_cast<Time>(std::llround(time * unit)); };
    const NoiseDetour detour{scaled(*start), scaled(*length)};
    if (detour.start < model.interval)
      return located(place(), wrong_value("each detour must begin after the end of the one before",
                                          fmt::format("'{}'", on_one_line(line))));
    model.detours.push_back(detour);
    model.interval = detour.start + detour.length;
  }
  if (model.detours.empty()) return located(std::string(file), missing("a detour", "write its start and length in ns"));
  if (Status s = check(model); !s) return located(std::string(file), s.error());
  return model;
}

Noise::Noise(NoiseModel model, std::int32_t ranks) : model_(std::move(model)) {
  if (model_.every > 1 || !model_.ranks.empty()) quiet_.assign(static_cast<std::size_t>(ranks), 1);
  if (model_.ranks.empty()) model_.ranks = {{0, ranks - 1}};
  for (const NoiseModel::Ranks& of : model_.ranks)
    for (std::int32_t rank = of.first; rank <= std::min(of.last, ranks - 1) && !quiet_.empty(); ++rank)
      if (rank % model_.every == 0) quiet_[static_cast<std::size_t>(rank)] = 0;
  if (model_.kind == NoiseModel::Kind::periodic) model_.detours = {{0, model_.length}};
  if (model_.kind != NoiseModel::Kind::exponential) return;
  drawn_.resize(static_cast<std::size_t>(ranks));
  for (std::int32_t rank = 0; rank < ranks; ++rank) draw(rank, drawn_[static_cast<std::size_t>(rank)]);
}

Time Noise::lost(std::int32_t rank, Time start, Time work) {
  if (is_quiet(rank)) return 0;
  return model_.kind == NoiseModel::Kind::exponential ? lost_to_drawn(rank, start, work)
                                                      : lost_to_trace(rank, start, work);
}

Time Noise::phase(std::int32_t rank) const {
  const auto own = static_cast<std::uint64_t>(model_.cosched ? 0 : rank + 1);
  const std::uint64_t drawn = mixed(mixed(mixed(0, model_.seed), own), 0);
  return static_cast<Time>(uniform(drawn) * static_cast<double>(model_.interval));
}

// From one detour to the next, skipping whole intervals: each holds the same time for work.
Time Noise::lost_to_trace(std::int32_t rank, Time start, Time work) const {
  const auto& detours = model_.detours;
  const Time sum = length_of(detours), for_work = model_.interval - sum;
  Time at = (start + phase(rank)) % model_.interval, left = work;
  Time lost = left / for_work * sum;
  left %= for_work;
  auto next = std::upper_bound(detours.begin(), detours.end(), at,
                               [](Time time, const NoiseDetour& each) { return time < each.start + each.length; });
  while (true) {
    if (next == detours.end()) {
      const Time here = model_.interval - at;
      if (left <= here) return lost;
      left -= here, at = 0, next = detours.begin();
      continue;
    }
    if (at < next->start) {
      const Time here = next->start - at;
      if (left <= here) return lost; // it ends when the detour begins
      left -= here, at = next->start;
    }
    lost += next->start + next->length - at;
    at = next->start + next->length;
    ++next;
  }
}

void Noise::draw(std::int32_t rank, Drawn& drawn) const {
  const auto own = static_cast<std::uint64_t>(model_.cosched ? 0 : rank + 1);
  const double interval = -std::log(uniform(mixed(mixed(mixed(0, model_.seed), own), ++drawn.count))) *
                          static_cast<double>(model_.interval);
  const NoiseDetour last = drawn.detours.empty() ? NoiseDetour{} : drawn.detours.back();
  const Time begin = std::max(last.start + static_cast<Time>(interval), last.start + last.length);
  drawn.detours.push_back({begin, model_.length}); // one after the other
}

Time Noise::lost_to_drawn(std::int32_t rank, Time start, Time work) {
  Drawn& drawn = drawn_[static_cast<std::size_t>(rank)];
  const auto is_over = [&](const NoiseDetour& each) { return each.start + each.length <= start; };
  const auto begin = drawn.detours.begin(), last = drawn.detours.end() - 1;
  drawn.detours.erase(begin, std::find_if_not(begin, last, is_over));
  while (is_over(drawn.detours.front())) {
    draw(rank, drawn);
    drawn.detours.erase(drawn.detours.begin());
  }
  Time end = start + work;
  for (std::size_t i = 0;; ++i) {
    if (i == drawn.detours.size()) draw(rank, drawn);
    const NoiseDetour at = drawn.detours[i];
    if (at.start >= end) return end - start - work;
    end += at.start + at.length - std::max(at.start, start);
  }
}

} // namespace kumihimo::goal
