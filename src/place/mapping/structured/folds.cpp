#include "mapping/structured/folds.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace kumihimo::mapping {
namespace {

constexpr std::size_t most_splits = 4096, most_tried = 20000;

// A factor of a lattice axis, which lies on an axis of the box.
struct AxisFactor {
  std::size_t box_axis = 0;
  std::int32_t length = 1;
};

// Factors in the order of significance, most significant first, on their lattice axis and on their box axis.
struct LatticeFold {
  std::vector<std::vector<AxisFactor>> of_lattice_axis;
  std::vector<std::vector<std::size_t>> order_on_box_axis; // of lattice axes
  bool reflects = true;                                    // lower factors on box axes
};

// Where a fold puts a place of the lattice.
class Folded {
 public:
  Folded(const LatticeFold& fold, const Shape& shape, const Box& box) : fold_(fold), shape_(shape), box_(box) {
    for (std::size_t axis = 0; axis < fold.of_lattice_axis.size(); ++axis)
      is_closed_walk_.push_back(shape.axes()[axis].wraps && has_closed_walk(fold.of_lattice_axis[axis]));
  }

  void coordinates(std::int32_t place, std::vector<Coordinate>& at) {
    const std::size_t box_axes = box_.axes.size();
    digit_.assign(fold_.of_lattice_axis.size() * box_axes, {0, 1});
    for (std::size_t axis = 0; axis < fold_.of_lattice_axis.size(); ++axis) {
      std::int32_t rest = shape_.coordinate(place, static_cast<std::int32_t>(axis));
      std::int32_t below = shape_.length(static_cast<std::int32_t>(axis)), prefix = 0;
      for (const AxisFactor& factor : fold_.of_lattice_axis[axis]) {
        below /= factor.length;
        std::int32_t digit = rest / below;
        rest %= below;
        const std::int32_t digit_before = digit;
        const bool is_reflected = prefix % 2 != 0;
        if (is_closed_walk_[axis] && &factor == &fold_.of_lattice_axis[axis].back())
          digit = turned(digit, prefix, fold_.of_lattice_axis[axis].front().length, factor.length);
        else if (is_reflected)
          digit = factor.length - 1 - digit;
        prefix = prefix * factor.length + digit_before;
        digit_[axis * box_axes + factor.box_axis] = {digit, factor.length};
      }
    }
    at.assign(box_axes, 0);
    for (std::size_t axis = 0; axis < box_axes; ++axis)
      for (const std::size_t lattice_axis : fold_.order_on_box_axis[axis]) {
        auto [digit, length] = digit_[lattice_axis * box_axes + axis];
        if (fold_.reflects && at[axis] % 2 != 0) digit = length - 1 - digit;
        at[axis] = at[axis] * length + digit;
      }
  }

 private:
  // A snake over two rings of odd lengths does not end next to its start. A walk does that goes once round the shorter
  // ring in each row, and starts each row where the one before ended.
  bool has_closed_walk(const std::vector<AxisFactor>& factors) const {
    const auto is_odd_ring = [&](const AxisFactor& factor) {
      const Axis& axis = box_.axes[factor.box_axis];
      return axis.wraps && axis.length == factor.length && factor.length % 2 != 0;
    };
    return factors.size() == 2 && factors.back().length <= factors.front().length &&
           std::all_of(factors.begin(), factors.end(), is_odd_ring);
  }

  // A row that goes forwards ends one place before its start, one that goes backwards one place behind it. The first
  // (rows + length) / 2 rows go forwards: in all, starts go back by `length`, which is once round.
  static std::int32_t turned(std::int32_t digit, std::int32_t row, std::int32_t rows, std::int32_t length) {
    const std::int32_t forwards = (rows + length) / 2;
    const std::int32_t place = row < forwards ? digit - row : row - 2 * forwards - digit;
    return (place % length + length) % length;
  }

  const LatticeFold& fold_;
  const Shape& shape_;
  const Box& box_;
  std::vector<bool> is_closed_walk_;                         // by lattice axis
  std::vector<std::pair<std::int32_t, std::int32_t>> digit_; // value and length, by lattice axis and box axis
};

// All ways to split lattice axes into factors that make up the box axes: a matrix of factors.
class Splits {
 public:
  Splits(const Shape& shape, const Box& box) : shape_(shape), box_(box) {
    for (const Axis& axis : box.axes) left_.push_back(axis.length);
    factors_.assign(static_cast<std::size_t>(shape.dimensions()), std::vector<std::int32_t>(box.axes.size(), 1));
  }

  // All folds, those of fewest factors first.
  std::vector<std::vector<std::vector<std::int32_t>>> all() {
    const std::size_t axes = factors_.size() * box_.axes.size();
    for (most_factors_ = std::max(factors_.size(), box_.axes.size()); most_factors_ <= axes; ++most_factors_) {
      if (found_.size() >= most_splits) break;
      split(0, 0, shape_.length(0), 0);
    }
    return std::move(found_);
  }

 private:
  void split(std::size_t axis, std::size_t box_axis, std::int32_t rest, std::size_t factors) {
    if (found_.size() >= most_splits || ++steps_ > 1'000'000) return;
    if (box_axis == box_.axes.size()) {
      if (rest != 1) return;
      if (axis + 1 < factors_.size()) {
        split(axis + 1, 0, shape_.length(static_cast<std::int32_t>(axis) + 1), factors);
      } else if (factors == most_factors_ &&
                 std::all_of(left_.begin(), left_.end(), [](std::int32_t left) { return left == 1; })) {
        found_.push_back(factors_);
      }
      return;
    }
    const std::int32_t most = std::gcd(rest, left_[box_axis]);
    for (std::int32_t factor = most; factor >= 1; --factor) {
      if (rest % factor != 0 || left_[box_axis] % factor != 0) continue;
      if (factor > 1 && factors == most_factors_) continue;
      left_[box_axis] /= factor;
      factors_[axis][box_axis] = factor;
      split(axis, box_axis + 1, rest / factor, factors + (factor > 1));
      left_[box_axis] *= factor;
    }
    factors_[axis][box_axis] = 1;
  }

