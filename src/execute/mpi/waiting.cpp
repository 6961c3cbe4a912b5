#include "execute/mpi/waiting.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>

namespace kumihimo::mpi {
namespace {

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

constexpr std::int32_t turns_between_drives = 16;

} // namespace

bool Waiting::turn() {
  if (++turns_ <= spins_)
    relax();
  else
    sched_yield();
  return turns_ % turns_between_drives == 0;
}

ProcessorMask processor_mask() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ProcessorMask mask{};
  if (sched_getaffinity(0, sizeof set, &set) != 0) return mask;
  for (std::size_t i = 0; i < 64 * mask.size(); ++i)
    if (CPU_ISSET(i, &set)) mask[i / 64] |= std::uint64_t{1} << i % 64;
  return mask;
}

std::int32_t processors_in(std::span<const ProcessorMask> masks) {
  std::int32_t count = 0;
  for (std::size_t word = 0; word < ProcessorMask{}.size(); ++word) {
    std::uint64_t any = 0;
    for (const ProcessorMask& mask : masks) any |= mask[word];
    count += std::popcount(any);
  }
  return std::max(count, 1);
}

} // namespace kumihimo::mpi
