#include "hartree_fock/diis.hpp"

#include "hartree_fock/linear_algebra.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace kumihimo::hartree_fock {

// Equation 6 of the paper: c and a multiplier where |sum c_i e_i| is least under sum c_i = 1. Errors of late iterations
// are far smaller than those of early ones, so the unknowns are y_i = c_i |e_i| / |e_n|, of errors of norm 1. Errors
// that depend on each other make the matrix singular: solve() then takes the shortest of the solutions.
Matrix Diis::extrapolate(const Matrix& fock, const Matrix& error) {
  const double norm = std::sqrt(inner(error, error));
  if (norm == 0) return fock;
  pairs_.push_back({fock, error, norm});
  if (pairs_.size() > most_) pairs_.pop_front();
  const int n = static_cast<int>(pairs_.size());
  Matrix b(n + 1);
  for (int i = 0; i < n; ++i) {
    b(i, n) = b(n, i) = norm / pairs_[i].norm;
    for (int j = 0; j < n; ++j) b(i, j) = inner(pairs_[i].error, pairs_[j].error) / (pairs_[i].norm * pairs_[j].norm);
  }
  std::vector<double> right(static_cast<std::size_t>(n) + 1);
  right.back() = 1;
  const std::vector<double> y = solve(b, right);
  Matrix found(fock.size);
  for (int i = 0; i < n; ++i) found = sum(found, pairs_[i].fock, y[i] * b(i, n));
  return found;
}

// One pair after the other: its size, its norm, both matrices.
void Diis::list_state(StateList& list) {
  const auto pack = [this] {
    std::vector<double> numbers;
    for (const Pair& pair : pairs_) {
      numbers.insert(numbers.end(), {static_cast<double>(pair.fock.size), pair.norm});
      for (const Matrix* const each : {&pair.fock, &pair.error})
        numbers.insert(numbers.end(), each->values.begin(), each->values.end());
    }
    const auto bytes = std::as_bytes(std::span(numbers));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  const auto unpack = [this](std::span<const std::byte> bytes) -> Status {
    const Error no_pairs = failed("the state holds no matrices of DIIS");
    std::vector<double> numbers(bytes.size() / sizeof(double));
    if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(double));
    std::deque<Pair> pairs;
    for (std::span<const double> left(numbers); !left.empty();) {
      if (left.size() < 2 || !(left[0] >= 1 && left[0] < 1e6)) return no_pairs;
      Pair pair{Matrix(static_cast<int>(left[0])), {}, left[1]};
      const std::size_t entries = pair.fock.values.size();
      pair.error = pair.fock;
      left = left.subspan(2);
      if (left.size() < 2 * entries) return no_pairs;
      std::copy_n(left.begin(), entries, pair.fock.values.begin());
      std::copy_n(left.begin() + static_cast<std::ptrdiff_t>(entries), entries, pair.error.values.begin());
      left = left.subspan(2 * entries);
      pairs.push_back(std::move(pair));
    }
    pairs_ = std::move(pairs);
    return Nothing{};
  };
  list.add({"DIIS", {}, pack, unpack});
}

} // namespace kumihimo::hartree_fock
