// The threads of this process as the kernel sees them now.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace kumihimo::thread_samples {

struct ThreadState {
  pid_t thread = 0;
  std::string name;
  char state = '?';           // R: running or ready to run; S: waiting; as in /proc
  int processor = -1;         // that it ran on last
  std::int64_t busy_ns = 0;   // that it has had of processors
  std::int64_t delayed_ns = 0; // that it was ready and others had its processor, before it ran last
  std::int64_t sleeps = 0;     // how often it has begun to wait
  std::int64_t begun_ns = 0;  // since the node was started; of a resolution of 10 ms
  std::string processors;     // where it may run, "0-3,8"
  bool takes_signals = false; // whether SIGURG is not blocked
};

// Nothing for threads that end meanwhile. Leaves out the calling thread.
std::vector<ThreadState> thread_states();

// Fills in name, state, processor, begun_ns and, if the kernel keeps no exact times, busy_ns from /proc/…/stat. False:
// the text has another form.
bool read_stat(const std::string& text, ThreadState& thread);

// Whether a thread of this process runs or is ready to run.
bool is_running(pid_t thread);

// On the clock of begun_ns.
std::int64_t since_boot_ns();

} // namespace kumihimo::thread_samples
