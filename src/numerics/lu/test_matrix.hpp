// Matrices that every process makes its own part of, by position, as HPL does: nobody sends or stores them twice.
#pragma once

#include "base/result.hpp"
#include "lu/block_cyclic.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace kumihimo::lu {

// random: from -0.5 to 0.5. growing: Wilkinson's, whose entries grow to 2^(n-1) under row pivoting. singular: random,
// with a column of zeros in the middle. nan: random, with one NaN in the middle.
enum class MatrixKind { random, growing, singular, nan };
inline constexpr std::array<std::string_view, 4> matrix_kinds = {"random", "growing", "singular", "nan"};

// Error: an entry of column j is no finite number.
Status check_column(std::int64_t j, std::span<const double> entries);

// n rows and n + 1 columns: the last one is the right side b, always random. Element (i, j) of a random matrix is
// number j n + i of a linear congruential generator (the idea of HPL's HPL_pdmatgen), which jumps to any number in
// O(log).
class TestMatrix {
 public:
  TestMatrix(MatrixKind kind, std::int64_t n, std::uint64_t seed);

  std::int64_t size() const { return n_; }
  double at(std::int64_t i, std::int64_t j) const;
  // The rows of a part in one column, in their order.
  void fill(std::int64_t j, const BlockCyclic& rows, std::int32_t part, double* column) const;

 private:
  struct Jump { // of the state x to multiplier x + increment
    std::uint64_t multiplier = 1, increment = 0;
    std::uint64_t operator()(std::uint64_t x) const { return multiplier * x + increment; }
  };
  Jump jump(std::uint64_t steps) const;
  // By position, not by number.
  bool is_special_column(std::int64_t j) const {
    return j < n_ && (kind_ == MatrixKind::growing || (kind_ != MatrixKind::random && j == n_ / 2));
  }

  MatrixKind kind_;
  std::int64_t n_;
  std::uint64_t seed_;
  std::array<Jump, 64> powers_; // of 2^k steps
};

} // namespace kumihimo::lu
