#include "hpcg/system.hpp"

#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <omp.h>

#include <utility>

namespace kumihimo::hpcg {
namespace {

// This thread's part of `n`, in a parallel region.
threads::IndexRange own_part(std::int64_t n) { return threads::part(n, omp_get_thread_num(), omp_get_num_threads()); }

// Runs the loop over the slices of all groups in their order, or in reverse; the threads wait for each other between
// groups. In a parallel region.
template <class Loop>
void sweep(const std::vector<std::int64_t>& groups, bool reversed, Loop loop) {
  const std::size_t many = groups.size() - 1;
  for (std::size_t i = 0; i < many; ++i) {
    const std::size_t g = reversed ? many - 1 - i : i;
    const threads::IndexRange mine = own_part(groups[g + 1] - groups[g]);
    if (mine.size() > 0) loop(groups[g] + mine.begin, groups[g] + mine.end);
#pragma omp barrier
  }
}

} // namespace

Result<System> System::make(std::span<const HpcgMatrix> reference, OrderingKind kind) {
  System made;
  std::vector<std::vector<std::int32_t>> points;
  std::vector<Ordering> orderings;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const bool has_coarser = i + 1 < reference.size();
    points.push_back(has_coarser ? coarse_points(reference[i].grid) : std::vector<std::int32_t>{});
    orderings.push_back(make_ordering(reference[i], kind, points.back()));
  }
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const std::int64_t rows = reference[i].rows();
    Level level{.matrix = TRY(SlicedMatrix::make(reference[i], orderings[i]))};
    level.kept = TRY(threads::ThreadedArray<double>::zeros(rows));
    if (i > 0) {
      level.r = TRY(threads::ThreadedArray<double>::zeros(rows));
      level.x = TRY(threads::ThreadedArray<double>::zeros(rows));
    }
    if (i + 1 < reference.size())
      level.restriction = TRY(Restriction::make(reference[i], orderings[i], orderings[i + 1], points[i]));
    made.levels_.push_back(std::move(level));
  }
  made.new_of_old_ = std::move(orderings.front().new_of_old);
  return made;
}

Status System::multiply(double* x, double* y) {
  const SlicedMatrix& matrix = levels_.front().matrix;
#pragma omp parallel
  {
    const threads::IndexRange mine = own_part(matrix.slices());
    hpcg::multiply(matrix.view(), mine.begin, mine.end, x, y);
  }
  return Nothing{};
}

Status System::precondition(const double* r, double* z) {
#pragma omp parallel
  cycle(0, r, z);
  return Nothing{};
}

// All threads run it together.
void System::cycle(std::size_t at, const double* r, double* x) {
  Level& level = levels_[at];
  const MatrixView& a = level.matrix.view();
  const std::vector<std::int64_t>& groups = level.matrix.groups();
  sweep(groups, false, [&](std::int64_t begin, std::int64_t end) { forward_from_zero(a, begin, end, r, x); });
  sweep(groups, true, [&](std::int64_t begin, std::int64_t end) { backward_after_zero(a, begin, end, x); });
  if (at + 1 == levels_.size()) return;
  Level& coarser = levels_[at + 1];
  const RestrictionView restriction = level.restriction.view();
  const threads::IndexRange slices = own_part(level.restriction.slices());
  restrict_residual(restriction, slices.begin, slices.end, a.diagonal, r, x, coarser.r.data());
#pragma omp barrier
  cycle(at + 1, coarser.r.data(), coarser.x.data());
  const threads::IndexRange mine = own_part(restriction.rows);
  prolong(restriction.fine, mine.begin, mine.end, coarser.x.data(), x);
#pragma omp barrier
  double* const kept = level.kept.data();
  sweep(groups, false, [&](std::int64_t begin, std::int64_t end) { forward(a, begin, end, r, x, kept); });
  sweep(groups, true, [&](std::int64_t begin, std::int64_t end) { backward(a, begin, end, kept, x); });
}

void System::to_system(const double* natural, double* ordered) const {
  for (std::size_t i = 0; i < new_of_old_.size(); ++i) ordered[new_of_old_[i]] = natural[i];
}

void System::to_natural(const double* ordered, double* natural) const {
  for (std::size_t i = 0; i < new_of_old_.size(); ++i) natural[i] = ordered[new_of_old_[i]];
}

std::int64_t System::stored_entries(int level) const {
  const SlicedMatrix& m = levels_[static_cast<std::size_t>(level)].matrix;
  return (m.view().lower.begin[m.slices()] + m.view().upper.begin[m.slices()]) * lanes;
}

double System::bytes_per_iteration() const {
  double bytes = 0;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const SlicedMatrix& m = levels_[i].matrix;
    const double rows = static_cast<double>(m.rows()), entry = 12;
    const double lower = static_cast<double>(m.view().lower.begin[m.slices()] * lanes) * entry;
    const double upper = static_cast<double>(m.view().upper.begin[m.slices()] * lanes) * entry;
    bytes += lower + upper + rows * 8 * 6; // the two sweeps from zero: r, x, 1/d; x twice, 1/d
    if (i + 1 < levels_.size()) {
      const Level& level = levels_[i];
      bytes += static_cast<double>(level.restriction.view().entries.begin[level.restriction.slices()] * lanes) * entry;
      bytes += rows / 8 * 8 * 8;                       // r, x, d of the coarse points and their numbers, twice
      bytes += lower + 2 * upper + rows * 8 * (5 + 4); // r, x twice, 1/d, kept; kept, x twice, 1/d
    }
  }
  const SlicedMatrix& finest = levels_.front().matrix;
  bytes += static_cast<double>(stored_entries(0)) * 12 + static_cast<double>(finest.rows()) * 8 * 3; // the product
  return bytes + static_cast<double>(finest.rows()) * 8 * (2 + 3 + 2 + 6); // (r, z); p; (p, Ap); x, r
}

} // namespace kumihimo::hpcg
