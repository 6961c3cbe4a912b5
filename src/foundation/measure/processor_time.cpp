#include "measure/processor_time.hpp"

#include <sys/resource.h>
#include <time.h>

namespace kumihimo::measure {
namespace {

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; }

} // namespace

ProcessorTime& ProcessorTime::operator+=(const ProcessorTime& other) {
  user_seconds += other.user_seconds;
  system_seconds += other.system_seconds;
  switches += other.switches;
  return *this;
}

ProcessorTime operator-(const ProcessorTime& end, const ProcessorTime& start) {
  return {end.user_seconds - start.user_seconds, end.system_seconds - start.system_seconds,
          end.switches - start.switches};
}

ProcessorTime processor_time() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return {seconds(used.ru_utime), seconds(used.ru_stime), used.ru_nvcsw + used.ru_nivcsw};
}

std::int64_t thread_time_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

} // namespace kumihimo::measure
