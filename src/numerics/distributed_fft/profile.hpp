// Where the time of a rank goes: lines, copies, and exchanges, of which waiting for the others is told apart from
// transferring by a barrier before each exchange, as CrayPat's "sync" does (CASTEP, HECToR dCSE report, 2011).
#pragma once

#include "application/runtime.hpp"
#include "measure/clock.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace kumihimo::distributed_fft {

enum class ProfilePart : std::uint8_t { lines, copies, packing, waiting, transferring };
inline constexpr std::array<std::string_view, 5> profile_parts = {"transforming lines", "gathering and scattering",
                                                                  "packing and unpacking", "waiting for the others",
                                                                  "transferring"};

class TransformProfile {
 public:
  void add(ProfilePart part, std::int64_t nanoseconds) { nanoseconds_[static_cast<std::size_t>(part)] += nanoseconds; }
  double seconds(std::size_t part) const { return static_cast<double>(nanoseconds_[part]) * 1e-9; }
  void clear() { nanoseconds_ = {}; }

  template <class Call>
  auto timed(ProfilePart part, Call call) {
    const std::int64_t start = measure::now_ns();
    auto result = call();
    add(part, measure::now_ns() - start);
    return result;
  }

 private:
  std::array<std::int64_t, profile_parts.size()> nanoseconds_{};
};

// The steps of an exchange (Transposition, BlockExchange), with a profile where it is not null.
template <class Exchange>
Status reserve(Exchange& exchange, TransformProfile* profile) {
  return profile ? profile->timed(ProfilePart::waiting, [&] { return exchange.reserve(); }) : exchange.reserve();
}
template <class Exchange>
Status start(Exchange& exchange, TransformProfile* profile, application::Runtime& runtime) {
  if (!profile) return exchange.start();
  profile->timed(ProfilePart::waiting, [&] { return runtime.processes().barrier(), 0; });
  return profile->timed(ProfilePart::transferring, [&] { return exchange.start(); });
}
template <class Exchange>
Status finish(Exchange& exchange, TransformProfile* profile) {
  return profile ? profile->timed(ProfilePart::transferring, [&] { return exchange.finish(); }) : exchange.finish();
}

} // namespace kumihimo::distributed_fft
