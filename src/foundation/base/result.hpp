// Expected failures are values: one sentence of what is wrong, and what to do. Exceptions live at the Python border
// only; assertions are for bugs.
#pragma once

#include <cassert>
#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace kumihimo {

// `not_applicable`: a variant does not fit the case; a caller that tries all variants skips it.
struct Error {
  enum class Kind { bad_input, not_applicable, failed };
  Kind kind = Kind::bad_input;
  std::string problem;     // "the count must be at least 0 (got -1)"
  std::string advice;      // "leave it out for the default", or empty
  bool elsewhere = false;  // another process failed and reports its own error
  bool truncation = false; // a message is longer or shorter than its receiver expected

  std::string sentence() const { return advice.empty() ? problem : problem + "; " + advice; }
};

// Tests set it to collect every error that is made.
inline void (*error_observer)(const Error&) = nullptr;

// The value that a user gave, as text; without text the error does not show it.
struct Got {
  Got() = default;
  Got(std::string value) : text(std::move(value)) {}
  Got(std::string_view value) : text(value) {}
  Got(const char* value) : text(value) {}
  Got(std::integral auto value) : text(std::to_string(value)) {}
  std::string text;
};

namespace errors {

inline Error make(Error::Kind kind, std::string problem, std::string advice) {
  Error error{kind, std::move(problem), std::move(advice)};
  if (error_observer) error_observer(error);
  return error;
}
// Of a longer value than `most_of_a_value` bytes an error shows the beginning, up to a whole UTF-8 character.
inline constexpr std::size_t most_of_a_value = 200;

inline std::string shown(const std::string& value) {
  if (value.size() <= most_of_a_value) return value;
  std::size_t end = most_of_a_value;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0) == 0x80) --end;
  return value.substr(0, end) + "...";
}

inline std::string with_value(std::string rule, const Got& got) {
  return got.text.empty() ? rule : std::move(rule) + " (got " + shown(got.text) + ")";
}

} // namespace errors

// `rule`: what the value must be.
inline Error wrong_value(std::string rule, const Got& got = {}, std::string advice = {}) {
  return errors::make(Error::Kind::bad_input, errors::with_value(std::move(rule), got), std::move(advice));
}
// Something that the user must give.
inline Error missing(std::string what, std::string advice) {
  return errors::make(Error::Kind::bad_input, std::move(what) + " is missing", std::move(advice));
}
// The value is right, but not for this collective, algorithm, library or machine.
inline Error not_applicable(std::string rule, const Got& got = {}, std::string advice = {}) {
  return errors::make(Error::Kind::not_applicable, errors::with_value(std::move(rule), got), std::move(advice));
}
// Something that should have worked.
inline Error failed(std::string what, const std::string& reason = {}, std::string advice = {}) {
  return errors::make(Error::Kind::failed, reason.empty() ? std::move(what) : std::move(what) + ": " + reason,
                      std::move(advice));
}
// The error, with the place in a file or the key before it: "fugaku.toml:3: topology.family must be ...".
inline Error located(const std::string& place, Error error) {
  error.problem = place + (error.problem.starts_with("must ") ? " " : ": ") + error.problem;
  return error;
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  const T& value() const& { return assert(ok()), std::get<0>(state_); }
  T& value() & { return assert(ok()), std::get<0>(state_); }
  T&& value() && { return assert(ok()), std::get<0>(std::move(state_)); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }
  const Error& error() const { return assert(!ok()), std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

struct Nothing {};
using Status = Result<Nothing>;

// The value of a result; or the function returns its error: `const Segments segments = TRY(choose_segments(c, p));`.
// The whole initializer of a variable, no part of a larger expression, whose temporaries might stay.
#define TRY(...)                                                                                                       \
  __extension__({                                                                                                      \
    auto tried = (__VA_ARGS__);                                                                                        \
    if (!tried) return tried.error();                                                                                  \
    *std::move(tried);                                                                                                 \
  })

} // namespace kumihimo
