// x86_64: -mavx512f -mavx512bw -mavx512dq -mavx512vl
// Empty on other processors.
#if defined(__x86_64__)
#include "kernels/simd/reduce_loops.hpp"

namespace kumihimo::kernels {

ReduceKernel reduce_avx512(DataType type, Operation op) { return OfWidth<64>::table.at(type, op); }
ReduceKernel reduce_avx512_streaming(DataType type, Operation op) { return OfWidth<64>::streaming_table.at(type, op); }

} // namespace kumihimo::kernels

#endif
