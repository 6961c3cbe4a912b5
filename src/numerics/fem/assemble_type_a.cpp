// Type A of GeoFEM/Cube: each thread takes the elements of a colour in blocks. For a block it searches all addresses,
// then integrates all stiffness matrices, then adds them. The search's branches no longer interrupt the integration,
// whose loop over the second corner of a pair fills vectors.
#include "fem/assemble.hpp"
#include "fem/block_size.hpp"
#include "fem/shape.hpp"
#include "threads/processor_clones.hpp"

#include <algorithm>

namespace kumihimo::fem {
namespace {

struct ElementBuffer {
  std::int32_t address[corners][corners];
  double stiffness[corners][9][corners]; // first corner, entry of the block, second corner
};

KUMIHIMO_PROCESSOR_CLONES void search(const ElementTask& task, std::int64_t first, std::int64_t count,
                                      ElementBuffer* buffers) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t* const nodes = task.nodes + corners * static_cast<std::int64_t>(task.elements[first + i]);
    for (int p = 0; p < corners; ++p)
      for (int q = 0; q < corners; ++q) {
        std::int32_t at = task.row_begin[nodes[p]];
        while (task.columns[at] != nodes[q]) ++at;
        buffers[i].address[p][q] = at;
      }
  }
}

KUMIHIMO_PROCESSOR_CLONES void integrate(const ElementTask& task, std::int64_t first, std::int64_t count,
                                         ElementBuffer* buffers) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t e = task.elements[first + i];
    double points[corners][3], gradients[gauss_points][3][corners], weights[gauss_points];
    gather_points(task.coordinates, task.nodes + corners * e, points);
    for (int g = 0; g < gauss_points; ++g) weights[g] = gradients_at(points, g, gradients[g]);
    const double lambda = task.lambda[e], mu = task.mu[e], diagonal = lambda + 2 * mu;
    for (int p = 0; p < corners; ++p) {
      double(&k)[9][corners] = buffers[i].stiffness[p];
      for (auto& entry : k)
        for (double& value : entry) value = 0;
      for (int g = 0; g < gauss_points; ++g) {
        const double w = weights[g];
        const double px = gradients[g][0][p] * w, py = gradients[g][1][p] * w, pz = gradients[g][2][p] * w;
        for (int q = 0; q < corners; ++q) {
          const double qx = gradients[g][0][q], qy = gradients[g][1][q], qz = gradients[g][2][q];
          k[0][q] += diagonal * px * qx + mu * (py * qy + pz * qz);
          k[4][q] += diagonal * py * qy + mu * (pz * qz + px * qx);
          k[8][q] += diagonal * pz * qz + mu * (px * qx + py * qy);
          k[1][q] += lambda * px * qy + mu * py * qx;
          k[2][q] += lambda * px * qz + mu * pz * qx;
          k[3][q] += lambda * py * qx + mu * px * qy;
          k[5][q] += lambda * py * qz + mu * pz * qy;
          k[6][q] += lambda * pz * qx + mu * px * qz;
          k[7][q] += lambda * pz * qy + mu * py * qz;
        }
      }
    }
  }
}

KUMIHIMO_PROCESSOR_CLONES void add(const ElementTask& task, std::int64_t count, const ElementBuffer* buffers) {
  for (std::int64_t i = 0; i < count; ++i)
    for (int p = 0; p < corners; ++p)
      for (int q = 0; q < corners; ++q) {
        double* const block = task.values + 9 * static_cast<std::int64_t>(buffers[i].address[p][q]);
        for (int entry = 0; entry < 9; ++entry) block[entry] += buffers[i].stiffness[p][entry][q];
      }
}

} // namespace

Status assemble_type_a(const Mesh& mesh, const Materials& materials, BlockMatrix& matrix,
                       const ParameterValues& values) {
  const std::int64_t block = TRY(block_size(values));
  const ElementTask task = element_task(mesh, materials, matrix);
  threads::ThreadedArray<ElementBuffer> buffers =
      TRY(threads::ThreadedArray<ElementBuffer>::zeros(block * threads::count()));
  for_each_colour(mesh, [&](int thread, threads::IndexRange mine) {
    ElementBuffer* const own = buffers.data() + block * thread;
    for (std::int64_t first = mine.begin; first < mine.end; first += block) {
      const std::int64_t count = std::min(block, mine.end - first);
      search(task, first, count, own);
      integrate(task, first, count, own);
      add(task, count, own);
    }
  });
  return Nothing{};
}

} // namespace kumihimo::fem
