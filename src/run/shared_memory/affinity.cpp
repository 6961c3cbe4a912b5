#include "shared_memory/affinity.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <memory>

namespace kumihimo::shared_memory {
namespace {

constexpr std::int32_t most_processors = 1 << 20; // more than any system has
constexpr std::size_t word_bits = 64;

struct FreeSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
// A set of any size; a plain cpu_set_t ends at 1024.
struct ProcessorSet {
  explicit ProcessorSet(std::int32_t processors) : set(CPU_ALLOC(processors)), bytes(CPU_ALLOC_SIZE(processors)) {
    if (set) CPU_ZERO_S(bytes, set.get());
  }
  std::unique_ptr<cpu_set_t, FreeSet> set;
  std::size_t bytes;
};

} // namespace

std::vector<std::int32_t> allowed_processors() {
  std::vector<std::int32_t> allowed;
  for (std::int32_t room = CPU_SETSIZE; room <= most_processors; room *= 2) {
    const ProcessorSet allows(room);
    if (!allows.set) break;
    if (sched_getaffinity(0, allows.bytes, allows.set.get()) != 0) {
      if (errno == EINVAL) continue; // the system's set is larger
      break;
    }
    for (std::int32_t i = 0; i < room; ++i)
      if (CPU_ISSET_S(static_cast<std::size_t>(i), allows.bytes, allows.set.get())) allowed.push_back(i);
    break;
  }
  return allowed;
}

std::int32_t package_of(std::span<const std::int32_t> processors, const std::string& system) {
  std::int32_t package = -1;
  for (const std::int32_t processor : processors) {
    std::ifstream file(system + "/cpu" + std::to_string(processor) + "/topology/physical_package_id");
    std::int32_t found = -1;
    if (!(file >> found) || found < 0 || (package >= 0 && package != found)) return -1;
    package = found;
  }
  return package;
}

std::int32_t job_ranks_on_node() {
  for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) // of Open MPI's launcher, of Hydra
    if (const char* const value = std::getenv(name)) return static_cast<std::int32_t>(std::atoll(value));
  return 0;
}

bool bind_to(std::int32_t processor) {
  const ProcessorSet one(std::max(processor + 1, CPU_SETSIZE));
  if (!one.set) return false;
  CPU_SET_S(static_cast<std::size_t>(processor), one.bytes, one.set.get());
  return sched_setaffinity(0, one.bytes, one.set.get()) == 0;
}

ProcessorMask mask_of(std::span<const std::int32_t> processors) {
  ProcessorMask mask;
  for (const std::int32_t processor : processors) {
    const auto i = static_cast<std::size_t>(processor);
    if (mask.size() <= i / word_bits) mask.resize(i / word_bits + 1);
    mask[i / word_bits] |= std::uint64_t{1} << i % word_bits;
  }
  return mask;
}

std::int32_t processors_in(std::span<const std::uint64_t> masks, std::size_t words) {
  std::int32_t count = 0;
  for (std::size_t word = 0; word < words; ++word) {
    std::uint64_t any = 0;
    for (std::size_t at = word; at < masks.size(); at += words) any |= masks[at];
    count += std::popcount(any);
  }
  return std::max(count, 1);
}

} // namespace kumihimo::shared_memory
