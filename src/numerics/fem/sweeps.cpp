#include "fem/sweeps.hpp"

#include "fem/row_sums.hpp"
#include "threads/processor_clones.hpp"

#include <algorithm>
#include <string>

namespace kumihimo::fem {
namespace {

KUMIHIMO_PROCESSOR_CLONES void sweep_forward(const std::int32_t* row_begin, const std::int32_t* columns,
                                             const double* values, const double* inverse, const std::int32_t* nodes,
                                             const double* r, double* work, std::int64_t begin, std::int64_t end) {
  for (std::int64_t n = begin; n < end; ++n) {
    RowSums sums, solved;
    for (std::int32_t at = row_begin[n]; at < row_begin[n + 1]; ++at)
      sums.add(values + 9 * static_cast<std::int64_t>(at), work + 3 * static_cast<std::int64_t>(columns[at]));
    double rest[3];
    for (int a = 0; a < 3; ++a) rest[a] = r[3 * static_cast<std::int64_t>(nodes[n]) + a] - sums.of(a);
    solved.add(inverse + 9 * n, rest);
    for (int a = 0; a < 3; ++a) work[3 * n + a] = solved.of(a);
  }
}

KUMIHIMO_PROCESSOR_CLONES void sweep_backward(const std::int32_t* row_begin, const std::int32_t* columns,
                                              const double* values, const double* inverse, double* work,
                                              std::int64_t begin, std::int64_t end) {
  for (std::int64_t n = end - 1; n >= begin; --n) {
    RowSums sums, solved;
    for (std::int32_t at = row_begin[n]; at < row_begin[n + 1]; ++at)
      sums.add(values + 9 * static_cast<std::int64_t>(at), work + 3 * static_cast<std::int64_t>(columns[at]));
    double sum[3];
    for (int a = 0; a < 3; ++a) sum[a] = sums.of(a);
    solved.add(inverse + 9 * n, sum);
    for (int a = 0; a < 3; ++a) work[3 * n + a] -= solved.of(a);
  }
}

} // namespace

bool invert_block(const double* block, double* inverse) {
  double minors[9];
  for (int a = 0; a < 3; ++a)
    for (int d = 0; d < 3; ++d) {
      const int a1 = (a + 1) % 3, a2 = (a + 2) % 3, d1 = (d + 1) % 3, d2 = (d + 2) % 3;
      minors[3 * a + d] = block[3 * d1 + a1] * block[3 * d2 + a2] - block[3 * d1 + a2] * block[3 * d2 + a1];
    }
  const double det = block[0] * minors[0] + block[1] * minors[3] + block[2] * minors[6];
  if (!(block[0] > 0 && minors[8] > 0 && det > 0)) return false; // Sylvester's criterion
  for (int i = 0; i < 9; ++i) inverse[i] = minors[i] / det;
  return true;
}

Result<Sweeps::Triangle> Sweeps::triangle(const BlockMatrix& matrix, const std::vector<std::int32_t>& nodes,
                                          RowNumbers& position, bool lower) {
  Triangle made;
  const auto rows = static_cast<std::int64_t>(nodes.size());
  made.begin = TRY(threads::ThreadedArray<std::int32_t>::zeros(rows + 1));
  // Blocks of a row by their position: neighbours in the sweep are neighbours in memory.
  std::vector<std::pair<std::int32_t, std::int32_t>> row; // position, address
  const auto collect = [&](std::int64_t i) {
    row.clear();
    const std::int32_t n = nodes[static_cast<std::size_t>(i)];
    for (std::int32_t at = matrix.row_begin[n]; at < matrix.row_begin[n + 1]; ++at) {
      const std::int32_t other = position[matrix.columns[at]];
      if (other != RowNumbers::outside && (lower ? other < i : other > i)) row.emplace_back(other, at);
    }
    std::sort(row.begin(), row.end());
  };
  for (std::int64_t i = 0; i < rows; ++i) {
    collect(i);
    made.begin[i + 1] = made.begin[i] + static_cast<std::int32_t>(row.size());
  }
  made.columns = TRY(threads::ThreadedArray<std::int32_t>::zeros(made.begin[rows]));
  made.values = TRY(threads::ThreadedArray<double>::zeros(9 * static_cast<std::int64_t>(made.begin[rows]) + 3));
  for (std::int64_t i = 0; i < rows; ++i) {
    collect(i);
    std::int64_t to = made.begin[i];
    for (const auto& [other, at] : row) {
      made.columns[to] = other;
      std::copy_n(matrix.block(at), 9, made.values.data() + 9 * to++);
    }
  }
  return made;
}

Result<Sweeps> Sweeps::make(const BlockMatrix& matrix, const std::vector<std::int32_t>& nodes) {
  RowNumbers work(matrix);
  return make(matrix, nodes, work);
}

Result<Sweeps> Sweeps::make(const BlockMatrix& matrix, const std::vector<std::int32_t>& nodes, RowNumbers& position) {
  Sweeps made;
  for (std::size_t i = 0; i < nodes.size(); ++i) position[nodes[i]] = static_cast<std::int32_t>(i);
  made.nodes_ = nodes;
  Result<Triangle> lower = triangle(matrix, nodes, position, true), upper = triangle(matrix, nodes, position, false);
  position.reset(nodes);
  made.lower_ = TRY(std::move(lower));
  made.upper_ = TRY(std::move(upper));
  made.inverse_diagonal_ = TRY(threads::ThreadedArray<double>::zeros(9 * made.size() + 3));
  for (std::int64_t i = 0; i < made.size(); ++i) {
    const std::int32_t n = nodes[static_cast<std::size_t>(i)];
    if (!invert_block(matrix.block(matrix.find(n, n)), made.inverse_diagonal_.data() + 9 * i))
      return wrong_value("the diagonal block of node " + std::to_string(n) + " must be positive definite", {},
                         "check the materials and the prescribed displacements");
  }
  return made;
}

void Sweeps::forward(std::int64_t begin, std::int64_t end, const double* r, double* work) const {
  sweep_forward(lower_.begin.data(), lower_.columns.data(), lower_.values.data(), inverse_diagonal_.data(),
                nodes_.data(), r, work, begin, end);
}

void Sweeps::backward(std::int64_t begin, std::int64_t end, double* work) const {
  sweep_backward(upper_.begin.data(), upper_.columns.data(), upper_.values.data(), inverse_diagonal_.data(), work,
                 begin, end);
}

double Sweeps::bytes() const {
  const auto blocks = static_cast<double>(lower_.columns.size() + upper_.columns.size());
  // Each sweep: row begins and diagonal blocks; r, nodes and work written, then work read and written.
  return blocks * (9 * 8 + 4) + static_cast<double>(size()) * (2 * (4 + 72) + 24 + 4 + 3 * 24);
}

// A block is 9 products and sums; a diagonal block of each sweep 9 products and 6 sums, of the second 3 differences
// too.
double Sweeps::flops() const {
  const auto blocks = static_cast<double>(lower_.columns.size() + upper_.columns.size());
  return blocks * 18 + static_cast<double>(size()) * (2 * 15 + 3);
}

} // namespace kumihimo::fem
