// Remote memory of programs (kumihimo/remote_memory.h), through the library that programs link with, opened at run
// time. Its barrier and its waits make the progress of the target. Atomics are measured with a second opening, because
// some providers order puts only without them.
#include "one_sided/backends.hpp"
#include "one_sided/measurement.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <kumihimo/remote_memory.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace kumihimo::one_sided {
namespace {

constexpr double limit = 60; // seconds of a wait, which never takes a thousandth of that

#define KUMIHIMO_RMA_FUNCTIONS(X)                                                                                      \
  X(open)                                                                                                              \
  X(close)                                                                                                             \
  X(description)                                                                                                       \
  X(register)                                                                                                          \
  X(deregister)                                                                                                        \
  X(put)                                                                                                               \
  X(put_flag)                                                                                                          \
  X(get)                                                                                                               \
  X(fetch_add)                                                                                                         \
  X(compare_and_swap)                                                                                                  \
  X(wait)                                                                                                              \
  X(fence)                                                                                                             \
  X(wait_flag)                                                                                                         \
  X(barrier)                                                                                                           \
  X(error)

struct RemoteMemoryFunctions {
#define KUMIHIMO_RMA_DECLARE(name) decltype(&::kumihimo_rma_##name) name##_ = nullptr;
  KUMIHIMO_RMA_FUNCTIONS(KUMIHIMO_RMA_DECLARE)
#undef KUMIHIMO_RMA_DECLARE
};

Result<RemoteMemoryFunctions> open_remote_memory(const std::string& path) {
  void* const image = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!image) {
    const char* reason = dlerror();
    return failed("cannot load the library of remote memory " + path, reason ? reason : "");
  }
  RemoteMemoryFunctions functions;
  std::string lacking;
#define KUMIHIMO_RMA_FIND(name)                                                                                        \
  functions.name##_ = reinterpret_cast<decltype(functions.name##_)>(dlsym(image, "kumihimo_rma_" #name));              \
  if (!functions.name##_ && lacking.empty()) lacking = "kumihimo_rma_" #name;
  KUMIHIMO_RMA_FUNCTIONS(KUMIHIMO_RMA_FIND)
#undef KUMIHIMO_RMA_FIND
  if (!lacking.empty()) return failed(path + " is no library of remote memory", "no " + lacking);
  return functions;
}

// Between ranks, while the library opens and where keys are handed round.
int exchange_by_mpi(const void* mine, void* all, std::size_t bytes, void* given) {
  const auto& context = *static_cast<const OneSidedContext*>(given);
  const int n = static_cast<int>(bytes);
  const mpi::Handle byte = context.mpi.constants.byte;
  return context.mpi.call.Allgather(mine, n, byte, all, n, byte, context.world);
}

class RemoteMemoryPuts {
 public:
  RemoteMemoryPuts(const RemoteMemoryFunctions& functions, const OneSidedContext& context)
      : call_(functions), context_(context), keys_(static_cast<std::size_t>(context.peers.ranks())),
        counters_(keys_.size()), waited_(keys_.size()) {}
  ~RemoteMemoryPuts() { call_.close_(rma_, limit); }
  RemoteMemoryPuts(const RemoteMemoryPuts&) = delete;
  RemoteMemoryPuts& operator=(const RemoteMemoryPuts&) = delete;

  Status open_library(const std::string& options) {
    const int code = call_.open_(context_.peers.rank(), context_.peers.ranks(), exchange_by_mpi,
                                 const_cast<OneSidedContext*>(&context_), options.c_str(), &rma_);
    if (code == KUMIHIMO_RMA_OK) return Nothing{};
    return code == KUMIHIMO_RMA_NOT_SUPPORTED ? not_applicable(call_.error_()) : failed(call_.error_());
  }
  std::string description() const { return call_.description_(rma_); }
  const Status& status() const { return status_; }

  Status allocate(std::int64_t bytes, const std::optional<OneSidedPair>&) {
    memory_ = std::make_unique<std::byte[]>(static_cast<std::size_t>(bytes));
    local_ = std::make_unique<std::byte[]>(static_cast<std::size_t>(bytes));
    note(call_.register_(rma_, memory_.get(), bytes, &mine_));
    note(call_.register_(rma_, &counter_, sizeof counter_, &my_counter_));
    exchange_by_mpi(&mine_, keys_.data(), sizeof mine_, const_cast<OneSidedContext*>(&context_));
    exchange_by_mpi(&my_counter_, counters_.data(), sizeof mine_, const_cast<OneSidedContext*>(&context_));
    return status_;
  }
  void release() {
    meet();
    note(call_.deregister_(rma_, &mine_));
    note(call_.deregister_(rma_, &my_counter_));
  }
  std::byte* memory() { return memory_.get(); }
  std::byte* local() { return local_.get(); }
  std::int64_t counter() { return *static_cast<volatile std::int64_t*>(&counter_); }
  void set_counter(std::int64_t value) { counter_ = value; }
  void meet() {
    note(call_.fence_(rma_, KUMIHIMO_RMA_ALL_RANKS, limit));
    barrier();
  }

