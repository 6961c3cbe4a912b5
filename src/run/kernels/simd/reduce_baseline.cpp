// Compiled for any processor that the build targets.
#include "kernels/simd/reduce_loops.hpp"

namespace kumihimo::kernels {

ReduceKernel reduce_baseline(DataType type, Operation op) { return OfWidth<16>::table.at(type, op); }
#if defined(__x86_64__)
ReduceKernel reduce_baseline_streaming(DataType type, Operation op) {
  return OfWidth<16>::streaming_table.at(type, op);
}
#endif

} // namespace kumihimo::kernels
