#include "sparse/incomplete_cholesky.hpp"

#include "threads/team.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo::sparse {
namespace {

struct RankedEntry {
  std::int32_t rank, column;
  double value;
};

void close_row(Triangle& triangle) { triangle.begin.push_back(static_cast<std::int64_t>(triangle.column.size())); }

void add(Triangle& triangle, const RankedEntry& e) {
  triangle.column.push_back(e.column);
  triangle.value.push_back(e.value);
}

} // namespace

SplitMatrix split(const CrsMatrix& a, const Numbering& numbering) {
  SplitMatrix made;
  made.diagonal.resize(static_cast<std::size_t>(a.rows));
  const auto half = static_cast<std::size_t>(a.entries() / 2);
  for (Triangle* const triangle : {&made.lower, &made.upper}) {
    triangle->begin.reserve(static_cast<std::size_t>(a.rows) + 1);
    triangle->column.reserve(half);
    triangle->value.reserve(half);
  }
  std::vector<RankedEntry> row;
  for (std::int32_t i = 0; i < a.rows; ++i) {
    const std::int32_t old = numbering.old_of_new[i];
    row.clear();
    for (std::int64_t k = a.begin[old]; k < a.begin[old + 1]; ++k) {
      const std::int32_t j = a.column[k];
      if (j >= a.rows)
        add(made.ghosts, {j, j, a.value[k]});
      else if (j == old)
        made.diagonal[i] = a.value[k];
      else
        row.push_back({numbering.rank[numbering.new_of_old[j]], numbering.new_of_old[j], a.value[k]});
    }
    std::sort(row.begin(), row.end(), [](const RankedEntry& x, const RankedEntry& y) { return x.rank < y.rank; });
    for (const RankedEntry& e : row) add(e.rank < numbering.rank[i] ? made.lower : made.upper, e);
    close_row(made.lower);
    close_row(made.upper);
    close_row(made.ghosts);
  }
  return made;
}

namespace {

class Factorisation {
 public:
  Factorisation(const SplitMatrix& a, const Numbering& numbering, OffDiagonals kind)
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
        const threads::Range rows = numbering_.at(c, p);
        for (std::int64_t i = rows.begin; i < rows.end; ++i) eliminate(static_cast<std::int32_t>(i));
      }
    }
    for (const std::int32_t i : in_order())
      if (!(factor_.pivot[i] > 0))
        return failed(
            fmt::format("the incomplete Cholesky factorisation breaks down at row {}", numbering_.old_of_new[i] + 1),
            fmt::format("its pivot is {}", factor_.pivot[i]),
            own_ ? "the matrix may be indefinite, or too far from an M-matrix for IC(0)"
                 : "the matrix may be indefinite; otherwise use a variant whose factor has off-diagonals of its own");
    if (own_) transpose();
    return std::move(factor_);
  }

 private:
  void eliminate(std::int32_t i) {
    const Triangle& l = a_.lower;
    const std::vector<std::int32_t>& rank = numbering_.rank;
    for (std::int64_t k = l.begin[i]; k < l.begin[i + 1]; ++k) {
      const std::int32_t j = l.column[k];
      if (own_)
        for (std::int64_t p = l.begin[i], q = l.begin[j]; p < k && q < l.begin[j + 1];) {
          const std::int32_t left = rank[l.column[p]], right = rank[l.column[q]];
          if (left == right) factor_.lower[k] -= lower_[p] * lower_[q] / factor_.pivot[l.column[p]];
          if (left <= right) ++p;
          if (right <= left) ++q;
        }
      factor_.pivot[i] -= lower_[k] * lower_[k] / factor_.pivot[j];
    }
  }

  std::vector<std::int32_t> in_order() const {
    std::vector<std::int32_t> row(numbering_.rank.size());
    for (std::size_t i = 0; i < row.size(); ++i) row[numbering_.rank[i]] = static_cast<std::int32_t>(i);
    return row;
  }

  // Rows in order of elimination meet the entries of each column in the order in which the upper row has them.
  void transpose() {
    factor_.upper.resize(a_.upper.value.size());
    std::vector<std::int64_t> cursor(a_.upper.begin.begin(), a_.upper.begin.end() - 1);
    for (const std::int32_t i : in_order())
      for (std::int64_t k = a_.lower.begin[i]; k < a_.lower.begin[i + 1]; ++k)
        factor_.upper[cursor[a_.lower.column[k]]++] = lower_[k];
  }

  const SplitMatrix& a_;
  const Numbering& numbering_;
  bool own_;
  Factor factor_;
  const double* lower_ = nullptr;
};

} // namespace

Result<Factor> factorise(const SplitMatrix& a, const Numbering& numbering, OffDiagonals kind) {
  return Factorisation(a, numbering, kind).run();
}

} // namespace kumihimo::sparse
