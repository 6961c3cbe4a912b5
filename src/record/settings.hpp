// What `kumihimo record` asks of the recorder, by the environment.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace kumihimo::record {

inline constexpr std::string_view object_name = "recorder"; // for mpi_hooks::PreloadCheck

struct Settings {
  std::string output; // KUMIHIMO_RECORD: the profile, written by rank 0; parts of ranks that do not end MPI beside it
  bool sync = false;  // KUMIHIMO_RECORD_SYNC: a barrier before each blocking collective
  std::string trace;  // KUMIHIMO_RECORD_TRACE: a folder for the events of each rank
  std::int64_t most_events = 1'000'000; // KUMIHIMO_RECORD_EVENTS: of each rank
  // KUMIHIMO_RECORD_SKEW: nanoseconds by which the clock of each rank is put before that of the rank below, as clocks
  // of several nodes may be; the ranks then count as on several. For trials of the synchronisation.
  std::int64_t skew_ns = 0;
};

inline Settings settings_of_environment() {
  const auto text = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  Settings settings;
  settings.output = text("KUMIHIMO_RECORD");
  settings.sync = !text("KUMIHIMO_RECORD_SYNC").empty();
  settings.trace = text("KUMIHIMO_RECORD_TRACE");
  settings.skew_ns = std::atoll(text("KUMIHIMO_RECORD_SKEW").c_str());
  if (const std::int64_t most = std::atoll(text("KUMIHIMO_RECORD_EVENTS").c_str()); most > 0)
    settings.most_events = most;
  return settings;
}

} // namespace kumihimo::record
