// The variants of the FDTD steps.
#pragma once

#include "base/parameter.hpp"
#include "stencil/fdtd2d/fields.hpp"
#include "stencil/fdtd2d/source.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace kumihimo::fdtd2d {

// What a variant does for one type of numbers.
template <class T>
struct Kernels {
  // A step: H of a box of places, then Ez of a box of nodes. Each place once.
  void (*update_h)(const Fields<T>& fields, const Box& box) = nullptr;
  void (*update_e)(const Fields<T>& fields, const Box& box) = nullptr;
  // Or all steps of one rank on an accelerator, from step `first` on. Error: there is none, or the device's.
  Status (*run)(const Fields<T>& fields, const Source& source, std::int64_t first, std::int64_t steps) = nullptr;
};

struct Variant : VariantDescription {
  Kernels<float> of_float;
  Kernels<double> of_double;
  bool is_written_by_hand = false;
  std::vector<std::string_view> files = {}; // names in src/stencil/fdtd2d of all that replaces golden.cpp

  template <class T>
  const Kernels<T>& kernels() const {
    if constexpr (sizeof(T) == sizeof(float))
      return of_float;
    else
      return of_double;
  }
  // Neither kernel: wavefronts of several steps (wavefront.hpp).
  bool is_wavefront() const { return !of_float.update_h && !of_float.run; }
};

// The golden copy is the first.
std::span<const Variant> variants();
// The text of one of their files.
std::string_view source_of(std::string_view file);

// Functions for float and double that update H, or Ez, of a box.
#define KUMIHIMO_FDTD2D_KERNELS()                                                                                      \
  template void update_h(const Fields<float>&, const Box&);                                                            \
  template void update_h(const Fields<double>&, const Box&);                                                           \
  template void update_e(const Fields<float>&, const Box&);                                                            \
  template void update_e(const Fields<double>&, const Box&);

#define KUMIHIMO_FDTD2D_VARIANT(name)                                                                                  \
  namespace name {                                                                                                     \
  template <class T>                                                                                                   \
  void update_h(const Fields<T>& fields, const Box& box);                                                              \
  template <class T>                                                                                                   \
  void update_e(const Fields<T>& fields, const Box& box);                                                              \
  }
KUMIHIMO_FDTD2D_VARIANT(golden)
KUMIHIMO_FDTD2D_VARIANT(directives)
KUMIHIMO_FDTD2D_VARIANT(simd)
#undef KUMIHIMO_FDTD2D_VARIANT
namespace offload {
template <class T>
Status run(const Fields<T>& fields, const Source& source, std::int64_t first, std::int64_t steps);
}
namespace cuda { // an error in builds without CUDA
template <class T>
Status run(const Fields<T>& fields, const Source& source, std::int64_t first, std::int64_t steps);
}

} // namespace kumihimo::fdtd2d
