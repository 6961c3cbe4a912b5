// The builds that have no CUDA.
#if !defined(KUMIHIMO_CUDA)
#include "stencil/fdtd2d/variants.hpp"
#include "stencil/himeno/variants.hpp"

namespace kumihimo {

static Error no_cuda() {
  return not_applicable("this build of Kumihimo has no CUDA", {},
                        "build with -D KUMIHIMO_CUDA=ON, or use another variant");
}

namespace himeno::cuda {
Result<std::unique_ptr<DeviceGrid>> upload(HimenoGrid&) { return no_cuda(); }
} // namespace himeno::cuda

namespace fdtd2d::cuda {
template <class T>
Result<std::unique_ptr<DeviceFields>> upload(const Fields<T>&, const WaveSource&) {
  return no_cuda();
}
template Result<std::unique_ptr<DeviceFields>> upload(const Fields<float>&, const WaveSource&);
template Result<std::unique_ptr<DeviceFields>> upload(const Fields<double>&, const WaveSource&);
} // namespace fdtd2d::cuda

} // namespace kumihimo

#endif
