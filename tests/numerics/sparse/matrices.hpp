// Matrices of the tests: symmetric, diagonally dominant, so that IC(0) exists in every order.
#pragma once

#include "sparse/colouring.hpp"
#include "sparse/crs_matrix.hpp"
#include "sparse/numbering.hpp"
#include "sparse/poisson.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace kumihimo::sparse {

using Places = std::map<std::pair<std::int32_t, std::int32_t>, double>;

inline CrsMatrix matrix_of(std::int32_t n, const Places& places) {
  CrsMatrix a;
  a.rows = a.columns = n;
  a.begin.assign(static_cast<std::size_t>(n) + 1, 0);
  for (const auto& [place, value] : places) {
    ++a.begin[place.first + 1];
    a.column.push_back(place.second);
    a.value.push_back(value);
  }
  for (std::int32_t i = 0; i < n; ++i) a.begin[i + 1] += a.begin[i];
  return a;
}

// Off-diagonals with random signs at these edges, and a dominant diagonal.
inline CrsMatrix dominant(std::int32_t n, const std::vector<std::pair<std::int32_t, std::int32_t>>& edges,
                          unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  Places places;
  for (const auto& [i, j] : edges)
    if (i != j) places[{i, j}] = places[{j, i}] = value(random);
  std::vector<double> sum(static_cast<std::size_t>(n), 0.1);
  for (const auto& [place, v] : places) sum[place.first] += std::abs(v);
  for (std::int32_t i = 0; i < n; ++i) places[{i, i}] = sum[i];
  return matrix_of(n, places);
}

inline CrsMatrix random_matrix(std::int32_t n, int edges, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::int32_t> row(0, n - 1);
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  for (int e = 0; e < edges; ++e) pairs.emplace_back(row(random), row(random));
  return dominant(n, pairs, seed + 1);
}

// Row n / 2 is a neighbour of all others.
inline CrsMatrix star(std::int32_t n) {
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  for (std::int32_t i = 0; i < n; ++i) pairs.emplace_back(i, n / 2);
  return dominant(n, pairs, 7);
}

inline CrsMatrix poisson(std::int32_t nx, std::int32_t ny, std::int32_t nz) {
  return *poisson_matrix({nx, ny, nz, 0.5, 1, 2});
}

struct Named {
  std::string name;
  CrsMatrix matrix;
};

inline std::vector<Named> matrices() {
  std::vector<Named> all;
  all.push_back({"1x1", dominant(1, {}, 1)});
  all.push_back({"diagonal only", dominant(37, {}, 2)});
  all.push_back({"star", star(300)});
  all.push_back({"clique", random_matrix(12, 1000, 3)});
  all.push_back({"sparse, several parts", random_matrix(200, 120, 4)});
  all.push_back({"random", random_matrix(500, 2500, 5)});
  all.push_back({"random, larger", random_matrix(1200, 3600, 6)});
  for (const auto& [x, y, z] :
       std::vector<std::array<int, 3>>{{1, 1, 1}, {7, 1, 1}, {5, 3, 2}, {17, 9, 4}, {1, 31, 33}, {12, 12, 12}})
    all.push_back(
        {"poisson " + std::to_string(x) + "x" + std::to_string(y) + "x" + std::to_string(z), poisson(x, y, z)});
  return all;
}

// The matrix with row i of the result = row old_of[i].
inline CrsMatrix permuted(const CrsMatrix& a, const std::vector<std::int32_t>& old_of) {
  std::vector<std::int32_t> new_of(old_of.size());
  for (std::size_t i = 0; i < old_of.size(); ++i) new_of[old_of[i]] = static_cast<std::int32_t>(i);
  Places places;
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.begin[i]; k < a.begin[i + 1]; ++k) places[{new_of[i], new_of[a.column[k]]}] = a.value[k];
  return matrix_of(a.rows, places);
}

inline std::vector<double> random_vector(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<double> x(static_cast<std::size_t>(n));
  for (double& v : x) v = value(random);
  return x;
}

} // namespace kumihimo::sparse
