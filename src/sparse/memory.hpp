// Lack of memory as an error value, for functions that use the containers of the standard library.
#pragma once

#include "base/result.hpp"

#include <new>
#include <stdexcept>
#include <string>

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

} // namespace kumihimo::sparse
