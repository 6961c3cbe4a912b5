// Memory that the system may refuse: an error in place of a crash.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace kumihimo::bench_driver {

inline constexpr std::string_view smaller_case = "give a smaller --bytes or fewer ranks"; // what to do, mostly

// `wanted`: "64 bytes for the vectors of a rank".
Error out_of_memory(std::string wanted, std::string_view advice = smaller_case);

// Ordinary memory of the heap, at least a byte. Throws std::bad_alloc as vectors do: see with_memory().
using HeapMemory = std::unique_ptr<std::byte, decltype(&std::free)>;
HeapMemory allocate(std::int64_t bytes);

struct Need {
  std::int64_t bytes = 0;   // in all
  std::string_view purpose; // "the vectors of a rank"
  std::string_view advice = smaller_case;
};
Error out_of_memory(const Need& need);

// What make() answers; an error where it finds too little memory.
template <class Make>
auto with_memory(const Need& need, Make make) -> Result<decltype(make())> {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return out_of_memory(need);
  }
}

} // namespace kumihimo::bench_driver
