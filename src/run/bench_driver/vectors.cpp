#include "bench_driver/vectors.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace kumihimo::bench_driver {
namespace {

// Splitmix64 (Steele, Lea, Flood, OOPSLA 2014): a stream of well mixed words from a counter.
class RandomBits {
 public:
  explicit RandomBits(std::uint64_t seed) : state_(seed) {}
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
void fill(Vector& vector, RandomBits words, bool narrow) {
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

constexpr std::int64_t most_bytes = std::int64_t{96} << 20; // of all sets of one rank, unless two need more

std::int64_t sets_for(const CallMemory& memory) {
  return std::clamp<std::int64_t>(most_bytes / std::max<std::int64_t>(1, memory.input_bytes + memory.output_bytes), 2,
                                  8);
}

constexpr std::int64_t contents_that_take_turns = 2;

HeapMemory zeros(std::int64_t bytes) {
  HeapMemory memory = allocate(bytes);
  std::memset(memory.get(), 0, static_cast<std::size_t>(bytes)); // pages are there before anything is timed
  return memory;
}

} // namespace

Vector values_of(DataType type, Operation operation, std::int64_t count, std::int32_t rank, std::uint64_t seed) {
  Vector vector(static_cast<std::size_t>(count * size_of(type)));
  const RandomBits words(seed * 1'000'003 + static_cast<std::uint64_t>(rank) * 0x5851f42d4c957f2dULL + 1);
  const bool narrow = operation == Operation::prod;
  if (type == DataType::float64) {
    fill<double>(vector, words, narrow);
  } else if (type == DataType::float32) {
    fill<float>(vector, words, narrow);
  } else {
    switch (size_of(type)) {
    case 1: fill<std::uint8_t>(vector, words, narrow); break;
    case 2: fill<std::uint16_t>(vector, words, narrow); break;
    case 4: fill<std::uint32_t>(vector, words, narrow); break;
    default: fill<std::uint64_t>(vector, words, narrow);
    }
  }
  return vector;
}

Vector initial_memory(const ProgramSet& set, Rank rank, std::uint64_t seed) {
  const std::int64_t count = memory_of(set, rank).input_bytes / set.data->type_bytes;
  return values_of(set.data->type, Operation::sum, count, rank.value, seed);
}

Result<BenchVectors> BenchVectors::make(const Collective& c, Rank rank) {
  const CallMemory memory = memory_of(c, rank);
  return make(memory, [&](std::uint64_t seed) {
    return values_of(c.type, c.reduces() ? c.operation : Operation::sum, memory.input_bytes / c.type_bytes, rank.value,
                     seed);
  });
}

Result<BenchVectors> BenchVectors::make(const ProgramSet& set, Rank rank) {
  return make(memory_of(set, rank), [&](std::uint64_t seed) { return initial_memory(set, rank, seed); });
}

Result<BenchVectors> BenchVectors::make(const CallMemory& memory,
                                        const std::function<Vector(std::uint64_t seed)>& values_at) {
  const Need need{memory.input_bytes * contents_that_take_turns + memory.all_bytes() * sets_for(memory),
                  "the vectors of a rank"};
  return with_memory(need, [&] {
    std::vector<Vector> values;
    for (std::uint64_t seed = 1; seed <= contents_that_take_turns; ++seed) values.push_back(values_at(seed));
    return BenchVectors(memory, std::move(values));
  });
}

BenchVectors::BenchVectors(const CallMemory& memory, std::vector<Vector> values)
    : memory_(memory), values_(std::move(values)) {
  for (std::int64_t i = 0; i < sets_for(memory); ++i)
    if (memory.aliased)
      sets_.push_back({HeapMemory(nullptr, std::free), zeros(memory.shared_bytes)});
    else
      sets_.push_back({zeros(memory.input_bytes), zeros(memory.output_bytes)});
}

BenchVectors::Set BenchVectors::prepare(std::int64_t n) {
  const Owned& owned = sets_[static_cast<std::size_t>(n) % sets_.size()];
  const Vector& contents = values_[static_cast<std::size_t>(n) % values_.size()];
  std::byte* input = owned.input ? owned.input.get() : owned.output.get();
  if (!contents.empty()) std::memcpy(input + memory_.input_at, contents.data(), contents.size());
  return {input, owned.output.get()};
}

std::uint64_t hash_of(const void* data, std::int64_t bytes) {
  const auto* at = static_cast<const std::byte*>(data);
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (std::int64_t left = bytes; left > 0; left -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, static_cast<std::size_t>(std::min<std::int64_t>(left, 8)));
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 29;
  }
  return hash;
}

} // namespace kumihimo::bench_driver
