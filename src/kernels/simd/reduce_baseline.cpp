// Compiled for any processor that the build targets.
#include "kernels/simd/reduce_loops.hpp"

namespace kumihimo::kernels {
namespace {
constexpr ReduceTable table = make_reduce_table<OfWidth<16>::Loop>();
}

ReduceKernel reduce_baseline(DataType type, Operation op) { return table.at(type, op); }

#if defined(__x86_64__)
namespace {
constexpr ReduceTable streaming = make_reduce_table<OfWidth<16>::StreamingLoop>();
}

ReduceKernel reduce_baseline_streaming(DataType type, Operation op) { return streaming.at(type, op); }
#endif

} // namespace kumihimo::kernels
