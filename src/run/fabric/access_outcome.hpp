// How an access to remote memory ends (fabric/remote_access.hpp): a code of the interface of C, and one sentence.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace kumihimo::fabric {

enum class AccessCode : std::int32_t { ok, bad_argument, not_supported, timed_out, peer_failed, failed };

struct AccessOutcome {
  AccessCode code = AccessCode::ok;
  std::string text;
  bool ok() const { return code == AccessCode::ok; }
};

inline AccessOutcome bad(std::string rule, const Got& got) { // an argument
  return {AccessCode::bad_argument, wrong_value(std::move(rule), got).sentence()};
}

inline AccessOutcome outcome_of(const Error& error) {
  const bool is_missing = error.kind == Error::Kind::not_applicable;
  return {is_missing ? AccessCode::not_supported : AccessCode::failed, error.sentence()};
}

} // namespace kumihimo::fabric
