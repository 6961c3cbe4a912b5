#include "sparse/incomplete_cholesky.hpp"

#include "sparse/pivot.hpp"
#include "threads/team.hpp"

#include <omp.h>

#include <algorithm>
#include <utility>

namespace kumihimo::sparse {
namespace {

struct EliminationPlace {
  std::int32_t rank, number; // in the order of elimination, and the new number
};

struct RankedEntry {
  EliminationPlace place;
  double value;
};

void sort_by_rank(std::vector<RankedEntry>& row) {
  const auto is_before = [](const RankedEntry& x, const RankedEntry& y) { return x.place.rank < y.place.rank; };
  constexpr std::size_t few = 32;
  if (row.size() > few) return std::sort(row.begin(), row.end(), is_before);
  for (std::size_t i = 1; i < row.size(); ++i)
    for (std::size_t at = i; at > 0 && is_before(row[at], row[at - 1]); --at) std::swap(row[at], row[at - 1]);
}

// In the order of the matrix: its neighbouring rows go to a few colours, so writes stay on fewer pages than reads would
// in the new order.
class Splitting {
 public:
  Splitting(const CrsMatrix& a, const RowNumbering& numbering) : a_(a), numbering_(numbering) {}

  SplitMatrix run() {
    resize_in_huge_pages(place_of_old_, static_cast<std::size_t>(a_.rows));
    const int team = threads::count();
#pragma omp parallel for schedule(static) num_threads(team)
    for (std::int32_t old = 0; old < a_.rows; ++old) {
      const std::int32_t i = numbering_.new_of_old[old];
      place_of_old_[old] = {numbering_.rank[i], i};
    }
    resize_in_huge_pages(made_.diagonal, static_cast<std::size_t>(a_.rows));
    for (Triangle* const triangle : triangles_) {
      triangle->begin.clear();
      resize_in_huge_pages(triangle->begin, static_cast<std::size_t>(a_.rows) + 1);
    }
#pragma omp parallel for schedule(static) num_threads(team)
    for (std::int32_t old = 0; old < a_.rows; ++old) count(old);
    for (Triangle* const triangle : triangles_) {
      triangle->begin[0] = 0;
      for (std::int32_t i = 0; i < a_.rows; ++i) triangle->begin[i + 1] += triangle->begin[i];
      resize_in_huge_pages(triangle->column, static_cast<std::size_t>(triangle->entries()));
      resize_in_huge_pages(triangle->value, static_cast<std::size_t>(triangle->entries()));
    }
    // Memory for each thread's row comes before the threads: an exception must not leave a parallel region.
    std::int64_t longest = 0;
#pragma omp parallel for schedule(static) num_threads(team) reduction(max : longest)
    for (std::int32_t i = 0; i < a_.rows; ++i) longest = std::max(longest, a_.begin[i + 1] - a_.begin[i]);
    std::vector<std::vector<RankedEntry>> rows(static_cast<std::size_t>(team));
    for (std::vector<RankedEntry>& row : rows) row.reserve(static_cast<std::size_t>(longest));
#pragma omp parallel num_threads(team)
    {
      std::vector<RankedEntry> row = std::move(rows[static_cast<std::size_t>(omp_get_thread_num())]);
#pragma omp for schedule(static)
      for (std::int32_t old = 0; old < a_.rows; ++old) fill(old, row);
    }
    return std::move(made_);
  }

 private:
  void count(std::int32_t old) {
    const auto [rank, i] = place_of_old_[old];
    std::int64_t lower = 0, upper = 0, ghosts = 0;
    for (std::int64_t k = a_.begin[old]; k < a_.begin[old + 1]; ++k) {
      const std::int32_t j = a_.column[k];
      if (j >= a_.rows)
        ++ghosts;
      else {
        lower += place_of_old_[j].rank < rank;
        upper += place_of_old_[j].rank > rank;
      }
    }
    made_.lower.begin[i + 1] = lower;
    made_.upper.begin[i + 1] = upper;
    made_.ghosts.begin[i + 1] = ghosts;
  }

  void fill(std::int32_t old, std::vector<RankedEntry>& row) {
    const auto [rank, i] = place_of_old_[old];
    row.clear();
    std::int64_t ghost = made_.ghosts.begin[i];
    for (std::int64_t k = a_.begin[old]; k < a_.begin[old + 1]; ++k) {
      const std::int32_t j = a_.column[k];
      if (j == old)
        made_.diagonal[i] = a_.value[k];
      else if (j < a_.rows)
        row.push_back({place_of_old_[j], a_.value[k]});
      else {
        made_.ghosts.column[ghost] = j;
        made_.ghosts.value[ghost++] = a_.value[k];
      }
    }
    sort_by_rank(row);
    std::int64_t lower = made_.lower.begin[i], upper = made_.upper.begin[i];
    for (const RankedEntry& e : row) {
      Triangle& to = e.place.rank < rank ? made_.lower : made_.upper;
      std::int64_t& at = e.place.rank < rank ? lower : upper;
      to.column[at] = e.place.number;
      to.value[at++] = e.value;
    }
  }

