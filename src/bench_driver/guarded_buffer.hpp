// Memory of a call that is checked: it shows what was written behind its end.
#pragma once

#include "bench_driver/golden.hpp"
#include "bench_driver/memory.hpp"

#include <algorithm>

namespace kumihimo::bench_driver {

// Ordinary memory of the heap with a guard behind it, and in it until something is written.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(std::size_t bytes)
      : bytes_(bytes), memory_(allocate(static_cast<std::int64_t>(bytes + guard_bytes))) {
    std::fill_n(data(), bytes + guard_bytes, untouched);
  }
  std::byte* data() const { return memory_.get(); }
  bool guard_holds() const {
    return std::all_of(data() + bytes_, data() + bytes_ + guard_bytes, [](std::byte b) { return b == untouched; });
  }

 private:
  static constexpr std::size_t guard_bytes = 64;
  std::size_t bytes_;
  HeapMemory memory_;
};

} // namespace kumihimo::bench_driver
