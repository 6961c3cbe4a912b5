#include "thread_samples/thread_sampler.hpp"

#include "thread_samples/instruction_samples.hpp"
#include "thread_samples/processor_lists.hpp"
#include "thread_samples/started_threads.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace kumihimo::thread_samples {
namespace {

using nlohmann::json;

constexpr int rounds = 8; // of looks at instructions

// What users bind by, and how many threads libraries start. Values of other variables are none of our business.
constexpr std::array variables{
    "OMP_NUM_THREADS",          "OMP_PROC_BIND",        "OMP_PLACES",      "OMP_WAIT_POLICY",    "OMP_DYNAMIC",
    "GOMP_CPU_AFFINITY",        "GOMP_SPINCOUNT",       "KMP_AFFINITY",    "KMP_BLOCKTIME",      "KMP_HW_SUBSET",
    "OPENBLAS_NUM_THREADS",     "GOTO_NUM_THREADS",     "MKL_NUM_THREADS", "BLIS_NUM_THREADS",   "MPICH_ASYNC_PROGRESS",
    "MPIR_CVAR_ASYNC_PROGRESS", "I_MPI_ASYNC_PROGRESS", "SLURM_CPU_BIND",  "SLURM_CPUS_PER_TASK"};

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

std::string object_at(std::uintptr_t address) {
  Dl_info object{};
  if (address == 0 || !dladdr(reinterpret_cast<void*>(address), &object) || !object.dli_fname) return {};
  const std::string_view path = object.dli_fname;
  return std::string(path.substr(path.rfind('/') + 1));
}

// "libgomp.so.1", and of a call that gives a processor away "libc.so.6:sched_yield".
std::string place_of(std::uintptr_t instruction) {
  Dl_info object{};
  const std::string name = object_at(instruction);
  const bool known = dladdr(reinterpret_cast<void*>(instruction), &object) != 0 && object.dli_sname;
  if (known && std::string_view(object.dli_sname).ends_with("sched_yield")) return name + ":sched_yield";
  return name.empty() ? "unknown" : name;
}

// Whether it was ready for all of the time between two looks. The kernel counts a delay only when it has ended.
bool never_slept(const ThreadState& before, const ThreadState& now) {
  return before.state == 'R' && now.state == 'R' && now.sleeps == before.sleeps;
}

json node_of(const NodeCores& node) {
  return {{"processors", node.allowed},
          {"cores", node.cores},
          {"domains", node.domains},
          {"quota", node.quota ? json(*node.quota) : json(nullptr)}};
}

json environment() {
  json found = json::object();
  for (const char* const name : variables)
    if (const char* const value = std::getenv(name)) found[name] = value;
  return found;
}

} // namespace

ThreadSampler::ThreadSampler(Rules rules) : rules_(std::move(rules)) {
  sigset_t all, before; // the program's signals are not for our thread
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ThreadSampler::Seen ThreadSampler::look() {
  Seen seen;
  for (ThreadState& thread : thread_states()) seen.threads.emplace(thread.thread, std::move(thread));
  seen.at_ns = since_boot_ns();
  return seen;
}

void ThreadSampler::run() {
  pthread_setname_np(pthread_self(), "kumihimo");
  first_ = look();
  const std::string allowed = widen_calling_thread();
  if (rules_.tells_node) node_ = node_cores(allowed);
  bool ends = false;
  {
    std::unique_lock lock(mutex_);
    ends = ends_.wait_for(lock, rules_.after, [this] { return is_ending_; });
  }
  second_ = look();
  if (ends) return; // the program waits
  instructions_ = instruction_samples(worked_between(), rounds, [this] {
    const std::lock_guard lock(mutex_);
    return !is_ending_;
  });
  if (rules_.then) rules_.then();
}

std::vector<ThreadState> ThreadSampler::worked_between() const {
  std::vector<ThreadState> found;
  for (const auto& [id, now] : second_.threads) {
    const auto before = first_.threads.find(id);
    if (now.busy_ns > (before == first_.threads.end() ? 0 : before->second.busy_ns)) found.push_back(now);
  }
  return found;
}

void ThreadSampler::finish() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  ends_.notify_one();
  thread_.join();
}

json ThreadSampler::samples() const {
  if (second_.threads.empty()) return nullptr;
  json threads = json::array();
  const pid_t process = getpid();
  for (const auto& [id, now] : second_.threads) {
    const auto before = first_.threads.find(id);
    const bool known = before != first_.threads.end();
    const ThreadState then = known ? before->second : ThreadState{.state = 'R'};
    const std::int64_t between_ns =
        std::max<std::int64_t>(0, second_.at_ns - (known ? first_.at_ns : std::max(first_.at_ns, now.begun_ns)));
    const std::int64_t busy_ns = now.busy_ns - then.busy_ns;
    const std::string origin = object_at(origin_of(id));
    json thread{
        {"thread", id},
        {"name", now.name},
        {"main", id == process},
        {"started_by", origin.empty() ? json(nullptr) : json(origin)},
        {"processors", now.processors},
        {"processor", now.processor},
        {"state", std::string(1, now.state)},
        {"seconds", seconds(between_ns)},
        {"busy_seconds", seconds(busy_ns)},
        {"delayed_seconds",
         seconds(never_slept(then, now) ? between_ns - std::min(between_ns, busy_ns) : now.delayed_ns - then.delayed_ns)},
        {"at_first", known ? json{{"processors", then.processors}, {"processor", then.processor}} : json(nullptr)},
        {"instructions", json::object()}};
    if (const auto at = instructions_.find(id); at != instructions_.end())
      for (const std::uintptr_t instruction : at->second) {
        json& count = thread["instructions"][place_of(instruction)];
        count = count.is_null() ? 1 : count.get<int>() + 1;
      }
    threads.push_back(std::move(thread));
  }
  return {{"threads", threads},
          {"node", rules_.tells_node ? node_of(node_) : json(nullptr)},
          {"environment", environment()}};
}

} // namespace kumihimo::thread_samples