  const CrsMatrix& a_;
  const RowNumbering& numbering_;
  UnwrittenVector<EliminationPlace> place_of_old_;
  SplitMatrix made_;
  Triangle* const triangles_[3] = {&made_.lower, &made_.upper, &made_.ghosts};
};

} // namespace

SplitMatrix split(const CrsMatrix& a, const RowNumbering& numbering) { return Splitting(a, numbering).run(); }

namespace {

class Factorisation {
 public:
  Factorisation(const SplitMatrix& a, const RowNumbering& numbering, OffDiagonals kind)
      : a_(a), numbering_(numbering), own_(kind == OffDiagonals::own) {
    factor_.pivot = a.diagonal;
    if (own_) factor_.lower = a.lower.value;
    lower_ = own_ ? factor_.lower.data() : a.lower.value.data();
  }

  Result<Factor> run() {
    const int team = threads::count();
#pragma omp parallel num_threads(team)
    for (int c = 0; c < numbering_.colours; ++c) {
#pragma omp for schedule(static)
      for (int p = 0; p < numbering_.parts; ++p) {
        const threads::IndexRange rows = numbering_.at(c, p);
        for (std::int64_t i = rows.begin; i < rows.end; ++i) eliminate(static_cast<std::int32_t>(i));
      }
    }
    std::int32_t first = numbering_.rows(); // rank of the first row that breaks down
    for (std::int32_t i = 0; i < numbering_.rows(); ++i)
      if (!(factor_.pivot[i] > least_pivot(a_.diagonal[i]))) first = std::min(first, numbering_.rank[i]);
    for (std::int32_t i = 0; i < numbering_.rows() && first < numbering_.rows(); ++i)
      if (numbering_.rank[i] == first)
        return pivot_error(
            numbering_.old_of_new[i] + std::int64_t{1}, factor_.pivot[i], a_.diagonal[i],
            own_ ? "the matrix may be indefinite, or too far from an M-matrix for IC(0)"
                 : "the matrix may be indefinite; otherwise use a variant whose factor has off-diagonals of its own");
    if (own_) transpose();
    return std::move(factor_);
  }

 private:
  void eliminate(std::int32_t i) {
    const Triangle& l = a_.lower;
    for (std::int64_t k = l.begin[i]; k < l.begin[i + 1]; ++k) {
      const std::int32_t j = l.column[k];
      if (own_) subtract_products(i, j, k);
      factor_.pivot[i] -= lower_[k] * lower_[k] / factor_.pivot[j];
    }
  }

  // l_ij -= l_im l_jm / d_m for each m left of j; k is the place of l_ij.
  void subtract_products(std::int32_t i, std::int32_t j, std::int64_t k) {
    const Triangle& l = a_.lower;
    const auto subtract = [&](std::int64_t p, std::int64_t q) {
      factor_.lower[k] -= lower_[p] * lower_[q] / factor_.pivot[l.column[p]];
    };
    const std::int64_t end = l.begin[j + 1];
    if ((k - l.begin[i]) * (end - l.begin[j]) <= few_pairs) { // no look-up of ranks
      for (std::int64_t p = l.begin[i]; p < k; ++p)
        for (std::int64_t q = l.begin[j]; q < end; ++q)
          if (l.column[p] == l.column[q]) subtract(p, q);
      return;
    }
    const auto& rank = numbering_.rank;
    for (std::int64_t p = l.begin[i], q = l.begin[j]; p < k && q < end;) {
      const std::int32_t left = rank[l.column[p]], right = rank[l.column[q]];
      if (left == right) subtract(p, q);
      if (left <= right) ++p;
      if (right <= left) ++q;
    }
  }

  // Entry (i, j) of the upper triangle is entry (j, i) of the lower one.
  void transpose() {
    factor_.upper.resize(a_.upper.value.size());
    numbering_.for_rows([&](std::int32_t i) {
      for (std::int64_t k = a_.upper.begin[i]; k < a_.upper.begin[i + 1]; ++k)
        factor_.upper[k] = lower_[place_in_lower(a_.upper.column[k], i)];
    });
  }

  std::int64_t place_in_lower(std::int32_t row, std::int32_t column) const {
    const Triangle& l = a_.lower;
    const std::int32_t* const first = l.column.data() + l.begin[row];
    const std::int32_t* const end = l.column.data() + l.begin[row + 1];
    const auto& rank = numbering_.rank;
    const std::int32_t* const at =
        end - first <= few_pairs
            ? std::find(first, end, column)
            : std::lower_bound(first, end, column, [&](std::int32_t x, std::int32_t y) { return rank[x] < rank[y]; });
    return at - l.column.data();
  }

  static constexpr std::int64_t few_pairs = 32;
  const SplitMatrix& a_;
  const RowNumbering& numbering_;
  bool own_;
  Factor factor_;
  const double* lower_ = nullptr;
};

} // namespace

Result<Factor> factorise(const SplitMatrix& a, const RowNumbering& numbering, OffDiagonals kind) {
  return Factorisation(a, numbering, kind).run();
}

} // namespace kumihimo::sparse
