#include "execute/mpi/waiting.hpp"

#include <sched.h>

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

std::int32_t available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

} // namespace kumihimo::mpi
