#include "mpi_job/pinning.hpp"

#include "shared_memory/affinity.hpp"

#include <fmt/format.h>

#include <vector>

namespace kumihimo::mpi_job {

std::string pin(const LocalRank& local) {
  if (local.bound_already) return "bound by the launcher";
  const std::vector<std::int32_t> allowed = shared_memory::allowed_processors();
  if (allowed.empty()) return "none (the system does not say which processors may be used)";
  if (!shared_memory::bind_to(allowed[static_cast<std::size_t>(local.rank) % allowed.size()]))
    return "none (the system refused)";
  if (local.ranks <= static_cast<std::int32_t>(allowed.size())) return "one rank a processor, bound by kumihimo";
  return fmt::format("{} ranks on {} processors in turn, bound by kumihimo", local.ranks, allowed.size());
}

std::uint64_t allowed_processors_hash() {
  std::uint64_t hash = 0xcbf29ce484222325ULL; // FNV-1a
  for (const std::int32_t processor : shared_memory::allowed_processors())
    hash = (hash ^ static_cast<std::uint64_t>(processor)) * 0x100000001b3ULL;
  return hash;
}

} // namespace kumihimo::mpi_job
