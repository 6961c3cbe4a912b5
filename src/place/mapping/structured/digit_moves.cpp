#include "mapping/structured/digit_moves.hpp"

namespace kumihimo::mapping {
namespace {

using Digit = DigitMove::Digit;
constexpr std::int64_t most_table_entries = 1 << 24;

bool are_independent(const Digit& x, const Digit& y) {
  return x.axis != y.axis || y.stride % (x.stride * x.radix) == 0 || x.stride % (y.stride * y.radix) == 0;
}

bool is_prime(std::int32_t n) {
  for (std::int32_t k = 2; k * k <= n; ++k)
    if (n % k == 0) return false;
  return n > 1;
}

// With composite radices too: halves and quarters of an axis move as one.
std::vector<Digit> digits_of(const Box& box) {
  std::vector<Digit> digits;
  for (std::size_t axis = 0; axis < box.axes.size(); ++axis) {
    const std::int32_t length = box.axes[axis].length;
    for (std::int32_t stride = 1; stride < length; ++stride)
      for (std::int32_t radix = 2; length % stride == 0 && radix * stride <= length; ++radix)
        if (length % (stride * radix) == 0) digits.push_back({axis, stride, radix});
  }
  return digits;
}

} // namespace

DigitMove::DigitMove(Kind kind, Digit x, Digit y, const Box& box) : a_(x.axis), b_(y.axis) {
  const std::int32_t length_a = box.axes[a_].length;
  const bool same_axis = a_ == b_;
  length_ = same_axis ? 1 : box.axes[b_].length;
  const auto entries = static_cast<std::size_t>(length_a) * static_cast<std::size_t>(length_);
  first_.resize(entries);
  if (kind == Kind::exchange && !same_axis) second_.resize(entries);
  for (std::int32_t a = 0; a < length_a; ++a)
    for (std::int32_t other = 0; other < length_; ++other) {
      const std::int32_t b = same_axis ? a : other;
      const std::int32_t dx = x.of(a), dy = y.of(b);
      const auto entry = static_cast<std::size_t>(a * length_ + other);
      switch (kind) {
      case Kind::exchange:
        first_[entry] = a + (dy - dx) * x.stride;
        if (same_axis)
          first_[entry] += (dx - dy) * y.stride;
        else
          second_[entry] = b + (dx - dy) * y.stride;
        break;
      case Kind::reflect: first_[entry] = dy % 2 == 0 ? a : a + (x.radix - 1 - 2 * dx) * x.stride; break;
      case Kind::add: first_[entry] = a + ((dx + dy) % x.radix - dx) * x.stride; break;
      }
    }
}

void DigitMove::apply_first(const CoordinatesOfRanks& from, std::vector<Coordinate>& to) const {
  const std::vector<Coordinate>&a = from[a_], &b = from[b_];
  to.resize(a.size());
  if (a_ == b_) {
    for (std::size_t rank = 0; rank < a.size(); ++rank) to[rank] = first_[static_cast<std::size_t>(a[rank])];
  } else {
    for (std::size_t rank = 0; rank < a.size(); ++rank)
      to[rank] = first_[static_cast<std::size_t>(a[rank] * length_ + b[rank])];
  }
}

void DigitMove::apply_second(const CoordinatesOfRanks& from, std::vector<Coordinate>& to) const {
  const std::vector<Coordinate>&a = from[a_], &b = from[b_];
  to.resize(a.size());
  for (std::size_t rank = 0; rank < a.size(); ++rank)
    to[rank] = second_[static_cast<std::size_t>(a[rank] * length_ + b[rank])];
}

std::vector<DigitMove> digit_moves(const Box& box) {
  const std::vector<Digit> digits = digits_of(box);
  std::vector<DigitMove> moves;
  std::int64_t entries = 0;
  const auto add = [&](DigitMove::Kind kind, const Digit& x, const Digit& y) {
    entries += std::int64_t{box.axes[x.axis].length} * (x.axis == y.axis ? 1 : box.axes[y.axis].length) * 2;
    if (entries <= most_table_entries) moves.emplace_back(kind, x, y, box);
  };
  for (std::size_t i = 0; i < digits.size(); ++i)
    for (std::size_t j = 0; j < digits.size(); ++j) {
      const Digit &x = digits[i], &y = digits[j];
      if (i == j || !are_independent(x, y)) continue;
      if (i < j && x.radix == y.radix) add(DigitMove::Kind::exchange, x, y);
      // Odd is a property of the lowest prime digit: controls of prime radix are enough, but for odd radices.
      const bool is_suffix = x.stride == 1;
      if (y.radix == 2 || is_prime(y.radix))
        if (is_prime(x.radix) || is_suffix) add(DigitMove::Kind::reflect, x, y);
      if (x.radix == y.radix && x.radix > 2 && is_prime(x.radix)) add(DigitMove::Kind::add, x, y);
    }
  if (entries > most_table_entries) return {};
  return moves;
}

} // namespace kumihimo::mapping
