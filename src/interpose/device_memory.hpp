// Whether a buffer lies in the memory of a GPU (managed memory included), as the driver says that the program has
// loaded. Nothing of CUDA or ROCm is linked or opened here: libcuda and libamdhip64 are looked up among the loaded
// libraries, at any time, because most programs load them after MPI_Init.
//
// Where the machine has no GPU and no driver is loaded, is_possible() stays false: a call that repeats another is not
// looked at (see Repeated), and any other loads one flag.
#pragma once

#include <atomic>

namespace kumihimo::interpose {

class DeviceMemory {
 public:
  // Looks for a GPU and for a driver. Before the first call, and again whenever something is set up.
  static void look();
  static bool is_possible() { return possible_.load(std::memory_order_relaxed); }
  static bool has_driver(); // loaded by now
  static bool holds(const void* address) { return is_possible() && is_on_device(address); }

 private:
  static bool is_on_device(const void* address);
  static inline std::atomic<bool> possible_ = false;
};

} // namespace kumihimo::interpose
