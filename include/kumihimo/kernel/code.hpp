// The source text of a function and its hash; the parameters of a variant.
#ifndef KUMIHIMO_KERNEL_CODE_HPP
#define KUMIHIMO_KERNEL_CODE_HPP

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// Defines the function, of this file alone, and keeps its text.
#define KUMIHIMO_FUNCTION(result, name, parameters, ...)                                                               \
  [[maybe_unused]] static inline result name parameters __VA_ARGS__                                                    \
      [[maybe_unused]] static constexpr ::kumihimo::kernel::Text kumihimo_text_of_##name{#result, #parameters,         \
                                                                                         #__VA_ARGS__};
// A function of KUMIHIMO_FUNCTION, as golden copy or variant.
#define KUMIHIMO_CODE(name) ::kumihimo::kernel::code(&name, kumihimo_text_of_##name)
// A lambda with its text, as variant.
#define KUMIHIMO_LAMBDA(...) ::kumihimo::kernel::code(__VA_ARGS__, #__VA_ARGS__)

namespace kumihimo::kernel {

// FNV-1a, 64 bits.
constexpr std::uint64_t hash_of(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325ULL) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

inline std::string hex(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

// The source text of a function, hashed when the program is compiled.
struct Text {
  std::string_view result, parameters, body;
  std::uint64_t hash;
  constexpr Text(std::string_view r, std::string_view p, std::string_view b)
      : result(r), parameters(p), body(b), hash(hash_of(b, hash_of(p, hash_of(r)))) {}
};

template <class F>
struct Code {
  F function;
  std::uint64_t hash;
  std::string result, parameters; // of KUMIHIMO_FUNCTION
};

template <class F>
Code<F> code(F function, const Text& text) {
  return {function, text.hash, std::string(text.result), std::string(text.parameters)};
}
// Any callable, as a function of another library. `identity`: changes when what it does changes ("OpenBLAS 0.3.21").
template <class F>
Code<std::decay_t<F>> code(F&& function, std::string_view identity) {
  return {std::forward<F>(function), hash_of(identity), {}, {}};
}

// Values of a variant's parameters, in the order of their declaration.
struct Parameter {
  std::string name;
  std::vector<std::int64_t> values; // that are tried, the default first
};
using Values = std::vector<std::int64_t>;

} // namespace kumihimo::kernel

#endif
