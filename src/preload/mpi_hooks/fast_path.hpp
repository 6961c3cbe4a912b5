// Repeated calls that are only counted before they go on: those with the arguments of the last call, other than
// buffers. Between a program's work, a call costs the cache lines that it touches; the fast path touches few. It serves
// preload libraries that set Call::fast_path.
#pragma once

#include "mpi_hooks/call.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace kumihimo::mpi_hooks {

// The arguments on which the decision about a call depends: bit i for argument i. 0 if one is an array.
using Deciding = std::uint16_t;

constexpr Deciding deciding_of(CallKind kind, std::initializer_list<Role> arguments) {
  if (kind != CallKind::collective && kind != CallKind::nonblocking_collective) return 0;
  Deciding deciding = 0;
  int at = 0;
  for (const Role role : arguments) {
    if (role >= Role::counts && role <= Role::receive_types) return 0;
    const bool is_buffer = role == Role::buffer || role == Role::send_buffer || role == Role::receive_buffer;
    if (!is_buffer && role != Role::request) deciding = static_cast<Deciding>(deciding | 1 << at);
    ++at;
  }
  return deciding;
}

inline constexpr std::array<Deciding, names> deciding_of_all = [] {
  using enum Role;
#define KUMIHIMO_CALL(name, lower, upper, kind, form, ...) deciding_of(CallKind::kind, {__VA_ARGS__}),
  return std::array<Deciding, names>{{
#include "mpi_hooks/calls.def"
  }};
}();
constexpr Deciding deciding_of(Name name) { return deciding_of_all[static_cast<std::size_t>(name)]; }
constexpr bool has_fast_path(Name name) { return deciding_of(name) != 0; }

inline constexpr std::size_t most_deciding = 6;
static_assert(std::all_of(deciding_of_all.begin(), deciding_of_all.end(),
                          [](Deciding all) { return static_cast<std::size_t>(std::popcount(all)) <= most_deciding; }));

// The last call by one name on one thread.
class alignas(64) FastPath {
 public:
  // Forgets all calls: a communicator was made or freed, or waits for its set-up.
  static void forget() { era_.fetch_add(1, std::memory_order_release); }
  // The number of forget() calls, from 1.
  static std::uint64_t era() { return era_.load(std::memory_order_acquire); }

  template <Name name, Language from, std::size_t number>
  [[gnu::always_inline]] bool counts(const std::array<Word, number>& words) {
    if (since_ != era_.load(std::memory_order_relaxed)) return false;
    std::size_t at = 0;
    bool same = true;
    for (std::size_t i = 0; i < number; ++i)
      if (deciding_of(name) >> i & 1) same &= said_[at++] == argument<from>(words[i]);
    if (same) [[likely]]
      counter_->count();
    return same;
  }

  // From now on, calls like this one are counted there and go on. `era`: its value before the call was looked at.
  template <Name name, Language from, std::size_t number>
  void remember(const std::array<Word, number>& words, Counter* counter, std::uint64_t era) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < number; ++i)
      if (deciding_of(name) >> i & 1) said_[at++] = argument<from>(words[i]);
    counter_ = counter;
    since_ = era;
  }

 private:
  template <Language from>
  [[gnu::always_inline]] static Word argument(Word given) {
    if constexpr (from == Language::c)
      return given;
    else
      return static_cast<Word>(*reinterpret_cast<const int*>(given));
  }

  static inline std::atomic<std::uint64_t> era_ = 1;
  std::array<Word, most_deciding> said_{};
  Counter* counter_ = nullptr;
  std::uint64_t since_ = 0;
};

} // namespace kumihimo::mpi_hooks
