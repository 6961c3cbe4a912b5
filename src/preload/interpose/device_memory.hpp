// Whether a buffer is in the memory of a GPU (managed memory included), by the driver that the program has loaded.
// Nothing of CUDA or ROCm is linked or opened here: libcuda and libamdhip64 are looked up among the loaded libraries,
// at any time, because most programs load them after MPI_Init.
//
// Without a GPU and a driver, is_possible() stays false: repeated calls are not checked (RepeatedCall), and others load
// one word. A program may load a driver at any time, and a second one after the first. So dlopen is hooked: from then
// on every call looks for drivers again, until the loading thread has finished.
#pragma once

#include <atomic>
#include <cstdint>

namespace kumihimo::interpose {

class DeviceMemory {
 public:
  // Looks for a GPU and for a driver. Called before the first call and in each set-up.
  static void look();
  // Called before this thread loads a library, which may be a driver or load one.
  static void expect_driver();
  static bool is_possible() {
    return (possible_.load(std::memory_order_relaxed) & (always | several)) != 0 && may_be_possible();
  }
  static bool has_driver(); // loaded by now
  static bool holds(const void* address) { return is_possible() && is_on_device(address); }

 private:
  static bool may_be_possible();
  static bool is_on_device(const void* address);
  // The bit `always`, if there is a GPU or a driver; the number of loaded libraries; and in the lowest 32 bits the
  // thread that is loading one: 0 for none, or `several`.
  static constexpr std::uint64_t always = std::uint64_t{1} << 63, one_load = std::uint64_t{1} << 32;
  static constexpr std::uint32_t several = ~std::uint32_t{0};
  static constexpr std::uint32_t thread_in(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
  static inline std::atomic<std::uint64_t> possible_ = 0;
};

} // namespace kumihimo::interpose
