#include "interpose/memory_reserve.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstddef>

namespace kumihimo::interpose {
namespace {

// Enough for the choices of a large wisdom file, a transport and its plans. Untouched pages take no memory.
constexpr std::size_t bytes = 2 << 20;

std::atomic<void*> reserve = nullptr;

bool take() {
  void* const taken = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (taken == MAP_FAILED) return false;
  void* none = nullptr;
  if (!reserve.compare_exchange_strong(none, taken)) munmap(taken, bytes); // another thread has
  return true;
}

// The handler of operator new, which tries again after it. The program's allocations do not come here, because our C++
// library is linked statically (mpi_hooks/CMakeLists.txt).
void give_up() {
  void* const given = reserve.exchange(nullptr);
  if (!given) throw std::bad_alloc();
  munmap(given, bytes);
}

const bool taken_at_load = [] { return std::set_new_handler(&give_up), take(); }();

} // namespace

// More than the C library caches for one size.
void MemoryReserve::leave_some() { ::operator delete(::operator new(4096)); }

bool MemoryReserve::is_there() { return reserve.load(std::memory_order_relaxed) || take(); }

} // namespace kumihimo::interpose
