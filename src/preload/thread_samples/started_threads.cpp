#include "thread_samples/started_threads.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <new>

namespace kumihimo::thread_samples {
namespace {

// Of zeros before any constructor runs: libraries start threads as they are loaded.
struct Note {
  std::atomic<pid_t> thread;
  std::atomic<std::uintptr_t> origin;
};
constexpr std::size_t most_notes = 4096;
constinit std::array<Note, most_notes> notes{};
constinit std::atomic<std::uint64_t> next{0};

struct Start {
  void* (*function)(void*);
  void* argument;
  std::uintptr_t origin;
};

void* run_noted(void* given) {
  const Start start = *static_cast<Start*>(given);
  delete static_cast<Start*>(given);
  Note& note = notes[next.fetch_add(1, std::memory_order_relaxed) % most_notes];
  note.origin.store(start.origin, std::memory_order_relaxed);
  note.thread.store(static_cast<pid_t>(syscall(SYS_gettid)), std::memory_order_release);
  return start.function(start.argument);
}

// std::thread starts a function of libstdc++ with an object whose virtual functions are those of the caller.
std::uintptr_t origin(void* (*start)(void*), void* argument) {
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  Dl_info object{};
  if (!argument || !dladdr(reinterpret_cast<void*>(start), &object) || !object.dli_fname) return address;
  const char* const slash = std::strrchr(object.dli_fname, '/');
  if (!std::strstr(slash ? slash : object.dli_fname, "libstdc++")) return address;
  return *static_cast<const std::uintptr_t*>(argument);
}

} // namespace

int create_noted(CreateThread create, pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                 void* argument) {
  auto* const given = new (std::nothrow) Start{start, argument, origin(start, argument)};
  if (!given) return create(thread, attributes, start, argument);
  const int code = create(thread, attributes, run_noted, given);
  if (code != 0) delete given;
  return code;
}

std::uintptr_t origin_of(pid_t thread) {
  const std::uint64_t noted = next.load(std::memory_order_acquire);
  for (std::uint64_t back = 1; back <= most_notes && back <= noted; ++back) { // ids are used again: the last one counts
    const Note& note = notes[(noted - back) % most_notes];
    if (note.thread.load(std::memory_order_acquire) == thread) return note.origin.load(std::memory_order_relaxed);
  }
  return 0;
}

} // namespace kumihimo::thread_samples
