// The communicators (and windows) that the program uses: by their handles as long as they live, and by how they were
// made for good. Communicators of the same size that one line of the program makes of like parents are one in the
// profile, so that a program which makes and frees thousands of them costs no more than one.
#pragma once

#include "mpi/library.hpp"
#include "mpi_hooks/call.hpp"
#include "record/call_counts.hpp"

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

// How a communicator came to be.
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
  bool inter = false;
  std::int64_t made = 0; // of this rank
  int rank = -1;         // this rank's own, or -1 where it differs among them
  auto identity() const { return std::tie(origin, size, leader, inter); }
};

// An entry time that was kept.
struct Sample {
  std::int64_t entry_ns = 0, exit_ns = 0;
  bool counts = true; // whether others wait for this rank in this call
  Row* row = nullptr; // null where nothing is split here: outside of what is recorded, or of another of a call's two
  std::int64_t weight = 1;       // calls for which it stands
  bool may_leave_before = false; // the one that is waited for
};

struct Communicator {
  std::uint64_t serial = 0;
  std::uint32_t kind = 0; // number in the profile
  int size = 0, rank = 0;
  bool inter = false, world = false;
  bool of_session = false; // then its ranks compare nothing: some may be before MPI_Init
  Handle handle = 0;
  Handle group = 0;
  std::uint64_t collectives = 0;
  std::vector<Sample> samples;

  // What the root's rank is when it is this one: between two groups it is a rank of the other, and never this one.
  int rank_of_root() const { return inter ? -1 : rank; }
};

class Communicators {
 public:
  explicit Communicators(const mpi::Library& library) : library_(library) {}
  void begin(); // once

  // What the handle stands for; made known at the first call. Null for the null handle.
  Communicator* of(Handle communicator) { return find(communicator, false); }
  Communicator* of_window(Handle window) { return find(window, true); }
  // A call has made it.
  void made(Handle handle, Origin origin);
  // It ends, and its handle may come back for another one. Of communicators their attribute tells.
  void window_ended(Handle window) { ended(window, true); }

  // A rank of it in the world, or -1.
  int world_rank(const Communicator& communicator, int rank);
  // This rank's traffic to a rank of it; null for none (MPI_PROC_NULL, or not in the world).
  Traffic* traffic(ThreadRecord& thread, const Communicator& communicator, int rank);

  // Those that live and have samples.
  std::vector<Communicator*> sampled();
  std::vector<CommunicatorKind> kinds();

 private:
  struct Cached {
    Handle handle = 0;
    std::uint64_t epoch = 0;
    bool window = false;
    Communicator* communicator = nullptr;
  };
  Communicator* find(Handle handle, bool window);
  void ended(Handle handle, bool window);
  void forget(Handle handle, bool window); // under the lock
  static int copied(Handle, int, void*, void*, void*, int* flag);
  static int deleted(Handle handle, int, void*, void* communicators);
  std::unique_ptr<Communicator> describe(Handle handle, bool window);
  std::uint32_t number_of(CommunicatorKind kind); // under the lock

  const mpi::Library& library_;
  Handle world_group_ = 0;
  int keyval_ = 0;                       // of an attribute that tells of an end which no call that we see makes
  std::atomic<std::uint64_t> epoch_ = 1; // counts ends, after which what threads remember is looked up again
  std::mutex mutex_;
  std::uint64_t serial_ = 0;
  std::unordered_map<Handle, std::unique_ptr<Communicator>> live_[2]; // windows are the second
  std::unordered_map<Handle, Origin> origins_[2];
  std::vector<CommunicatorKind> kinds_; // a kind's number is its place and one more
  std::map<std::tuple<Origin, int, int, bool>, std::uint32_t> numbers_;
};

} // namespace kumihimo::record
