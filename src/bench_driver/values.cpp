#include "bench_driver/values.hpp"

#include <bit>
#include <cstring>
#include <type_traits>

namespace kumihimo::bench_driver {
namespace {

// Splitmix64 (Steele, Lea, Flood, OOPSLA 2014): a stream of well mixed words from a counter.
class Words {
 public:
  explicit Words(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
  }

 private:
  std::uint64_t state_;
};

// From sign, mantissa and exponent bits: cheaper than ldexp, and exact.
double draw_double(std::uint64_t word, bool narrow) {
  const std::uint64_t exponent = narrow ? 1022 + (word >> 52) % 3 : 1011 + (word >> 52) % 24;
  return std::bit_cast<double>((word & 1) << 63 | exponent << 52 | (word >> 1 & 0xf'ffff'ffff'ffffULL));
}

template <class T>
void fill(Vector& vector, Words words, bool narrow) {
  for (std::size_t at = 0; at < vector.size(); at += sizeof(T)) {
    const std::uint64_t word = words();
    T value{};
    if constexpr (std::is_floating_point_v<T>)
      value = static_cast<T>(draw_double(word, narrow));
    else
      value = word % 4 == 0 ? T{0} : static_cast<T>(word >> 2);
    std::memcpy(vector.data() + at, &value, sizeof(T));
  }
}

} // namespace

Vector values_of(DataType type, Operation operation, std::int64_t count, std::int32_t rank, std::uint64_t seed) {
  Vector vector(static_cast<std::size_t>(count * size_of(type)));
  const Words words(seed * 1'000'003 + static_cast<std::uint64_t>(rank) * 0x5851f42d4c957f2dULL + 1);
  const bool narrow = operation == Operation::prod;
  if (type == DataType::float64) {
    fill<double>(vector, words, narrow);
  } else if (type == DataType::float32) {
    fill<float>(vector, words, narrow);
  } else {
    switch (size_of(type)) {
    case 1:
      fill<std::uint8_t>(vector, words, narrow);
      break;
    case 2:
      fill<std::uint16_t>(vector, words, narrow);
      break;
    case 4:
      fill<std::uint32_t>(vector, words, narrow);
      break;
    default:
      fill<std::uint64_t>(vector, words, narrow);
    }
  }
  return vector;
}

} // namespace kumihimo::bench_driver
