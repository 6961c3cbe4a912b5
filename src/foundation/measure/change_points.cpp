#include "measure/change_points.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace kumihimo::measure {
namespace {

// Sums of distances |v[i] - v[j]|^(1/2) over rectangles, in constant time: prefix sums over both indices.
class DistanceSums {
 public:
  explicit DistanceSums(std::span<const double> values) : n_(values.size()), sums_((n_ + 1) * (n_ + 1)) {
    for (std::size_t i = 0; i < n_; ++i) {
      double row = 0;
      for (std::size_t j = 0; j < n_; ++j) {
        row += std::sqrt(std::abs(values[i] - values[j]));
        at(i + 1, j + 1) = at(i, j + 1) + row;
      }
    }
  }
  // Over i in [from, to) and j in [first, past).
  double sum(std::size_t from, std::size_t to, std::size_t first, std::size_t past) const {
    return at(to, past) - at(from, past) - at(to, first) + at(from, first);
  }

 private:
  double& at(std::size_t i, std::size_t j) { return sums_[i * (n_ + 1) + j]; }
  double at(std::size_t i, std::size_t j) const { return sums_[i * (n_ + 1) + j]; }

  std::size_t n_;
  std::vector<double> sums_;
};

void split(std::span<const double> values, std::int64_t offset, const ChangeSearch& search, std::mt19937_64& random,
           std::vector<ChangePoint>& found) {
  const BestSplit best = best_split(values, search.shortest);
  if (best.at == 0 || best.q <= 0) return;
  std::vector<double> order(values.begin(), values.end());
  const auto most = static_cast<std::int64_t>(search.significance * static_cast<double>(search.permutations + 1)) - 1;
  std::int64_t as_large = 0;
  for (std::int64_t p = 0; p < search.permutations && as_large <= most; ++p) {
    for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
    as_large += best_split(order, search.shortest).q >= best.q;
  }
  if (as_large > most) return;
  found.push_back({offset + best.at, static_cast<double>(as_large + 1) / static_cast<double>(search.permutations + 1)});
  split(values.first(static_cast<std::size_t>(best.at)), offset, search, random, found);
  split(values.subspan(static_cast<std::size_t>(best.at)), offset + best.at, search, random, found);
}

} // namespace

BestSplit best_split(std::span<const double> values, std::int64_t shortest) {
  const auto n = values.size(), least = static_cast<std::size_t>(shortest);
  BestSplit best;
  if (n < 2 * least) return best;
  const DistanceSums distances(values);
  const std::size_t least_after = std::max(least, n / 4);
  for (std::size_t t = least; t + least <= n; ++t)
    for (std::size_t e = std::min(t + least_after, n); e <= n; ++e) {
      const double x = static_cast<double>(t), y = static_cast<double>(e - t);
      const double across = distances.sum(0, t, t, e) / (x * y);
      const double within_x = distances.sum(0, t, 0, t) / (x * (x - 1)); // over pairs of different values
      const double within_y = distances.sum(t, e, t, e) / (y * (y - 1));
      const double q = x * y / (x + y) * (2 * across - within_x - within_y);
      if (q > best.q) best = {static_cast<std::int64_t>(t), q};
    }
  return best;
}

std::vector<ChangePoint> change_points(std::span<const double> values, const ChangeSearch& search) {
  std::mt19937_64 random(20); // the same series has the same answer
  std::vector<ChangePoint> found;
  split(values, 0, search, random, found);
  std::ranges::sort(found, {}, &ChangePoint::at);
  return found;
}

} // namespace kumihimo::measure
