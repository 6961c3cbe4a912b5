// The rows of variants.def whose loops have one element in each lane.
#include "fem/assemble.hpp"
#include "fem/block_size.hpp"
#include "fem/lane_loops.hpp"

#include <span>

namespace kumihimo::fem {
namespace {

Status assemble_in_lanes(const LaneLoops& loops, const Mesh& mesh, const Materials& materials, BlockMatrix& matrix,
                         const ParameterValues& values) {
  const std::int64_t block = TRY(block_size(values));
  const std::int64_t groups = (block + loops.lanes - 1) / loops.lanes, numbers = 9 * 36 * groups * loops.lanes;
  const int team = threads::count();
  threads::ThreadedArray<double> stiffness = TRY(threads::ThreadedArray<double>::zeros(numbers * team));
  threads::ThreadedArray<Addresses> addresses = TRY(threads::ThreadedArray<Addresses>::zeros(block * team));
  const ElementTask task = element_task(mesh, materials, matrix);
  const std::int64_t layers = TRY(pencil_layers(values));
  if (layers > 0)
    return for_each_pencil(mesh, layers, [&](int thread, const std::int32_t* elements, std::int64_t count) {
      ElementTask of_pencil = task;
      of_pencil.elements = elements;
      loops.assemble(of_pencil, 0, count, block, stiffness.data() + numbers * thread,
                     addresses.data() + block * thread);
    });
  for_each_colour(mesh, [&](int thread, threads::IndexRange mine) {
    loops.assemble(task, mine.begin, mine.end, block, stiffness.data() + numbers * thread,
                   addresses.data() + block * thread);
  });
  return Nothing{};
}

} // namespace

#define IN_LANES(set)                                                                                                  \
  Status assemble_simd_##set(const Mesh& mesh, const Materials& materials, BlockMatrix& matrix,                        \
                             const ParameterValues& values) {                                                          \
    return assemble_in_lanes(loops_##set, mesh, materials, matrix, values);                                            \
  }                                                                                                                    \
  void operate_matrix_free_##set(const Mesh& mesh, const Materials& materials, std::span<const std::int32_t> elements, \
                                 const double* x, double* y) {                                                         \
    ElementTask task = element_task(mesh, materials);                                                                  \
    task.elements = elements.data();                                                                                   \
    loops_##set.multiply(task, 0, static_cast<std::int64_t>(elements.size()), x, y);                                   \
  }

IN_LANES(baseline)
#if defined(__x86_64__)
IN_LANES(avx2)
IN_LANES(avx512)
#endif
#undef IN_LANES

} // namespace kumihimo::fem
