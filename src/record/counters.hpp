// Hardware counters of this process, all its threads from now on, as far as the kernel gives them (perf_event_open).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kumihimo::record {

inline constexpr std::array<std::string_view, 4> counter_names{"instructions", "cycles", "cache_misses", "tlb_misses"};

class Counters {
 public:
  using Values = std::array<std::int64_t, counter_names.size()>; // -1 where there is none
  Counters();
  Values read() const;
  // Why there is none at all; empty where there is one.
  const std::string& reason() const { return reason_; }

 private:
  std::array<int, counter_names.size()> files_{};
  std::string reason_;
};

} // namespace kumihimo::record
