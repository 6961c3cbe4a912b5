// Memory of a CUDA device, and errors of its calls.
#pragma once

#include "base/result.hpp"

#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

namespace kumihimo::device {

// The error of a call. It is cleared, so that the next cudaGetLastError() tells of later calls alone.
inline Status check(cudaError_t code) {
  if (code == cudaSuccess) return Nothing{};
  cudaGetLastError();
  return failed("the device failed", cudaGetErrorString(code));
}

// Error (not applicable): there is no device.
inline Status find() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) return Nothing{};
  cudaGetLastError();
  return not_applicable("the variant cuda needs a CUDA device, and there is none");
}

// Arrays that are freed with it.
class StencilDeviceMemory {
 public:
  StencilDeviceMemory() = default;
  StencilDeviceMemory(const StencilDeviceMemory&) = delete;
  StencilDeviceMemory& operator=(const StencilDeviceMemory&) = delete;
  ~StencilDeviceMemory() {
    for (void* each : all_) cudaFree(each);
  }
  // An array of `size` elements. Error: there is not enough memory.
  template <class T>
  Result<T*> take(std::int64_t size) {
    void* made = nullptr;
    const cudaError_t code = cudaMalloc(&made, static_cast<std::size_t>(size) * sizeof(T));
    if (code == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      return failed("the device has not enough memory", {}, "use a smaller --size");
    }
    TRY(check(code));
    all_.push_back(made);
    return static_cast<T*>(made);
  }
  template <class T>
  Result<T*> copy_of(const T* host, std::int64_t size) {
    T* const made = TRY(take<T>(size));
    TRY(check(cudaMemcpy(made, host, static_cast<std::size_t>(size) * sizeof(T), cudaMemcpyHostToDevice)));
    return made;
  }

 private:
  std::vector<void*> all_;
};

} // namespace kumihimo::device
