#include "packet/background.hpp"

#include "base/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kumihimo::packet {
namespace {

constexpr std::array<std::string_view, 3> pattern_names{"uniform", "neighbour", "alltoall"};
constexpr std::int32_t nobody = -1;

Status check_job(const BackgroundJob& job) {
  if (job.recorded) {
    if (job.nodes.size() != static_cast<std::size_t>(job.recorded->ranks()))
      return wrong_value(fmt::format("a recorded job of {} ranks must have a node for each", job.recorded->ranks()),
                         job.nodes.size());
    return Nothing{};
  }
  if (job.nodes.size() < 2) return wrong_value("a background job must have at least 2 nodes", job.nodes.size());
  if (!(job.load > 0 && job.load <= 1))
    return wrong_value("the load of a background job must be above 0 and at most 100 %",
                       fmt::format("{:.6g} %", 100 * job.load));
  if (job.bytes < 1 || job.bytes > most_background_bytes)
    return wrong_value(fmt::format("messages of a background job must have 1 to {} bytes", most_background_bytes),
                       job.bytes);
  return Nothing{};
}

// Above 0, at most 1.
double uniform(std::uint64_t hash) { return static_cast<double>((hash >> 11) + 1) * 0x1p-53; }

} // namespace

std::string_view name_of(Pattern pattern) { return pattern_names[static_cast<std::size_t>(pattern)]; }

Result<Pattern> pattern_of(std::string_view name) {
  const auto found = std::find(pattern_names.begin(), pattern_names.end(), name);
  if (found == pattern_names.end())
    return wrong_value("the pattern of a background job must be uniform, neighbour or alltoall", name);
  return static_cast<Pattern>(found - pattern_names.begin());
}

Status check(const Background& background, std::span<const std::int32_t> watched, std::int32_t nodes) {
  std::vector<std::int32_t> owner(static_cast<std::size_t>(nodes), nobody); // the job watched: 0
  for (const std::int32_t node : watched) owner[static_cast<std::size_t>(node)] = 0;
  std::int32_t number = 0;
  for (const BackgroundJob& job : background.jobs) {
    if (Status s = check_job(job); !s) return s.error();
    ++number;
    for (const std::int32_t node : job.nodes) {
      if (node < 0 || node >= nodes)
        return wrong_value(fmt::format("background jobs must be on nodes 0 to {}", nodes - 1), node);
      std::int32_t& holder = owner[static_cast<std::size_t>(node)];
      if (holder == number && !job.recorded)
        return wrong_value("a background job must have each of its nodes once", node);
      if (holder != nobody && holder != number) return wrong_value("a node must belong to one job alone", node);
      holder = number;
    }
  }
  return Nothing{};
}

std::uint64_t injection_of(const Fabric& fabric, std::int32_t node) {
  const auto vertex = static_cast<std::size_t>(fabric.vertex[static_cast<std::size_t>(node)]);
  return std::max(fabric.engine[vertex], fabric.injection[vertex]);
}

Time warm_up_of(const Background& background, const Fabric& fabric) {
  constexpr double times = 16;
  double slowest_link = 0, latency = 0, longest = 0;
  for (const Speed& speed : fabric.speeds) {
    slowest_link = std::max(slowest_link, static_cast<double>(speed.femtoseconds));
    latency = std::max(latency, static_cast<double>(speed.latency));
  }
  for (const BackgroundJob& job : background.jobs) {
    if (job.recorded) continue;
    for (const std::int32_t node : job.nodes) {
      const auto bytes = static_cast<double>(job.bytes), own = static_cast<double>(injection_of(fabric, node));
      const double alone = bytes * std::max(own, slowest_link) / 1000 + latency * fabric.topology->diameter();
      longest = std::max({longest, alone, bytes * own / 1000 / job.load});
    }
  }
  return static_cast<Time>(std::llround(std::min(times * longest, 0x1p60)));
}

Time phase_of(const BackgroundJob& job, std::uint32_t number, Time first) {
  return static_cast<Time>(uniform(mixed(mixed(job.seed, number), 0)) * static_cast<double>(first));
}

// What is drawn of a node beside its messages (drawn()).
constexpr std::uint64_t first_receiver = ~std::uint64_t{0};

Sources::Sources(const BackgroundJob& job, std::uint32_t number, const Fabric& fabric)
    : job_(job), seed_(mixed(job.seed, number)), count_(job.nodes.size()) {
  for (std::uint32_t place = 0; place < job.nodes.size(); ++place) {
    const auto own = static_cast<double>(injection_of(fabric, job.nodes[place]));
    mean_.push_back(static_cast<double>(job.bytes) * own / 1000 / job.load);
    due_.push({gap(place), place});
  }
}

Sources::Offer Sources::take() {
  const auto [time, place] = due_.top();
  due_.pop();
  const Offer offer{{job_.nodes[place], receiver(place), job_.bytes, time, 0, true}, place};
  ++count_[place];
  due_.push({time + gap(place), place});
  return offer;
}

std::uint64_t Sources::drawn(std::uint32_t place, std::uint64_t what) const {
  return mixed(mixed(seed_, place + 1), 2 * count_[place] + what);
}

Time Sources::gap(std::uint32_t place) const {
  const double picoseconds = -std::log(uniform(drawn(place, 0))) * mean_[place];
  return static_cast<Time>(std::llround(std::min(picoseconds, 0x1p58)));
}

std::int32_t Sources::receiver(std::uint32_t place) const {
  const std::uint64_t size = job_.nodes.size(), count = count_[place];
  std::uint64_t behind = 1; // places
  switch (job_.pattern) {
  case Pattern::uniform: behind = 1 + drawn(place, 1) % (size - 1); break;
  case Pattern::neighbour: behind = count % 2 == 0 ? 1 : size - 1; break;
  case Pattern::alltoall:
    behind = 1 + (mixed(mixed(seed_, place + 1), first_receiver) % size + count) % (size - 1);
    break;
  }
  return job_.nodes[(place + behind) % size];
}

} // namespace kumihimo::packet
