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
Status run(Grid&, std::int64_t, double*) { return no_cuda(); }
} // namespace himeno::cuda

namespace fdtd2d::cuda {
template <class T>
Status run(const Fields<T>&, const Source&, std::int64_t, std::int64_t) {
  return no_cuda();
}
template Status run(const Fields<float>&, const Source&, std::int64_t, std::int64_t);
template Status run(const Fields<double>&, const Source&, std::int64_t, std::int64_t);
} // namespace fdtd2d::cuda

} // namespace kumihimo

#endif
