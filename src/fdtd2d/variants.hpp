// The variants of the FDTD updates.
#pragma once

#include "base/parameter.hpp"
#include "fdtd2d/fields.hpp"

namespace kumihimo::fdtd2d {

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

} // namespace kumihimo::fdtd2d
