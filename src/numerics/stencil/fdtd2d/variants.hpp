// The variants of the FDTD steps.
#pragma once

#include "base/parameter.hpp"
#include "stencil/fdtd2d/fields.hpp"
#include "stencil/fdtd2d/source.hpp"

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace kumihimo::fdtd2d {

// Fields that have been copied to an accelerator, whose memory is freed with it. The fields outlive it.
class DeviceFields {
 public:
  virtual ~DeviceFields() = default;
  // Steps from step `first` on; waits for them. Error: the device's.
  virtual Status run(std::int64_t first, std::int64_t steps) = 0;
  // Copies the fields back. Error: the device's.
  virtual Status download() = 0;
};

// What a variant does for one type of numbers.
template <class T>
struct FieldKernels {
  // A step: H of a box of places, then Ez of a box of nodes. Each place once.
  void (*update_h)(const Fields<T>& fields, const NodeBox& box) = nullptr;
  void (*update_e)(const Fields<T>& fields, const NodeBox& box) = nullptr;
  // Or an accelerator for the steps of one rank. Errors: there is none (not applicable), or the device's.
  Result<std::unique_ptr<DeviceFields>> (*upload)(const Fields<T>& fields, const WaveSource& source) = nullptr;
};

struct FdtdVariant : VariantDescription {
  FieldKernels<float> of_float;
  FieldKernels<double> of_double;
  bool is_written_by_hand = false;
  std::vector<std::string_view> files = {}; // names in src/numerics/stencil/fdtd2d of all that replaces golden.cpp

  template <class T>
  const FieldKernels<T>& kernels() const {
    if constexpr (sizeof(T) == sizeof(float))
      return of_float;
    else
      return of_double;
  }
  // Neither kernel: wavefronts of several steps (wavefront.hpp).
  bool is_wavefront() const { return !of_float.update_h && !of_float.upload; }
};

// The golden copy is the first.
std::span<const FdtdVariant> variants();
// The text of one of their files.
std::string_view source_of(std::string_view file);

// Functions for float and double that update H, or Ez, of a box.
#define KUMIHIMO_FDTD2D_KERNELS()                                                                                      \
  template void update_h(const Fields<float>&, const NodeBox&);                                                        \
  template void update_h(const Fields<double>&, const NodeBox&);                                                       \
  template void update_e(const Fields<float>&, const NodeBox&);                                                        \
  template void update_e(const Fields<double>&, const NodeBox&);

#define KUMIHIMO_FDTD2D_VARIANT(name)                                                                                  \
  namespace name {                                                                                                     \
  template <class T>                                                                                                   \
  void update_h(const Fields<T>& fields, const NodeBox& box);                                                          \
  template <class T>                                                                                                   \
  void update_e(const Fields<T>& fields, const NodeBox& box);                                                          \
  }
KUMIHIMO_FDTD2D_VARIANT(golden)
KUMIHIMO_FDTD2D_VARIANT(directives)
KUMIHIMO_FDTD2D_VARIANT(simd)
#undef KUMIHIMO_FDTD2D_VARIANT
namespace offload {
template <class T>
Result<std::unique_ptr<DeviceFields>> upload(const Fields<T>& fields, const WaveSource& source);
}
namespace cuda { // an error in builds without CUDA
template <class T>
Result<std::unique_ptr<DeviceFields>> upload(const Fields<T>& fields, const WaveSource& source);
}

} // namespace kumihimo::fdtd2d
