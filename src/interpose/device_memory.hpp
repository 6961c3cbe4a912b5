// Whether a buffer lies in the memory of a GPU (managed memory included), as the driver says that the program has
// loaded. Nothing of CUDA or ROCm is linked or opened here: libcuda and libamdhip64 are looked up among the loaded
// libraries, at any time, because most programs load them after MPI_Init.
//
// Where the machine has no GPU and no driver is loaded, is_possible() stays false: a call that repeats another is not
// looked at (see Repeated), and any other loads one word. A program may load a driver at any time, on a machine with a
// GPU, too, and a second one after the first. So dlopen is hooked: from then on every call looks again, until the
// thread that loads has ended to do so.
#pragma once

#include <atomic>
#include <cstdint>

namespace kumihimo::interpose {

class DeviceMemory {
 public:
  // Looks for a GPU and for a driver. Before the first call, and again whenever something is set up.
  static void look();
  // This thread is about to load a library, which may be a driver or bring one.
  static void expect_driver();
  static bool is_possible() {
    return (possible_.load(std::memory_order_relaxed) & (always | several)) != 0 && may_be_possible();
  }
  static bool has_driver(); // loaded by now
  static bool holds(const void* address) { return is_possible() && is_on_device(address); }

 private:
  static bool may_be_possible();
  static bool is_on_device(const void* address);
  // `always` where there is a GPU or a driver; the number of times that a library was loaded; and in the lowest 32 bits
  // the thread that loads one: 0 for none, or `several`.
  static constexpr std::uint64_t always = std::uint64_t{1} << 63, one_load = std::uint64_t{1} << 32;
  static constexpr std::uint32_t several = ~std::uint32_t{0};
  static constexpr std::uint32_t thread_in(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
  static inline std::atomic<std::uint64_t> possible_ = 0;
};

} // namespace kumihimo::interpose
