#include "lu/test_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kumihimo::lu {
namespace {

// D. E. Knuth, MMIX. The high bits decide.
constexpr std::uint64_t multiplier = 6364136223846793005U, increment = 1442695040888963407U;

double value_of(std::uint64_t state) { return static_cast<double>(static_cast<std::int64_t>(state)) * 0x1p-64; }

double growing(std::int64_t i, std::int64_t j, std::int64_t n) {
  if (j == n - 1 || i == j) return 1;
  return i > j ? -1 : 0;
}

} // namespace

Status check_column(std::int64_t j, std::span<const double> entries) {
  const auto wrong = std::ranges::find_if_not(entries, [](double entry) { return std::isfinite(entry); });
  if (wrong == entries.end()) return Nothing{};
  return failed(fmt::format("column {} of the matrix holds {}", j, std::isnan(*wrong) ? "a NaN" : "an infinity"), {},
                "use a matrix of finite numbers");
}

TestMatrix::TestMatrix(MatrixKind kind, std::int64_t n, std::uint64_t seed) : kind_(kind), n_(n), seed_(seed) {
  Jump one{multiplier, increment};
  for (Jump& each : powers_) {
    each = one;
    one = {one.multiplier * one.multiplier, one.multiplier * one.increment + one.increment};
  }
}

TestMatrix::Jump TestMatrix::jump(std::uint64_t steps) const {
  Jump made;
  for (std::size_t k = 0; steps > 0; ++k, steps >>= 1)
    if (steps & 1)
      made = {powers_[k].multiplier * made.multiplier, powers_[k].multiplier * made.increment + powers_[k].increment};
  return made;
}

double TestMatrix::at(std::int64_t i, std::int64_t j) const {
  if (is_special_column(j)) {
    if (kind_ == MatrixKind::growing) return growing(i, j, n_);
    if (kind_ == MatrixKind::singular) return 0;
    if (i == j) return std::numeric_limits<double>::quiet_NaN();
  }
  return value_of(jump(static_cast<std::uint64_t>(j * n_ + i) + 1)(seed_));
}

void TestMatrix::fill(std::int64_t j, const BlockCyclic& rows, std::int32_t part, double* column) const {
  const std::int64_t count = rows.count(part);
  if (count == 0) return;
  if (is_special_column(j)) {
    for (std::int64_t l = 0; l < count; ++l) column[l] = at(rows.global(part, l), j);
    return;
  }
  const Jump over = jump(static_cast<std::uint64_t>((rows.parts - 1) * rows.block + 1)), next = powers_[0];
  std::uint64_t state = jump(static_cast<std::uint64_t>(j * n_ + rows.global(part, 0)) + 1)(seed_);
  for (std::int64_t l = 0; l < count; ++l) {
    if (l > 0) state = (l % rows.block == 0 ? over : next)(state);
    column[l] = value_of(state);
  }
}

} // namespace kumihimo::lu
