// Arrays that begin at a line of the cache, so that elements that share a line by design do.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace kumihimo::packet {

template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t line{64};

  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {} // NOLINT: a converting constructor is what allocators have

  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), line)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, line); }
  bool operator==(const LineAllocator&) const { return true; }
};

template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

} // namespace kumihimo::packet
