// Compiled with these instructions (see src/kernels/CMakeLists.txt); empty on other processors.
#if defined(__x86_64__)
#include "kernels/simd/reduce_loops.hpp"

namespace kumihimo::kernels {
namespace {
constexpr ReduceTable table = make_reduce_table<OfWidth<64>::Loop>();
}

ReduceKernel reduce_avx512(DataType type, Operation op) { return table.at(type, op); }

namespace {
constexpr ReduceTable streaming = make_reduce_table<OfWidth<64>::StreamingLoop>();
}

ReduceKernel reduce_avx512_streaming(DataType type, Operation op) { return streaming.at(type, op); }

} // namespace kumihimo::kernels

#endif
