#include "thread_samples/thread_states.hpp"

#include "thread_samples/kernel_files.hpp"
#include "thread_samples/processor_lists.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string_view>

namespace kumihimo::thread_samples {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

// Of the line with this name in /proc/…/status; all bits without one.
unsigned long long status_number(const std::string& status, std::string_view name, int base) {
  const std::size_t at = status.find(fmt::format("\n{}:", name));
  return at == std::string::npos ? ~0ULL : std::strtoull(status.c_str() + at + name.size() + 2, nullptr, base);
}

bool takes_signals(const std::string& status) {
  return (status_number(status, "SigBlk", 16) >> (SIGURG - 1) & 1) == 0;
}

} // namespace

bool read_stat(const std::string& text, ThreadState& thread) {
  const std::size_t open = text.find('('), close = text.rfind(')'); // a name may have parentheses of its own
  if (open == std::string::npos || close == std::string::npos || close < open) return false;
  thread.name = text.substr(open + 1, close - open - 1);
  std::istringstream rest(text.substr(close + 1));
  std::vector<std::string> fields{"", "", ""}; // numbered as in proc(5), from 1 on; the state is the third
  for (std::string field; rest >> field;) fields.push_back(field);
  constexpr std::size_t state = 3, user = 14, system = 15, begun = 22, processor = 39;
  if (fields.size() <= processor) return false;
  const auto number = [&](std::size_t at) { return std::atoll(fields[at].c_str()); };
  const std::int64_t tick_ns = second_ns / std::max(1L, sysconf(_SC_CLK_TCK));
  thread.state = fields[state].front();
  thread.busy_ns = (number(user) + number(system)) * tick_ns;
  thread.begun_ns = number(begun) * tick_ns;
  thread.processor = static_cast<int>(number(processor));
  return true;
}

std::vector<ThreadState> thread_states() {
  std::vector<ThreadState> found;
  DIR* const folder = opendir("/proc/self/task");
  if (!folder) return found;
  const auto self = static_cast<pid_t>(syscall(SYS_gettid));
  while (const dirent* const entry = readdir(folder)) {
    ThreadState thread{.thread = std::atoi(entry->d_name)};
    if (thread.thread <= 0 || thread.thread == self) continue;
    const std::string path = fmt::format("/proc/self/task/{}/", thread.thread);
    if (!read_stat(kernel_text(path + "stat"), thread)) continue;
    // The exact times, where the kernel keeps them.
    std::int64_t busy = 0, delayed = 0;
    if (std::istringstream(kernel_text(path + "schedstat")) >> busy >> delayed && busy > 0)
      thread.busy_ns = busy, thread.delayed_ns = delayed;
    thread.processors = processors_of_thread(thread.thread);
    const std::string status = kernel_text(path + "status");
    thread.takes_signals = takes_signals(status);
    thread.sleeps = static_cast<std::int64_t>(status_number(status, "voluntary_ctxt_switches", 10));
    if (!thread.processors.empty()) found.push_back(std::move(thread));
  }
  closedir(folder);
  return found;
}

bool is_running(pid_t thread) {
  const std::string text = kernel_text(fmt::format("/proc/self/task/{}/stat", thread));
  const std::size_t name_ends = text.rfind(") ");
  return name_ends != std::string::npos && text.compare(name_ends + 2, 1, "R") == 0;
}

std::int64_t since_boot_ns() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return second_ns * now.tv_sec + now.tv_nsec;
}

} // namespace kumihimo::thread_samples
