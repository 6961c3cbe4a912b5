#include "worker/pinning.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <vector>

namespace kumihimo::worker {
namespace {

std::vector<int> allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> allowed;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return allowed;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) allowed.push_back(cpu);
  return allowed;
}

} // namespace

std::string pin(const LocalRank& local) {
  if (local.bound_already) return "bound by the launcher";
  const std::vector<int> allowed = allowed_processors();
  if (allowed.empty()) return "none (the system does not say which processors may be used)";
  const int cpu = allowed[static_cast<std::size_t>(local.rank) % allowed.size()];
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) return "none (the system refused)";
  if (local.ranks <= static_cast<std::int32_t>(allowed.size())) return "one rank a processor, bound by the worker";
  return fmt::format("{} ranks on {} processors in turn, bound by the worker", local.ranks, allowed.size());
}

std::int32_t allowed_processor_count() { return static_cast<std::int32_t>(allowed_processors().size()); }

std::uint64_t allowed_processors_hash() {
  std::uint64_t hash = 0xcbf29ce484222325ULL; // FNV-1a
  for (const int cpu : allowed_processors()) hash = (hash ^ static_cast<std::uint64_t>(cpu)) * 0x100000001b3ULL;
  return hash;
}

} // namespace kumihimo::worker
