// x86_64: -mavx2
// Empty on other processors.
#if defined(__x86_64__)
#include "kernels/simd/reduce_loops.hpp"

namespace kumihimo::kernels {

ReduceKernel reduce_avx2(DataType type, Operation op) { return OfWidth<32>::table.at(type, op); }
ReduceKernel reduce_avx2_streaming(DataType type, Operation op) { return OfWidth<32>::streaming_table.at(type, op); }

} // namespace kumihimo::kernels

#endif
