// Expected failures are values: what was expected, what was found, what to do. Exceptions live at the Python border
// only; assertions are for bugs.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace kumihimo {

// One clear sentence in three parts. `not_applicable` marks a variant that does not fit the question, which a caller
// that tries all variants passes over; every other failure is the user's input or the machine's.
struct Error {
  enum class Kind { bad_input, not_applicable, failed };
  Kind kind = Kind::bad_input;
  std::string expected;
  std::string found;
  std::string advice;
  bool elsewhere = false;  // no more is known than that another process failed, which tells its own
  bool truncation = false; // a message had another length than its receiver expected

  std::string sentence() const {
    std::string s = expected;
    if (!found.empty()) s += ", found " + found;
    if (!advice.empty()) s += "; " + advice;
    return s;
  }
};

inline Error bad_input(std::string expected, std::string found = {}, std::string advice = {}) {
  return {Error::Kind::bad_input, std::move(expected), std::move(found), std::move(advice), false};
}
inline Error not_applicable(std::string reason) {
  return {Error::Kind::not_applicable, std::move(reason), {}, {}, false};
}
inline Error failed(std::string expected, std::string found = {}, std::string advice = {}) {
  return {Error::Kind::failed, std::move(expected), std::move(found), std::move(advice), false};
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

} // namespace kumihimo