  void open(std::int32_t) {}
  void close(std::int32_t peer) { note(call_.fence_(rma_, peer, limit)); }
  void start_put(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
    note(call_.put_(rma_, local_.get() + offset, bytes, key(peer), offset, nullptr));
  }
  void start_get(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
    note(call_.get_(rma_, local_.get() + offset, bytes, key(peer), offset, nullptr));
  }
  void put(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
    note(call_.put_(rma_, local_.get() + offset, bytes, key(peer), offset, &open_));
    wait();
  }
  void get(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
    note(call_.get_(rma_, local_.get() + offset, bytes, key(peer), offset, &open_));
    wait();
  }
  // The flag of a source is its rank.
  void put_flag(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
    note(call_.put_flag_(rma_, local_.get() + offset, bytes, key(peer), offset, context_.peers.rank(), &open_));
    wait();
  }
  void wait_flag(std::int32_t peer) {
    if (status_) note(call_.wait_flag_(rma_, peer, ++waited_[static_cast<std::size_t>(peer)], peer, limit));
  }
  void barrier() { note(call_.barrier_(rma_, limit)); }

 protected:
  const kumihimo_rma_key* counter_key(std::int32_t peer) const { return &counters_[static_cast<std::size_t>(peer)]; }
  void wait() { note(call_.wait_(rma_, &open_, limit)); }
  void note(int code) {
    if (code != KUMIHIMO_RMA_OK && status_) status_ = failed(call_.error_());
  }

  const RemoteMemoryFunctions& call_;
  kumihimo_rma* rma_ = nullptr;
  kumihimo_rma_completion open_ = KUMIHIMO_RMA_NOTHING;

 private:
  const kumihimo_rma_key* key(std::int32_t peer) const { return &keys_[static_cast<std::size_t>(peer)]; }

  const OneSidedContext& context_;
  std::unique_ptr<std::byte[]> memory_, local_;
  alignas(64) std::int64_t counter_ = 0;
  kumihimo_rma_key mine_{}, my_counter_{};
  std::vector<kumihimo_rma_key> keys_, counters_; // by rank
  std::vector<std::int64_t> waited_;              // flags of each rank
  Status status_ = Nothing{};
};

class RemoteMemoryAtomics : public RemoteMemoryPuts {
 public:
  using RemoteMemoryPuts::RemoteMemoryPuts;
  std::int64_t fetch_add(std::int32_t peer, std::int64_t value) {
    std::int64_t old = 0;
    note(call_.fetch_add_(rma_, counter_key(peer), 0, value, &old, &open_));
    wait();
    return old;
  }
  std::int64_t compare_and_swap(std::int32_t peer, std::int64_t expected, std::int64_t value) {
    std::int64_t old = 0;
    note(call_.compare_and_swap_(rma_, counter_key(peer), 0, expected, value, &old, &open_));
    wait();
    return old;
  }
};

bool is_atomic(const std::string& measure) {
  return measure.find("fetch") != std::string::npos || measure.find("swap") != std::string::npos;
}

template <class L>
Status measure_with(L& library, const OneSidedContext& context, const OneSidedTask& task) {
  if (task.measures.empty()) return Nothing{};
  const ResultLabels labels = {{"backend", "fabric"}, {"fabric", library.description()}};
  if (Status s = measure_library(library, context.peers, task, labels); !s) return s;
  return library.status();
}

} // namespace

Status measure_fabric(const OneSidedContext& context, const OneSidedTask& task) {
  OneSidedPeers& peers = context.peers;
  const Result<RemoteMemoryFunctions> call = open_remote_memory(task.image);
  if (Status s = peers.agree(call ? Status(Nothing{}) : Status(call.error())); !s) return s;
  OneSidedTask puts = task, atomics = task;
  std::erase_if(puts.measures, is_atomic);
  std::erase_if(atomics.measures, [](const std::string& each) { return !is_atomic(each); });
  {
    RemoteMemoryPuts library(*call, context);
    if (Status s = peers.agree(library.open_library(task.options)); !s) return s;
    if (Status s = measure_with(library, context, puts); !s) return s;
  }
  RemoteMemoryAtomics library(*call, context);
  if (Status s = peers.agree(library.open_library(task.options + " atomics=1")); !s) return s;
  if (library.description().ends_with("no atomics")) return measure_with<RemoteMemoryPuts>(library, context, atomics);
  return measure_with(library, context, atomics);
}

} // namespace kumihimo::one_sided
