// Small linear systems of the tests, and the sums of ranks that are threads.
#pragma once

#include "krylov/linear_system.hpp"

#include <algorithm>
#include <barrier>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <random>
#include <span>
#include <thread>
#include <vector>

namespace kumihimo::krylov {

// Rows of a sparse matrix, and a diagonal preconditioner.
struct SparseSystem : LinearSystem {
  std::int64_t n = 0;
  std::vector<std::int64_t> begins{0}, columns;
  std::vector<double> values, diagonal; // of the preconditioner: z = r / diagonal
  std::int64_t products = 0, preconditioners = 0;

  std::int64_t rows() const override { return n; }
  std::int64_t length() const override { return n; }
  void add(std::int64_t column, double value) {
    columns.push_back(column);
    values.push_back(value);
  }
  void end_row(double of_preconditioner) {
    begins.push_back(static_cast<std::int64_t>(columns.size()));
    diagonal.push_back(of_preconditioner);
    ++n;
  }
  double row(std::int64_t i, const double* x) const {
    double sum = 0;
    for (std::int64_t k = begins[static_cast<std::size_t>(i)]; k < begins[static_cast<std::size_t>(i) + 1]; ++k)
      sum += values[static_cast<std::size_t>(k)] * x[columns[static_cast<std::size_t>(k)]];
    return sum;
  }
  Status multiply(double* x, double* y) override {
    ++products;
    for (std::int64_t i = 0; i < n; ++i) y[i] = row(i, x);
    return Nothing{};
  }
  Status precondition(const double* r, double* z) override {
    ++preconditioners;
    for (std::int64_t i = 0; i < n; ++i) z[i] = r[i] / diagonal[static_cast<std::size_t>(i)];
    return Nothing{};
  }
};

// -u'' on n points in one dimension, or the 7 points of -div grad u on n^3; eigenvalues 4 sin^2 sums.
inline SparseSystem laplacian(std::int64_t n, int dimensions) {
  SparseSystem a;
  const std::int64_t ny = dimensions == 3 ? n : 1, nz = ny;
  for (std::int64_t z = 0; z < nz; ++z)
    for (std::int64_t y = 0; y < ny; ++y)
      for (std::int64_t x = 0; x < n; ++x) {
        const std::int64_t i = x + n * (y + ny * z);
        if (z > 0) a.add(i - n * ny, -1);
        if (y > 0) a.add(i - n, -1);
        if (x > 0) a.add(i - 1, -1);
        a.add(i, 2 * dimensions);
        if (x + 1 < n) a.add(i + 1, -1);
        if (y + 1 < ny) a.add(i + n, -1);
        if (z + 1 < nz) a.add(i + n * ny, -1);
        a.end_row(2 * dimensions);
      }
  return a;
}

// A = B B^T / n + I with random B: symmetric positive definite, dense.
inline SparseSystem random_dense(std::int64_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<double> b(static_cast<std::size_t>(n * n));
  for (double& each : b) each = value(random);
  SparseSystem a;
  for (std::int64_t i = 0; i < n; ++i) {
    double own = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = i == j;
      for (std::int64_t k = 0; k < n; ++k)
        sum += b[static_cast<std::size_t>(i * n + k)] * b[static_cast<std::size_t>(j * n + k)] / static_cast<double>(n);
      a.add(j, sum);
      if (i == j) own = sum;
    }
    a.end_row(own);
  }
  return a;
}

// A = H D H with the reflection H = I - 2 v v^T / v.v and eigenvalues from 1 to `condition`, evenly in their logarithm.
struct SpectrumSystem : LinearSystem {
  std::vector<double> eigenvalues, v, work;
  SpectrumSystem(std::int64_t n, double condition) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> value(-1, 1);
    for (std::int64_t i = 0; i < n; ++i) {
      eigenvalues.push_back(std::pow(condition, static_cast<double>(i) / static_cast<double>(n - 1)));
      v.push_back(value(random));
    }
  }
  std::int64_t rows() const override { return static_cast<std::int64_t>(v.size()); }
  std::int64_t length() const override { return rows(); }
  void reflect(std::vector<double>& x) const {
    double vx = 0, vv = 0;
    for (std::size_t i = 0; i < v.size(); ++i) vx += v[i] * x[i], vv += v[i] * v[i];
    for (std::size_t i = 0; i < v.size(); ++i) x[i] -= 2 * vx / vv * v[i];
  }
  Status multiply(double* x, double* y) override {
    work.assign(x, x + rows());
    reflect(work);
    for (std::size_t i = 0; i < v.size(); ++i) work[i] *= eigenvalues[i];
    reflect(work);
    std::copy(work.begin(), work.end(), y);
    return Nothing{};
  }
  Status precondition(const double* r, double* z) override {
    std::copy(r, r + rows(), z);
    return Nothing{};
  }
};

