#include "fem_cube/golden.hpp"

#include "fem/error_bound.hpp"
#include "fem/golden.hpp"
#include "fem/product.hpp"
#include "fem/sweeps.hpp"
#include "threads/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kumihimo::fem_cube::golden {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// y += factor block x
void add_block(const double* block, const double* x, double factor, double* y) {
  for (int a = 0; a < 3; ++a)
    for (int c = 0; c < 3; ++c) y[a] += factor * block[3 * a + c] * x[c];
}

} // namespace

Result<GoldenBlockDiagonal> GoldenBlockDiagonal::make(std::span<const double> blocks) {
  GoldenBlockDiagonal made;
  made.inverses_.resize(blocks.size());
  for (std::size_t n = 0; n < blocks.size() / 9; ++n)
    if (!fem::invert_block(blocks.data() + 9 * n, made.inverses_.data() + 9 * n))
      return wrong_value(fmt::format("the diagonal block of node {} must be positive definite", n), {},
                         "check the materials and the prescribed displacements");
  return made;
}

void GoldenBlockDiagonal::apply(const double* r, double* z) const {
  for (std::size_t n = 0; n < inverses_.size() / 9; ++n) {
    double result[3] = {};
    add_block(inverses_.data() + 9 * n, r + 3 * n, 1, result);
    std::copy_n(result, 3, z + 3 * n);
  }
}

Result<Schwarz> Schwarz::make(const fem::BlockMatrix& matrix, std::int64_t parts, int overlap) {
  if (parts < 1 || parts > matrix.owned)
    return wrong_value(fmt::format("the number of parts must be 1 to {}", matrix.owned), parts);
  Schwarz made;
  made.matrix_ = &matrix;
  made.diagonal_ = TRY(GoldenBlockDiagonal::make(fem::diagonal_blocks(matrix)));
  for (std::int64_t i = 0; i < parts; ++i) {
    const threads::IndexRange own = threads::part(matrix.owned, i, parts);
    std::vector<std::uint8_t> is_in(at(matrix.owned));
    for (std::int64_t n = own.begin; n < own.end; ++n) {
      is_in[at(n)] = 1;
      for (std::int32_t b = matrix.row_begin[n]; overlap > 0 && b < matrix.row_begin[n + 1]; ++b)
        if (matrix.columns[b] < matrix.owned) is_in[at(matrix.columns[b])] = 1;
    }
    std::vector<std::int32_t>& nodes = made.parts_.emplace_back();
    for (std::int32_t n = 0; n < matrix.owned; ++n)
      if (is_in[at(n)]) nodes.push_back(n);
  }
  return made;
}

void Schwarz::apply(const double* r, double* z) const {
  std::vector<double> sums(at(3 * matrix_->owned)), y(sums.size());
  for (const std::vector<std::int32_t>& nodes : parts_) {
    std::vector<std::uint8_t> is_in(at(matrix_->owned));
    for (const std::int32_t n : nodes) is_in[at(n)] = 1;
    // The couplings of node n with the nodes of the part on one side of it, times y.
    const auto couple = [&](std::int32_t n, bool before, double* result) {
      for (std::int32_t b = matrix_->row_begin[n]; b < matrix_->row_begin[n + 1]; ++b) {
        const std::int32_t m = matrix_->columns[b];
        if (m != n && m < matrix_->owned && is_in[at(m)] && (m < n) == before)
          add_block(matrix_->block(b), y.data() + 3 * m, -1, result);
      }
    };
    const auto by_diagonal = [&](std::int32_t n, const double* from, double* to) {
      double result[3] = {};
      add_block(diagonal_.inverse(n), from, 1, result);
      std::copy_n(result, 3, to);
    };
    for (const std::int32_t n : nodes) {
      double right[3] = {r[3 * n], r[3 * n + 1], r[3 * n + 2]};
      couple(n, true, right);
      by_diagonal(n, right, y.data() + 3 * n);
    }
    for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) {
      double right[3] = {}, change[3];
      couple(*n, false, right);
      by_diagonal(*n, right, change);
      for (int a = 0; a < 3; ++a) y[at(3 * *n + a)] += change[a];
    }
    for (const std::int32_t n : nodes)
      for (int a = 0; a < 3; ++a) sums[at(3 * n + a)] += y[at(3 * n + a)];
  }
  std::copy(sums.begin(), sums.end(), z);
}

void add_product(const fem::Mesh& mesh, const fem::Materials& materials, std::span<const std::int32_t> elements,
                 const double* x, double* y) {
  for (const std::int32_t e : elements) {
    fem::Stiffness k;
    fem::stiffness_golden(mesh, materials, e, k);
    for (int p = 0; p < fem::corners; ++p) {
      const std::int64_t row = mesh.element(e)[p];
      if (row >= mesh.owned) continue;
      for (int q = 0; q < fem::corners; ++q) {
        const std::int64_t column = mesh.element(e)[q];
        for (int a = 0; a < 3; ++a)
          for (int c = 0; c < 3; ++c) y[3 * row + a] += k[3 * p + a][3 * q + c] * x[3 * column + c];
      }
    }
  }
}

void add_rounding(const fem::Mesh& mesh, const fem::Materials& materials, std::span<const std::int32_t> elements,
                  const double* x, double* y) {
  for (const std::int32_t e : elements) {
    const fem::ElementBound bound = fem::element_error_bound(mesh, materials, e);
    const double* const shared = x + 3 * static_cast<std::int64_t>(mesh.element(e)[0]);
    for (int p = 0; p < fem::corners; ++p) {
      const std::int64_t row = mesh.element(e)[p];
      if (row >= mesh.owned) continue;
      for (int q = 0; q < fem::corners; ++q) {
        const std::int64_t column = mesh.element(e)[q];
        double sum = 0;
        for (int c = 0; c < 3; ++c)
          sum += bound.entries[p][q] * std::abs(x[3 * column + c] - shared[c]) +
                 bound.translations[p][q] * std::abs(shared[c]);
        for (int a = 0; a < 3; ++a) y[3 * row + a] += 5 * sum;
      }
    }
  }
}

} // namespace kumihimo::fem_cube::golden
