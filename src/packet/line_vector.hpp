// Arrays that begin at a line of the cache, so that elements that share a line by design do. Long ones are on huge pages
// where the system has them: random access to many small pages misses the TLB.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <new>
#include <vector>

namespace kumihimo::packet {

template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::size_t line = 64, huge_page = std::size_t{2} << 20;

  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {} // NOLINT: a converting constructor is what allocators have

  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    void* const memory = ::operator new(bytes, std::align_val_t{line});
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t first = (address + huge_page - 1) / huge_page * huge_page,
                         end = (address + bytes) / huge_page * huge_page;
    if (first < end) (void)madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }
  void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t{line}); }
  bool operator==(const LineAllocator&) const { return true; }
};

template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

} // namespace kumihimo::packet
