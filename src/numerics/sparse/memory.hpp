// Lack of memory as an error value, for functions that use the containers of the standard library; and vectors whose
// elements threads write first.
#pragma once

#include "base/result.hpp"
#include "threads/array.hpp"

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace kumihimo::sparse {

// What `make` returns. Error: its own, or that there is not enough memory for `what`.
template <class Make>
auto within_memory(const std::string& what, Make make) -> decltype(make()) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  return failed("there is not enough memory for " + what, {}, "use a smaller size");
}

// resize(n) leaves new elements unwritten, so the thread that writes an element first gets its page.
template <class T>
struct Unwritten : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Unwritten<U>;
  };
  template <class U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... From>
  void construct(U* at, From&&... from) {
    std::construct_at(at, std::forward<From>(from)...);
  }
};
template <class T>
using UnwrittenVector = std::vector<T, Unwritten<T>>;

// resize(size) of an empty vector, for one that is read or written in an order other than its own.
template <class T>
void resize_in_huge_pages(UnwrittenVector<T>& to, std::size_t size) {
  to.reserve(size);
  threads::advise_huge_pages(to.data(), static_cast<std::int64_t>(size * sizeof(T)));
  to.resize(size);
}

} // namespace kumihimo::sparse
