// Inputs of a check: arrays between guard zones.
#ifndef KUMIHIMO_KERNEL_DATA_HPP
#define KUMIHIMO_KERNEL_DATA_HPP

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kumihimo::kernel {

enum class Role { input, output, in_out };

// One array of a call, with what is needed to compare it.
struct Array {
  static constexpr std::size_t zone = 4096; // bytes on each side
  static constexpr unsigned char fill = 0xa5;

  Role role = Role::input;
  std::size_t bytes = 0, element = 1, offset = 0, count = 0;
  bool is_float = false;
  double unit = 0; // roundoff
  std::vector<unsigned char> memory;
  std::vector<unsigned char> initial; // of in_out: what each timed call begins with

  unsigned char* data() { return memory.data() + offset; }
  const unsigned char* data() const { return memory.data() + offset; }
  double at(std::size_t place) const {
    if (element == sizeof(float)) {
      float value;
      std::memcpy(&value, data() + place * element, sizeof value);
      return static_cast<double>(value);
    }
    double value;
    std::memcpy(&value, data() + place * element, sizeof value);
    return value;
  }
  // "byte 17 behind", the nearest one that was changed; empty where nobody wrote there.
  std::string damage() const {
    for (std::size_t i = offset; i-- > 0;)
      if (memory[i] != fill) return "byte " + std::to_string(offset - i) + " before";
    for (std::size_t i = offset + bytes; i < memory.size(); ++i)
      if (memory[i] != fill) return "byte " + std::to_string(i - offset - bytes + 1) + " behind";
    return {};
  }
};

// Makes the arguments of one call: equal ones for an equal size, seed and kind ("random", "zeros", "huge", "tiny").
class Data {
 public:
  Data(std::int64_t trips, std::uint64_t seed, std::string values = "random")
      : size(trips), kind(std::move(values)), seed_(seed), state_(seed * 0x9e3779b97f4a7c15ULL + 1) {}

  const std::int64_t size;
  const std::string kind;

  // Arrays of n elements, filled with random numbers or with an edge of them. A variant must not write to an input;
  // what an output holds before the call is no number that it may read.
  template <class T>
  const T* input(std::int64_t n) {
    return made<T>(n, Role::input, [this](std::int64_t) { return number<T>(); });
  }
  template <class T, class Fill>
  const T* input(std::int64_t n, Fill fill) {
    return made<T>(n, Role::input, fill);
  }
  template <class T>
  T* output(std::int64_t n) {
    return made<T>(n, Role::output, [](std::int64_t) { return T(7); });
  }
  template <class T>
  T* in_out(std::int64_t n) {
    return made<T>(n, Role::in_out, [this](std::int64_t) { return number<T>(); });
  }
  template <class T, class Fill>
  T* in_out(std::int64_t n, Fill fill) {
    return made<T>(n, Role::in_out, fill);
  }

  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; } // [0, 1)
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n)); }
  template <class T>
  T number() {
    if constexpr (std::is_floating_point_v<T>) {
      const double huge = sizeof(T) == sizeof(float) ? 1e15 : 1e145; // squares and sums of them do not overflow
      const double value = 2 * uniform() - 1;
      return static_cast<T>(kind == "zeros"  ? 0.0
                            : kind == "huge" ? value * huge
                            : kind == "tiny" ? value / huge
                                             : value);
    } else {
      return static_cast<T>(kind == "zeros" ? 0 : below(100));
    }
  }

  std::vector<std::unique_ptr<Array>> arrays; // in the order in which they were made
  bool has_in_out() const {
    return std::any_of(arrays.begin(), arrays.end(), [](const auto& a) { return a->role == Role::in_out; });
  }
  void restore() {
    for (const auto& each : arrays)
      if (each->role == Role::in_out) std::memcpy(each->data(), each->initial.data(), each->bytes);
  }

 private:
  std::uint64_t bits() { // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  template <class T, class Fill>
  T* made(std::int64_t n, Role role, Fill fill) {
    static_assert(std::is_trivially_copyable_v<T>, "arrays of kernels hold plain values");
    auto array = std::make_unique<Array>();
    array->role = role;
    array->element = sizeof(T);
    array->count = static_cast<std::size_t>(std::max<std::int64_t>(n, 0));
    array->bytes = array->count * sizeof(T);
    array->is_float = std::is_same_v<T, double> || std::is_same_v<T, float>;
    array->unit = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-53;
    array->memory.assign(array->bytes + 2 * Array::zone + 128, Array::fill);
    const auto begin = reinterpret_cast<std::uintptr_t>(array->memory.data()) + Array::zone;
    array->offset = Array::zone + (64 - begin % 64) % 64;
    if (seed_ % 2 == 1) array->offset += sizeof(T); // an array of a program need not be aligned
    T* const first = reinterpret_cast<T*>(array->data());
    for (std::size_t i = 0; i < array->count; ++i) {
      const T value = static_cast<T>(fill(static_cast<std::int64_t>(i)));
      std::memcpy(static_cast<void*>(first + i), &value, sizeof value);
    }
    array->initial.assign(array->data(), array->data() + array->bytes);
    arrays.push_back(std::move(array));
    return first;
  }

  std::uint64_t seed_, state_;
};

} // namespace kumihimo::kernel

#endif