  const Shape& shape_;
  const Box& box_;
  std::vector<std::int32_t> left_;
  std::vector<std::vector<std::int32_t>> factors_;
  std::vector<std::vector<std::vector<std::int32_t>>> found_;
  std::size_t most_factors_ = 0;
  std::int64_t steps_ = 0;
};

// A fold of the split: its number says the order on each axis. Numbers count up to orders_of().
LatticeFold fold_of(const std::vector<std::vector<std::int32_t>>& split, std::uint64_t number) {
  LatticeFold fold;
  fold.reflects = number % 2 == 0;
  number /= 2;
  // The number picks one permutation after the other.
  const auto permuted = [&](auto& items) {
    for (std::size_t at = items.size(); at > 1; --at) {
      std::swap(items[at - 1], items[number % at]);
      number /= at;
    }
  };
  for (std::size_t axis = 0; axis < split.size(); ++axis) {
    std::vector<AxisFactor>& factors = fold.of_lattice_axis.emplace_back();
    for (std::size_t on = 0; on < split[axis].size(); ++on)
      if (split[axis][on] > 1) factors.push_back({on, split[axis][on]});
    permuted(factors);
  }
  for (std::size_t on = 0; on < split.front().size(); ++on) {
    std::vector<std::size_t>& order = fold.order_on_box_axis.emplace_back();
    for (std::size_t axis = 0; axis < split.size(); ++axis)
      if (split[axis][on] > 1) order.push_back(axis);
    permuted(order);
  }
  return fold;
}

std::uint64_t orders_of(const std::vector<std::vector<std::int32_t>>& split) {
  std::uint64_t orders = 2;
  const auto multiply = [&](std::size_t items) {
    for (std::size_t at = items; at > 1 && orders < most_tried; --at) orders *= at;
  };
  for (const auto& row : split)
    multiply(static_cast<std::size_t>(std::count_if(row.begin(), row.end(), [](auto f) { return f > 1; })));
  for (std::size_t on = 0; on < split.front().size(); ++on)
    multiply(static_cast<std::size_t>(
        std::count_if(split.begin(), split.end(), [&](const auto& row) { return row[on] > 1; })));
  return orders;
}

} // namespace

std::vector<CoordinatesOfRanks> folds(const Box& box, const Shape& shape, std::span<const std::int32_t> place_of_rank,
                                      std::span<const WeighedPair> pairs, std::size_t most, std::int64_t terms,
                                      std::uint64_t seed, const Tools& tools) {
  if (!box.has_axes() || pairs.empty()) return {};
  const auto splits = Splits(shape, box).all();
  std::vector<std::pair<std::size_t, std::uint64_t>> numbers; // split and order
  for (std::size_t split = 0; split < splits.size(); ++split)
    for (std::uint64_t order = 0, orders = orders_of(splits[split]); order < orders; ++order)
      if (numbers.size() < 4 * most_tried) numbers.emplace_back(split, order);
  // The simplest splits come first in any case; of the rest a random part is looked at.
  Random random(seed);
  for (std::size_t at = numbers.size(); at > most_tried / 20 + 1; --at)
    std::swap(numbers[at - 1], numbers[most_tried / 20 + random.below(at - most_tried / 20)]);
  // A sample of pairs ranks the folds. A place costs several terms.
  const std::vector<WeighedPair> sample = sample_of(pairs, 512);
  const std::size_t affordable = static_cast<std::size_t>(terms) / (8 * sample.size()) + 1;
  numbers.resize(std::min({numbers.size(), most_tried, affordable}));
  std::vector<std::pair<std::int64_t, std::size_t>> ranking;
  std::vector<Coordinate> a, b;
  for (std::size_t at = 0; at < numbers.size(); ++at) {
    if (at % 64 == 0 && tools.stop()) break;
    const LatticeFold fold = fold_of(splits[numbers[at].first], numbers[at].second);
    Folded folded(fold, shape, box);
    std::int64_t sum = 0;
    for (const WeighedPair& pair : sample) {
      folded.coordinates(place_of_rank[static_cast<std::size_t>(pair.a)], a);
      folded.coordinates(place_of_rank[static_cast<std::size_t>(pair.b)], b);
      for (std::size_t axis = 0; axis < box.axes.size(); ++axis)
        sum += pair.bytes * box.hops[axis][static_cast<std::size_t>(a[axis] * box.axes[axis].length + b[axis])];
    }
    ranking.emplace_back(sum, at);
  }
  std::sort(ranking.begin(), ranking.end());
  std::vector<CoordinatesOfRanks> found;
  for (const auto& [sum, at] : ranking) {
    if (found.size() >= most) break;
    const LatticeFold fold = fold_of(splits[numbers[at].first], numbers[at].second);
    Folded folded(fold, shape, box);
    CoordinatesOfRanks coordinates(box.axes.size(), std::vector<Coordinate>(place_of_rank.size()));
    for (std::size_t rank = 0; rank < place_of_rank.size(); ++rank) {
      folded.coordinates(place_of_rank[rank], a);
      for (std::size_t axis = 0; axis < a.size(); ++axis) coordinates[axis][rank] = a[axis];
    }
    if (std::find(found.begin(), found.end(), coordinates) == found.end()) found.push_back(std::move(coordinates));
  }
  return found;
}

} // namespace kumihimo::mapping
