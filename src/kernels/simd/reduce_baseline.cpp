// Compiled for any processor that the build targets.
#include "kernels/simd/reduce_loops.hpp"

namespace kumihimo::kernels {
namespace {
constexpr ReduceTable table = make_reduce_table<OfWidth<16>::Loop>();
}

const ReduceTable& baseline_reduce_table() { return table; }

} // namespace kumihimo::kernels
