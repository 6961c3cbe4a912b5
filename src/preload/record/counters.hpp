// Hardware counters of this process and its future threads, if the kernel allows them (perf_event_open).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kumihimo::record {

inline constexpr std::array<std::string_view, 4> counter_names{"instructions", "cycles", "cache_misses", "tlb_misses"};

class Counters {
 public:
  using Values = std::array<std::int64_t, counter_names.size()>; // -1: none
  Counters();
  Values read() const;
  // The reason if there is none at all, else empty.
  const std::string& reason() const { return reason_; }

 private:
  std::array<int, counter_names.size()> files_{};
  std::string reason_;
};

} // namespace kumihimo::record
