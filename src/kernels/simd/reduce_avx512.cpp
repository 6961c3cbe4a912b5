// Compiled with this level's instructions (see src/kernels/CMakeLists.txt); empty on other processors.
#if defined(__x86_64__)
#include "kernels/simd/reduce_loops.hpp"

namespace kumihimo::kernels {
namespace {
constexpr ReduceTable table = make_reduce_table<OfWidth<64>::Loop>();
}

const ReduceTable& avx512_reduce_table() { return table; }

} // namespace kumihimo::kernels

#endif
