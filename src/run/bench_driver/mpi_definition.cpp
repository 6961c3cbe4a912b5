#include "bench_driver/mpi_definition.hpp"

#include "bench_driver/memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace kumihimo::bench_driver {
namespace {

template <class T>
T element(const std::byte* at, std::int64_t i) {
  T value;
  std::memcpy(&value, at + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
void drop_signs(Vector& vector) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(vector.size() / sizeof(T)); ++i) {
    const T size = std::abs(element<T>(vector.data(), i));
    std::memcpy(vector.data() + i * static_cast<std::int64_t>(sizeof(T)), &size, sizeof(T));
  }
}

// Each of two orders is off by at most (n - 1) u of the magnitude, nearly; a third such part is for the rest.
template <class T>
std::int64_t first_beyond(const Vector& expected, const Vector& magnitude, const std::byte* found, std::size_t terms) {
  const double unit = std::numeric_limits<T>::epsilon() / 2;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(expected.size() / sizeof(T)); ++i) {
    const double allowed =
        3 * static_cast<double>(terms - 1) * unit * static_cast<double>(element<T>(magnitude.data(), i));
    const double off = static_cast<double>(element<T>(found, i)) - static_cast<double>(element<T>(expected.data(), i));
    if (!(std::abs(off) <= allowed)) return i;
  }
  return -1;
}

} // namespace

Definition::Definition(const Collective& c, Rank rank, const Inputs& inputs, const Combine& plain) : c_(c) {
  rounds_ = is_floating(c.type) && c.reduces() && !algebra(c.type, c.operation).associative_in_bits;
  for (const Contribution& part : contributions(c, rank)) {
    if (part.is_nobody())
      expected_.insert(expected_.end(), static_cast<std::size_t>(part.count * c.type_bytes), untouched);
    else
      add(part, inputs, plain);
  }
}

void Definition::add(const Contribution& part, const Inputs& inputs, const Combine& plain) {
  terms_ = static_cast<std::size_t>(part.high - part.low);
  Vector sum, magnitude;
  for (std::int32_t from = part.low; from < part.high; ++from) {
    const Vector input = inputs(from);
    const auto begin = input.begin() + part.position * c_.type_bytes;
    Vector term(begin, begin + part.count * c_.type_bytes);
    const auto add_to = [&](Vector& all) {
      if (from == part.low)
        all = term;
      else
        plain(all.data(), term.data(), all.data(), part.count);
    };
    add_to(sum);
    if (!rounds_) continue;
    c_.type == DataType::float32 ? drop_signs<float>(term) : drop_signs<double>(term);
    add_to(magnitude);
  }
  expected_.insert(expected_.end(), sum.begin(), sum.end());
  magnitude_.insert(magnitude_.end(), magnitude.begin(), magnitude.end());
}

std::int64_t Definition::first_wrong(const std::byte* result) const {
  if (rounds_)
    return c_.type == DataType::float32 ? first_beyond<float>(expected_, magnitude_, result, terms_)
                                        : first_beyond<double>(expected_, magnitude_, result, terms_);
  const auto at = std::mismatch(expected_.begin(), expected_.end(), result).first;
  return at == expected_.end() ? -1 : (at - expected_.begin()) / c_.type_bytes;
}

} // namespace kumihimo::bench_driver
