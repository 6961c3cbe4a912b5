// The communicators and windows of the program: the live ones by their handles, and kinds of all by the way they were
// made. Communicators of the same size, with the same first and last rank, made by one line of the program from parents
// of one kind are one kind, so a program that makes and frees thousands of them needs no more memory than for one. The
// last rank tells a row of a grid from a column.
#pragma once

#include "mpi/library.hpp"
#include "mpi_hooks/call.hpp"
#include "record/call_counts.hpp"
#include "record/regions.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace kumihimo::record {

using mpi::Handle;

inline constexpr std::string_view object_name = "recorder"; // for mpi_hooks::PreloadCheck

// The call that made a communicator.
struct Origin {
  std::string name; // of a predefined one, else the call that made it
  std::uint32_t parent = 0;
  std::uintptr_t site = 0;
  bool python = false;
  bool window = false;
  auto operator<=>(const Origin&) const = default;
};

struct CommunicatorKind {
  Origin origin;
  int size = 0;   // ranks that a call on it reaches
  int leader = 0; // rank in the world of its rank 0
  int last = 0;   // and of its last rank
  bool inter = false;
  std::int64_t made = 0; // of this rank
  int rank = -1;         // this rank's own, or -1 if it differs among them
  auto identity() const { return std::tie(origin, size, leader, last, inter); }
};

// When a non-blocking collective was waited for: by one call, for so many requests at once. Any thread may complete it.
class Completion {
 public:
  struct Call {
    std::int64_t entry_ns = 0, exit_ns = 0, requests = 0; // 0: not yet
  };
  void set(std::int64_t entry_ns, std::int64_t exit_ns, std::int64_t requests) {
    entry_ns_ = entry_ns, exit_ns_ = exit_ns;
    requests_.store(requests, std::memory_order_release);
  }
  Call call() const {
    const std::int64_t requests = requests_.load(std::memory_order_acquire);
    return {entry_ns_, exit_ns_, requests};
  }

 private:
  std::atomic<std::int64_t> entry_ns_ = 0, exit_ns_ = 0, requests_ = 0;
};

// A sampled call.
struct Sample {
  std::int64_t entry_ns = 0, exit_ns = 0;
  bool counts = true;                                // whether others wait for this rank in this call
  Row* row = nullptr;                                // null: this sample does not separate waiting on this rank
  std::int64_t weight = 1;                           // calls that it represents
  bool may_leave_before = false;                     // the awaited rank has entered
  std::shared_ptr<const Completion> completion = {}; // of a non-blocking call: where it waits
  std::vector<RegionCounts*> regions = {};           // in which the program made the call
};

struct RecordedCommunicator {
  std::uint64_t serial = 0;
  std::uint32_t kind = 0; // number in the profile
  int size = 0, rank = 0;
  bool inter = false, world = false;
  bool of_session = false; // its ranks compare no times: some may be before MPI_Init
  Handle handle = 0;
  Handle group = 0;
  std::uint64_t collectives = 0;
  std::vector<Sample> samples;

  // The root's rank if this rank is the root. On an intercommunicator the root is never this rank: -1.
  int rank_of_root() const { return inter ? -1 : rank; }
};

class Communicators {
 public:
  explicit Communicators(const mpi::Library& library) : library_(library) {}
  void begin(); // once

  // The communicator or window of a handle, looked up in the library at its first call. Null for the null handle.
  RecordedCommunicator* of(Handle communicator) { return find(communicator, false); }
  RecordedCommunicator* of_window(Handle window) { return find(window, true); }
  // Changes when one ends: until then a handle stands for the same one. Read it before of() or of_window().
  std::uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }
  // Called when a call has made it.
  void made(Handle handle, Origin origin);
  // Called when it ends: its handle may be used again. (An attribute reports the end of communicators.)
  void window_ended(Handle window) { ended(window, true); }

  // The rank in the world of a rank in it, or -1.
  int world_rank(const RecordedCommunicator& communicator, int rank);
  // This rank's traffic to a rank of it; null for none (MPI_PROC_NULL, or not in the world).
  [[gnu::hot]] PeerTraffic* traffic(ThreadRecord& thread, const RecordedCommunicator& communicator, int rank);

  // Live communicators with samples.
  std::vector<RecordedCommunicator*> sampled();
  std::vector<CommunicatorKind> kinds();

 private:
  struct Cached {
    Handle handle = 0;
    std::uint64_t epoch = 0;
    bool window = false;
    RecordedCommunicator* communicator = nullptr;
  };
  RecordedCommunicator* find(Handle handle, bool window);
  void ended(Handle handle, bool window);
  void forget(Handle handle, bool window); // under the lock
  static int copied(Handle, int, void*, void*, void*, int* flag);
  static int deleted(Handle handle, int, void*, void* communicators);
  std::unique_ptr<RecordedCommunicator> describe(Handle handle, bool window);
  std::uint32_t number_of(CommunicatorKind kind); // under the lock

  const mpi::Library& library_;
  Handle world_group_ = 0;
  int keyval_ = 0;                       // of the attribute that reports an end by a call that is not hooked
  std::atomic<std::uint64_t> epoch_ = 1; // counts ends, after which threads forget what they remember
  std::mutex mutex_;
  std::uint64_t serial_ = 0;
  std::unordered_map<Handle, std::unique_ptr<RecordedCommunicator>> live_[2]; // windows are the second
  std::unordered_map<Handle, Origin> origins_[2];
  std::vector<CommunicatorKind> kinds_; // a kind's number is its place and one more
  std::map<std::tuple<Origin, int, int, int, bool>, std::uint32_t> numbers_;
};

} // namespace kumihimo::record
