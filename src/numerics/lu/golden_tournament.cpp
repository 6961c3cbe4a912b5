#include "lu/golden_tournament.hpp"

#include "lu/panel.hpp"
#include "lu/test_matrix.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace kumihimo::lu::golden {
namespace {

using RowNumbers = std::vector<std::int64_t>;

class TournamentOfPanel {
 public:
  TournamentOfPanel(const Factors& f, std::int64_t first, std::int64_t width) : f_(f), first_(first), width_(width) {}

  RowNumbers winners(std::int64_t leaf_rows, const BlockCyclic& rows) const {
    std::vector<RowNumbers> best;
    for (std::int32_t part = 0; part < rows.parts; ++part) best.push_back(best_of_part(part, leaf_rows, rows));
    const auto stay = std::bit_floor(best.size()), pairs = best.size() - stay;
    for (std::size_t i = 0; i < pairs; ++i) {
      best[i] = best_of(best[i], best[i + 1]);
      best.erase(best.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
    return best_of_tree(std::move(best));
  }

 private:
  RowNumbers best_of_part(std::int32_t part, std::int64_t leaf_rows, const BlockCyclic& rows) const {
    RowNumbers own;
    for (std::int64_t row = first_; row < f_.n; ++row)
      if (rows.owner(row) == part) own.push_back(row);
    std::vector<RowNumbers> leaves;
    for (auto at = own.cbegin(); at != own.cend();) {
      const auto end = at + std::min<std::ptrdiff_t>(leaf_rows, own.cend() - at);
      leaves.push_back(best_of_leaf({at, end}));
      at = end;
    }
    return leaves.empty() ? RowNumbers{} : best_of_tree(std::move(leaves));
  }

  RowNumbers best_of_tree(std::vector<RowNumbers> best) const {
    while (best.size() > 1) {
      std::vector<RowNumbers> next;
      for (std::size_t i = 0; i < best.size(); i += 2)
        next.push_back(i + 1 < best.size() ? best_of(best[i], best[i + 1]) : best[i]);
      best = std::move(next);
    }
    return best.front();
  }

  RowNumbers best_of_leaf(const RowNumbers& rows) const {
    RowNumbers best;
    for (auto at = rows.cbegin(); at != rows.cend();) {
      const auto end = at + std::min<std::ptrdiff_t>(4 * width_, rows.cend() - at);
      best = best_of(best, {at, end});
      at = end;
    }
    return best;
  }

  RowNumbers best_of(RowNumbers rows, const RowNumbers& others) const {
    rows.insert(rows.end(), others.begin(), others.end());
    std::vector<std::vector<double>> work;
    for (const std::int64_t row : rows) {
      work.emplace_back();
      for (std::int64_t j = first_; j < first_ + width_; ++j)
        work.back().push_back(f_.lu[static_cast<std::size_t>(row + j * f_.n)]);
    }
    const std::size_t columns = std::min(rows.size(), static_cast<std::size_t>(width_));
    for (std::size_t k = 0; k < columns && rows.size() > 1; ++k) {
      std::size_t pivot = k;
      for (std::size_t i = k; i < rows.size() && !std::isnan(work[pivot][k]); ++i)
        if (std::isnan(work[i][k]) || std::fabs(work[i][k]) > std::fabs(work[pivot][k])) pivot = i;
      std::swap(work[k], work[pivot]);
      std::swap(rows[k], rows[pivot]);
      if (work[k][k] == 0) continue;
      for (std::size_t i = k + 1; i < rows.size(); ++i)
        for (std::size_t j = k + 1; j < columns; ++j) work[i][j] -= work[i][k] / work[k][k] * work[k][j];
    }
    rows.resize(columns);
    return rows;
  }

  const Factors& f_;
  std::int64_t first_, width_;
};

} // namespace

std::vector<std::int64_t> pivots_of_panel(const Factors& factors, std::int64_t first, std::int64_t width,
                                          std::int64_t leaf_rows, const BlockCyclic& of_parts) {
  RowNumbers rows = TournamentOfPanel(factors, first, width).winners(leaf_rows, of_parts);
  for (std::int64_t k = 0; k < width; ++k) { // row first + k goes where its pivot stood
    const std::int64_t pivot = rows[static_cast<std::size_t>(k)];
    std::replace(rows.begin() + k + 1, rows.end(), first + k, pivot);
  }
  return rows;
}

Result<Factors> factor_by_tournament(std::vector<double> matrix, std::int64_t n, std::int64_t block,
                                     std::int64_t leaf_rows, std::int32_t parts) {
  for (std::int64_t j = 0; j < n; ++j)
    if (Status s = check_column(j, {matrix.data() + j * n, static_cast<std::size_t>(n)}); !s) return s.error();
  Factors f{n, std::move(matrix), {}};
  const auto a = [&](std::int64_t i, std::int64_t j) -> double& { return f.lu[static_cast<std::size_t>(i + j * n)]; };
  for (std::int64_t first = 0; first < n; first += block) {
    const std::int64_t end = std::min(n, first + block);
    for (const std::int64_t pivot : pivots_of_panel(f, first, end - first, leaf_rows, {n, block, parts})) {
      const auto k = static_cast<std::int64_t>(f.pivots.size());
      f.pivots.push_back(pivot);
      for (std::int64_t j = 0; j < n; ++j) std::swap(a(k, j), a(pivot, j));
    }
    for (std::int64_t k = first; k < end; ++k) {
      if (!is_pivot(a(k, k))) return MissingPivot{k, a(k, k)}.error();
      for (std::int64_t i = k + 1; i < n; ++i) a(i, k) /= a(k, k);
      for (std::int64_t j = k + 1; j < n; ++j)
        for (std::int64_t i = k + 1; i < n; ++i) a(i, j) -= a(i, k) * a(k, j);
    }
  }
  return f;
}

} // namespace kumihimo::lu::golden
