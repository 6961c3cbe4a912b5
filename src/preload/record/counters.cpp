#include "record/counters.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace kumihimo::record {
namespace {

struct PerfEvent {
  std::uint32_t type;
  std::uint64_t config;
};
constexpr std::array<PerfEvent, counter_names.size()> events{{
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {PERF_TYPE_HW_CACHE,
     PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
}};

int open_counter(const PerfEvent& event) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.exclude_kernel = 1; // what unprivileged users may count
  attributes.exclude_hv = 1;
  attributes.inherit = 1;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

} // namespace

Counters::Counters() {
  for (std::size_t i = 0; i < events.size(); ++i) {
    files_[i] = open_counter(events[i]);
    if (files_[i] < 0) reason_ = std::strerror(errno);
  }
  if (std::any_of(files_.begin(), files_.end(), [](int file) { return file >= 0; })) reason_.clear();
}

Counters::Values Counters::read() const {
  Values values;
  for (std::size_t i = 0; i < files_.size(); ++i)
    if (files_[i] < 0 || ::read(files_[i], &values[i], sizeof values[i]) != sizeof values[i]) values[i] = -1;
  return values;
}

} // namespace kumihimo::record