inline std::vector<double> random_vector(std::int64_t n, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<double> v(static_cast<std::size_t>(n));
  for (double& each : v) each = value(random);
  return v;
}

inline double true_residual(LinearSystem& a, std::span<const double> b, std::span<const double> x) {
  std::vector<double> in(static_cast<std::size_t>(a.length())), out(static_cast<std::size_t>(a.length()));
  std::copy(x.begin(), x.end(), in.begin());
  (void)a.multiply(in.data(), out.data());
  double rr = 0, bb = 0;
  for (std::size_t i = 0; i < b.size(); ++i) rr += (b[i] - out[i]) * (b[i] - out[i]), bb += b[i] * b[i];
  return std::sqrt(rr / bb);
}

// Ranks that are threads, with delays at random. Between start() and wait() the values are a NaN of their own: a method
// that reads them gets NaN, and one that writes them is found.
class Team {
 public:
  explicit Team(int ranks) : ranks_(ranks), barrier_(ranks), values_(static_cast<std::size_t>(ranks)) {}
  int ranks() const { return ranks_; }
  void wait() { barrier_.arrive_and_wait(); }
  std::vector<double>& values(int rank) { return values_[static_cast<std::size_t>(rank)]; }
  void run(const std::function<void(int)>& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks_; ++rank) threads.emplace_back(body, rank);
    for (std::thread& each : threads) each.join();
  }

 private:
  int ranks_;
  std::barrier<> barrier_;
  std::vector<std::vector<double>> values_;
};

class TeamSums : public Sums {
 public:
  TeamSums(Team& team, int rank) : team_(team), rank_(rank), random_(static_cast<unsigned>(rank)) {}
  int touched = 0, overlaps = 0, blocking = 0;

  Status sum(std::span<double> values) override {
    ++blocking;
    begin(values);
    return finish();
  }
  Status start(std::span<double> values) override {
    ++overlaps;
    begin(values);
    return Nothing{};
  }
  Status wait() override { return finish(); }

 private:
  static constexpr std::uint64_t poison = 0x7ff8dead00000000;

  void begin(std::span<double> values) {
    if (!under_way_.empty()) ++touched;
    team_.values(rank_).assign(values.begin(), values.end());
    under_way_ = values;
    std::fill(values.begin(), values.end(), std::bit_cast<double>(poison));
  }
  Status finish() {
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 50));
    for (const double each : under_way_) touched += std::bit_cast<std::uint64_t>(each) != poison;
    team_.wait();
    for (std::size_t k = 0; k < under_way_.size(); ++k) {
      double sum = 0;
      for (int rank = 0; rank < team_.ranks(); ++rank) sum += team_.values(rank)[k];
      under_way_[k] = sum;
    }
    under_way_ = {};
    team_.wait();
    return Nothing{};
  }

  Team& team_;
  int rank_;
  std::mt19937 random_;
  std::span<double> under_way_;
};

// The rows of one rank of a sparse system; vectors are exchanged through an array of all ranks.
struct PartSystem : LinearSystem {
  const SparseSystem& whole;
  Team& team;
  std::vector<double>& shared;
  std::int64_t first, count;
  PartSystem(const SparseSystem& of, Team& with, std::vector<double>& exchange, int rank)
      : whole(of), team(with), shared(exchange), first(of.n * rank / with.ranks()),
        count(of.n * (rank + 1) / with.ranks() - first) {}
  std::int64_t rows() const override { return count; }
  std::int64_t length() const override { return count; }
  Status multiply(double* x, double* y) override {
    std::copy(x, x + count, shared.begin() + first);
    team.wait();
    for (std::int64_t i = 0; i < count; ++i) y[i] = whole.row(first + i, shared.data());
    team.wait();
    return Nothing{};
  }
  Status precondition(const double* r, double* z) override {
    for (std::int64_t i = 0; i < count; ++i) z[i] = r[i] / whole.diagonal[static_cast<std::size_t>(first + i)];
    return Nothing{};
  }
};

} // namespace kumihimo::krylov
