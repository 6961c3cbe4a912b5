// The original assembly of GeoFEM: inside an element, each pair of corners searches its block, integrates it over the
// Gauss points and adds it. Threads share the elements of a colour. Nakajima, "Optimization of serial and parallel
// communications for parallel geometric multigrid and FEM", and systems of the GeoFEM/Cube benchmark.
#include "fem/assemble.hpp"
#include "fem/shape.hpp"
#include "threads/partition.hpp"
#include "threads/processor_clones.hpp"
#include "threads/team.hpp"

namespace kumihimo::fem {
namespace {

KUMIHIMO_PROCESSOR_CLONES void add_elements(const ElementTask& task, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t e = task.elements[i];
    const std::int32_t* const nodes = task.nodes + corners * e;
    double points[corners][3], gradients[gauss_points][3][corners], weights[gauss_points];
    gather_points(task.coordinates, nodes, points);
    for (int g = 0; g < gauss_points; ++g) weights[g] = gradients_at(points, g, gradients[g]);
    const double lambda = task.lambda[e], mu = task.mu[e], diagonal = lambda + 2 * mu;
    for (int p = 0; p < corners; ++p)
      for (int q = 0; q < corners; ++q) {
        std::int32_t at = task.row_begin[nodes[p]];
        while (task.columns[at] != nodes[q]) ++at;
        double k[3][3] = {};
        for (int g = 0; g < gauss_points; ++g) {
          const double px = gradients[g][0][p], py = gradients[g][1][p], pz = gradients[g][2][p];
          const double qx = gradients[g][0][q], qy = gradients[g][1][q], qz = gradients[g][2][q];
          const double w = weights[g];
          k[0][0] += (diagonal * px * qx + mu * (py * qy + pz * qz)) * w;
          k[1][1] += (diagonal * py * qy + mu * (pz * qz + px * qx)) * w;
          k[2][2] += (diagonal * pz * qz + mu * (px * qx + py * qy)) * w;
          k[0][1] += (lambda * px * qy + mu * py * qx) * w;
          k[0][2] += (lambda * px * qz + mu * pz * qx) * w;
          k[1][0] += (lambda * py * qx + mu * px * qy) * w;
          k[1][2] += (lambda * py * qz + mu * pz * qy) * w;
          k[2][0] += (lambda * pz * qx + mu * px * qz) * w;
          k[2][1] += (lambda * pz * qy + mu * py * qz) * w;
        }
        double* const block = task.values + 9 * static_cast<std::int64_t>(at);
        for (int a = 0; a < 3; ++a)
          for (int c = 0; c < 3; ++c) block[3 * a + c] += k[a][c];
      }
  }
}

} // namespace

Status assemble_original(const Mesh& mesh, const Materials& materials, BlockMatrix& matrix, const ParameterValues&) {
  const ElementTask task = element_task(mesh, materials, matrix);
  for_each_colour(mesh, [&](int, threads::IndexRange mine) { add_elements(task, mine.begin, mine.end); });
  return Nothing{};
}

} // namespace kumihimo::fem
