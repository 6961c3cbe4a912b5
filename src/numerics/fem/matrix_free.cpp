#include "fem/assemble.hpp"
#include "fem/product.hpp"
#include "fem/shape.hpp"

#include <algorithm>
#include <cstring>

namespace kumihimo::fem {

// Few, so that there are many pencils for many threads: vectors stay in caches anyhow.
constexpr std::int64_t layers = 2;

Result<MatrixFreeProduct> MatrixFreeProduct::make(const OperatorVariant& variant, const Mesh& mesh,
                                                  const Materials& materials, const Constraints& constraints,
                                                  std::vector<double> diagonal) {
  if (static_cast<std::int64_t>(diagonal.size()) != 3 * mesh.owned)
    return wrong_value("the diagonal must have " + std::to_string(3 * mesh.owned) + " numbers", diagonal.size());
  MatrixFreeProduct made;
  made.variant_ = &variant;
  made.mesh_ = &mesh;
  made.materials_ = &materials;
  made.diagonal_ = std::move(diagonal);
  for (std::size_t i = 0; i < constraints.is_fixed.size(); ++i)
    if (constraints.is_fixed[i]) made.fixed_.push_back(static_cast<std::int32_t>(i));
  made.x_ = TRY(threads::ThreadedArray<double>::zeros(3 * mesh.node_count()));
  made.y_ = TRY(threads::ThreadedArray<double>::zeros(3 * mesh.node_count()));
  return made;
}

Status MatrixFreeProduct::multiply(const double* x, double* y) {
  const int team = threads::count();
  // Rows of ghosts get contributions that nobody reads: without ghosts they need no memory of their own.
  double* const sums = mesh_->owned == mesh_->node_count() ? y : y_.data();
#pragma omp parallel for schedule(static) num_threads(team)
  for (int i = 0; i < team; ++i) {
    const threads::IndexRange mine = threads::part(x_.size(), i, team);
    const auto bytes = static_cast<std::size_t>(mine.size()) * sizeof(double);
    if (!fixed_.empty()) std::memcpy(x_.data() + mine.begin, x + mine.begin, bytes);
    std::memset(sums + mine.begin, 0, bytes);
  }
  for (const std::int32_t i : fixed_) x_[i] = 0;
  const double* const free = fixed_.empty() ? x : x_.data();
  if (Status done = for_each_pencil(
          *mesh_, layers,
          [&](int, const std::int32_t* elements, std::int64_t count) {
            variant_->add_product(*mesh_, *materials_, {elements, static_cast<std::size_t>(count)}, free, sums);
          });
      !done)
    return done;
  if (sums != y) std::copy_n(sums, 3 * mesh_->owned, y);
  for (const std::int32_t i : fixed_)
    if (i < 3 * mesh_->owned) y[i] = diagonal_[static_cast<std::size_t>(i)] * x[i];
  return Nothing{};
}

std::vector<double> diagonal_blocks(const BlockMatrix& matrix) {
  std::vector<double> blocks;
  blocks.reserve(static_cast<std::size_t>(9 * matrix.owned));
  for (std::int32_t n = 0; n < matrix.owned; ++n) {
    const double* const block = matrix.block(matrix.find(n, n));
    blocks.insert(blocks.end(), block, block + 9);
  }
  return blocks;
}

std::vector<double> diagonal_blocks(const Mesh& mesh, const Materials& materials) {
  std::vector<double> blocks(static_cast<std::size_t>(9 * mesh.owned));
  for (std::int64_t e = 0; e < mesh.element_count(); ++e) {
    double points[corners][3], gradients[3][corners];
    gather_points(mesh.coordinates.data(), mesh.element(e), points);
    for (int g = 0; g < gauss_points; ++g) {
      const double weight = gradients_at(points, g, gradients);
      for (int c = 0; c < corners; ++c) {
        const std::int64_t n = mesh.element(e)[c];
        if (n >= mesh.owned) continue;
        double square = 0;
        for (int a = 0; a < 3; ++a) square += gradients[a][c] * gradients[a][c];
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b)
            blocks[static_cast<std::size_t>(9 * n + 3 * a + b)] +=
                weight * ((materials.lambda[e] + materials.mu[e]) * gradients[a][c] * gradients[b][c] +
                          (a == b ? materials.mu[e] * square : 0));
      }
    }
  }
  return blocks;
}

} // namespace kumihimo::fem
