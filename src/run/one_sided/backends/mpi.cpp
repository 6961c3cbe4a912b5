// One-sided communication of MPI (MPI 3.1, chapter 11): four kinds of windows, each with seven ways to synchronise.
//
//   allocate, create, dynamic, shared      MPI_Win_allocate, _create, _create_dynamic with _attach, _allocate_shared
//   flush      MPI_Win_lock_all once; MPI_Win_flush ends a put
//   lock_flush MPI_Win_lock (shared) of each rank once; MPI_Win_flush ends a put
//   request    as flush, with MPI_Rput and MPI_Rget, whose requests say that the source may be changed
//   lock       MPI_Win_lock (shared) and MPI_Win_unlock around each access
//   lock_all   MPI_Win_lock_all and MPI_Win_unlock_all likewise
//   fence      MPI_Win_fence by both ranks
//   pscw       MPI_Win_post, start, complete and wait
//
// Where the target takes part, the window is of the pair alone. mpi.h is not included (ADR 7).
#include "mpi/library.hpp"
#include "one_sided/backends.hpp"
#include "one_sided/measurement.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace kumihimo::one_sided {
namespace {

using mpi::Address, mpi::Handle;

#define KUMIHIMO_WINDOW_FUNCTIONS(X)                                                                                   \
  X(Win_create, (void*, Address, int, Handle, Handle, Handle*))                                                        \
  X(Win_allocate, (Address, int, Handle, Handle, void*, Handle*))                                                      \
  X(Win_allocate_shared, (Address, int, Handle, Handle, void*, Handle*))                                               \
  X(Win_create_dynamic, (Handle, Handle, Handle*))                                                                     \
  X(Win_attach, (Handle, void*, Address))                                                                              \
  X(Win_detach, (Handle, const void*))                                                                                 \
  X(Win_free, (Handle*))                                                                                               \
  X(Win_sync, (Handle))                                                                                                \
  X(Win_fence, (int, Handle))                                                                                          \
  X(Win_post, (Handle, int, Handle))                                                                                   \
  X(Win_start, (Handle, int, Handle))                                                                                  \
  X(Win_complete, (Handle))                                                                                            \
  X(Win_wait, (Handle))                                                                                                \
  X(Win_lock, (int, int, int, Handle))                                                                                 \
  X(Win_unlock, (int, Handle))                                                                                         \
  X(Win_lock_all, (int, Handle))                                                                                       \
  X(Win_unlock_all, (Handle))                                                                                          \
  X(Win_flush, (int, Handle))                                                                                          \
  X(Win_flush_all, (Handle))                                                                                           \
  X(Win_flush_local, (int, Handle))                                                                                    \
  X(Put, (const void*, int, Handle, int, Address, int, Handle, Handle))                                                \
  X(Get, (void*, int, Handle, int, Address, int, Handle, Handle))                                                      \
  X(Rput, (const void*, int, Handle, int, Address, int, Handle, Handle, Handle*))                                      \
  X(Rget, (void*, int, Handle, int, Address, int, Handle, Handle, Handle*))                                            \
  X(Fetch_and_op, (const void*, void*, Handle, int, Address, Handle, Handle))                                          \
  X(Compare_and_swap, (const void*, const void*, void*, Handle, int, Address, Handle))                                 \
  X(Group_incl, (Handle, int, const int*, Handle*))

struct WindowFunctions {
#define KUMIHIMO_WINDOW_DECLARE(name, arguments) int(*name) arguments = nullptr;
  KUMIHIMO_WINDOW_FUNCTIONS(KUMIHIMO_WINDOW_DECLARE)
#undef KUMIHIMO_WINDOW_DECLARE
};

Result<WindowFunctions> window_functions(const mpi::Library& library) {
  WindowFunctions functions;
  std::string lacking;
#define KUMIHIMO_WINDOW_FIND(name, arguments)                                                                          \
  functions.name = reinterpret_cast<int(*) arguments>(dlsym(library.image, "PMPI_" #name));                            \
  if (!functions.name && lacking.empty()) lacking = "MPI_" #name;
  KUMIHIMO_WINDOW_FUNCTIONS(KUMIHIMO_WINDOW_FIND)
#undef KUMIHIMO_WINDOW_FIND
  if (!lacking.empty()) return failed("the MPI library has no one-sided communication of MPI 3.0", "no " + lacking);
  return functions;
}

constexpr int displacement_unit = 1;
constexpr std::int64_t counter_bytes = 64;
constexpr std::int64_t alignment = 4096; // a page, as OSU's programs have it: copies depend on it

using AlignedMemory = std::unique_ptr<std::byte, decltype(&std::free)>;
Result<AlignedMemory> aligned_memory(std::int64_t bytes) {
  const auto whole = static_cast<std::size_t>((bytes + alignment - 1) / alignment * alignment);
  AlignedMemory made(static_cast<std::byte*>(std::aligned_alloc(alignment, whole)), &std::free);
  if (!made)
    return failed("there is not enough memory for a window", fmt::format("{} bytes", bytes), "give smaller --bytes");
  return made;
}

// A window, and what all ways to synchronise have in common.
class MpiWindow {
 public:
  MpiWindow(const OneSidedContext& context, WindowFunctions functions, std::string kind)
      : call_(functions), mpi_(context.mpi), world_(context.world), peers_(context.peers), kind_(std::move(kind)),
        byte_(context.mpi.constants.byte), long_(context.mpi.datatype(DataType::int64)) {}

  std::byte* memory() { return memory_; }
  std::byte* local() { return local_.get(); }
  std::int64_t counter() { return *counter_; }
  void set_counter(std::int64_t value) { *counter_ = value; }

 protected:
  // Of the pair alone or of all ranks.
  Status make(std::int64_t bytes, const std::optional<OneSidedPair>& pair) {
    const bool is_in = !pair || pair->has(peers_.rank());
    mpi_.call.Comm_split(world_, is_in ? 0 : mpi_.constants.undefined, peers_.rank(), &communicator_);
    place_.resize(static_cast<std::size_t>(peers_.ranks()));
    for (std::int32_t r = 0; r < peers_.ranks(); ++r)
      place_[static_cast<std::size_t>(r)] = !pair ? r : pair->first == r ? 0 : 1;
    Status status = Nothing{};
    if (is_in) {
      mpi_.call.Comm_set_errhandler(communicator_, mpi_.constants.errors_return);
      status = take_memory(bytes);
    }
    status = peers_.agree(status);
    if (status && is_in) status = make_window(bytes);
    if (status = peers_.agree(status); !status) {
      static_cast<void>(own_.release()); // windows of other ranks lead there, and are freed by all alone
      return status;
    }
    base_ = peers_.gather(kind_ == "dynamic" ? reinterpret_cast<std::int64_t>(memory_) : 0);
    counter_at_ = bytes_of_counter(bytes);
    if (memory_) counter_ = reinterpret_cast<std::int64_t*>(memory_ + counter_at_);
    return status;
  }
  void unmake() {
    if (window_ != 0) {
      if (kind_ == "dynamic") call_.Win_detach(window_, memory_);
      call_.Win_free(&window_);
      mpi_.call.Comm_free(&communicator_);
    }
    window_ = 0;
    memory_ = nullptr;
    own_.reset(), local_.reset();
  }

  // An epoch of all ranks that lasts as long as the window.
  Status make_locked(std::int64_t bytes) {
    const Status made = make(bytes, std::nullopt);
    if (made) call_.Win_lock_all(0, window_);
    return made;
  }
  void unmake_locked() {
    call_.Win_unlock_all(window_);
    unmake();
  }
  void meet_locked() {
    call_.Win_flush_all(window_); // some measures complete their puts only here
    call_.Win_sync(window_);
    world_barrier();
    call_.Win_sync(window_);
  }

  bool is_in() const { return window_ != 0; }
  void world_barrier() const { mpi_.call.Barrier(world_); }
  int place(std::int32_t rank) const { return place_[static_cast<std::size_t>(rank)]; }
  Address displacement(std::int32_t rank, std::int64_t offset) const {
    return base_[static_cast<std::size_t>(rank)] + offset;
  }
  void put_into(std::int32_t rank, std::int64_t offset, std::int64_t bytes) {
    const int n = static_cast<int>(bytes);
    call_.Put(local_.get() + offset, n, byte_, place(rank), displacement(rank, offset), n, byte_, window_);
  }
  void get_from(std::int32_t rank, std::int64_t offset, std::int64_t bytes) {
    const int n = static_cast<int>(bytes);
    call_.Get(local_.get() + offset, n, byte_, place(rank), displacement(rank, offset), n, byte_, window_);
  }
  std::int64_t fetch(Operation operation, std::int32_t rank, const std::int64_t& value, std::int64_t& old) {
    call_.Fetch_and_op(&value, &old, long_, place(rank), displacement(rank, counter_at_), mpi_.operation(operation),
                       window_);
    return old;
  }
  void replace(std::int32_t rank, const std::int64_t& value, std::int64_t& old) {
    call_.Fetch_and_op(&value, &old, long_, place(rank), displacement(rank, counter_at_),
                       mpi_.constants.operations_on_windows[0], window_);
  }
  void compare(std::int32_t rank, const std::int64_t& expected, const std::int64_t& value, std::int64_t& old) {
    call_.Compare_and_swap(&value, &expected, &old, long_, place(rank), displacement(rank, counter_at_), window_);
  }
  int lock_shared() const { return mpi_.family == mpi::LibraryFamily::open_mpi ? 2 : 235; } // MPI_LOCK_SHARED

  WindowFunctions call_;
  const mpi::Library& mpi_;
  Handle world_, communicator_ = 0, window_ = 0;
  OneSidedPeers& peers_;

 private:
  static std::int64_t bytes_of_counter(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

  bool has_own_memory() const { return kind_ == "create" || kind_ == "dynamic"; }
  static std::int64_t bytes_of_window(std::int64_t bytes) { return bytes_of_counter(bytes) + counter_bytes; }

  Status take_memory(std::int64_t bytes) {
    local_ = TRY(aligned_memory(bytes));
    if (has_own_memory()) own_ = TRY(aligned_memory(bytes_of_window(bytes)));
    return Nothing{};
  }

  Status make_window(std::int64_t bytes) {
    const std::int64_t all = bytes_of_window(bytes);
    const Handle info = mpi_.constants.info_null;
    int code = 0;
    if (kind_ == "allocate") {
      code = call_.Win_allocate(all, displacement_unit, info, communicator_, &memory_, &window_);
    } else if (kind_ == "shared") {
      code = call_.Win_allocate_shared(all, displacement_unit, info, communicator_, &memory_, &window_);
    } else {
      memory_ = own_.get();
      code = kind_ == "create" ? call_.Win_create(memory_, all, displacement_unit, info, communicator_, &window_)
                               : call_.Win_create_dynamic(info, communicator_, &window_);
      if (code == 0 && kind_ == "dynamic") code = call_.Win_attach(window_, memory_, all);
    }
    return mpi_.check(code, "the making of a window (" + kind_ + ")");
  }

  std::string kind_;
  Handle byte_, long_;
  std::byte* memory_ = nullptr;
  std::int64_t* counter_ = nullptr;
  std::int64_t counter_at_ = 0;
  AlignedMemory own_{nullptr, &std::free}, local_{nullptr, &std::free};
  std::vector<int> place_;         // in the window's communicator, by rank
  std::vector<std::int64_t> base_; // displacement of memory(), by rank
};

// MPI's collectives, measured once beside its windows.
class WithCollectives : public MpiWindow {
 public:
  using MpiWindow::MpiWindow;
  void barrier() { world_barrier(); }
  void broadcast(std::int64_t bytes, std::int32_t root) {
    void* const buffer = peers_.rank() == root ? local() : memory();
    mpi_.call.Bcast(buffer, static_cast<int>(bytes), mpi_.constants.byte, root, world_);
  }
  void reduce(std::int64_t count) {
    mpi_.call.Allreduce(local(), memory(), static_cast<int>(count), mpi_.datatype(DataType::int32),
                        mpi_.operation(Operation::sum), world_);
  }
  void collect(std::int64_t bytes) {
    const Handle byte = mpi_.constants.byte;
    const int n = static_cast<int>(bytes);
    mpi_.call.Allgather(local(), n, byte, memory(), n, byte, world_);
  }
};

// An epoch that lasts as long as the window.
class Flush : public WithCollectives {
 public:
  static constexpr std::string_view name = "flush";
  using WithCollectives::WithCollectives;
  Status allocate(std::int64_t bytes, const std::optional<OneSidedPair>&) { return make_locked(bytes); }
  void release() { unmake_locked(); }
  void meet() { meet_locked(); }
  void open(std::int32_t) {}
  void close(std::int32_t peer) { call_.Win_flush(place(peer), window_); }
  void start_put(std::int32_t peer, std::int64_t offset, std::int64_t bytes) { put_into(peer, offset, bytes); }
  void start_get(std::int32_t peer, std::int64_t offset, std::int64_t bytes) { get_from(peer, offset, bytes); }
  void put(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
    put_into(peer, offset, bytes);
    call_.Win_flush_local(place(peer), window_);
  }
  std::int64_t fetch_add(std::int32_t peer, std::int64_t value) {
    std::int64_t old = 0;
    fetch(Operation::sum, peer, value, old);
    close(peer);
    return old;
  }
  std::int64_t swap(std::int32_t peer, std::int64_t value) {
    std::int64_t old = 0;
    replace(peer, value, old);
    close(peer);
    return old;
  }
  std::int64_t compare_and_swap(std::int32_t peer, std::int64_t expected, std::int64_t value) {
    std::int64_t old = 0;
    compare(peer, expected, value, old);
    close(peer);
    return old;
  }
};

// Locks of single ranks that last as long as the window: as OSU's programs do it, and cheaper in some libraries.
class LockFlush : public Flush {
 public:
  static constexpr std::string_view name = "lock_flush";
  using Flush::Flush;
  Status allocate(std::int64_t bytes, const std::optional<OneSidedPair>& pair) {
    const Status made = make(bytes, std::nullopt);
    locked_.clear();
    for (std::int32_t r = 0; made && r < peers_.ranks(); ++r)
      if (!pair || (pair->has(peers_.rank()) && pair->other(peers_.rank()) == r)) locked_.push_back(r);
    for (const std::int32_t r : locked_) call_.Win_lock(lock_shared(), place(r), 0, window_);
    return made;
  }
  void release() {
    for (const std::int32_t r : locked_) call_.Win_unlock(place(r), window_);
    unmake();
  }
  void meet() {
    for (const std::int32_t r : locked_) call_.Win_flush(place(r), window_);
    if (!locked_.empty()) call_.Win_sync(window_);
    world_barrier();
    if (!locked_.empty()) call_.Win_sync(window_);
  }

 private:
  std::vector<std::int32_t> locked_;
};

class RequestBased : public MpiWindow {
 public:
  static constexpr std::string_view name = "request";
  using MpiWindow::MpiWindow;
  Status allocate(std::int64_t bytes, const std::optional<OneSidedPair>&) {
    requests_.reserve(most_requests);
    return make_locked(bytes);
  }
  void release() { unmake_locked(); }
  void meet() { meet_locked(); }
  void open(std::int32_t) {}
  void close(std::int32_t peer) {
    for (Handle& request : requests_) mpi_.call.Wait(&request, mpi_.constants.status_ignore);
    requests_.clear();
    call_.Win_flush(place(peer), window_);
  }
  void start_put(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
    const int n = static_cast<int>(bytes);
    const Handle byte = mpi_.constants.byte;
    call_.Rput(local() + offset, n, byte, place(peer), displacement(peer, offset), n, byte, window_, &next());
  }
  void start_get(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
    const int n = static_cast<int>(bytes);
    const Handle byte = mpi_.constants.byte;
    call_.Rget(local() + offset, n, byte, place(peer), displacement(peer, offset), n, byte, window_, &next());
  }
  void put(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
    start_put(peer, offset, bytes);
    mpi_.call.Wait(&requests_.back(), mpi_.constants.status_ignore);
    requests_.pop_back();
  }
  void get(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
    start_get(peer, offset, bytes);
    mpi_.call.Wait(&requests_.back(), mpi_.constants.status_ignore);
    requests_.pop_back();
  }

 private:
  static constexpr std::size_t most_requests = 1024;
  Handle& next() { return requests_.emplace_back(mpi_.constants.request_null); }
  std::vector<Handle> requests_; // whole words, also where a handle is 32 bits long
};

// An epoch for each operation: of one rank, or of all.
template <bool of_all>
class LockEpoch : public MpiWindow {
 public:
  static constexpr std::string_view name = of_all ? "lock_all" : "lock";
  using MpiWindow::MpiWindow;
  Status allocate(std::int64_t bytes, const std::optional<OneSidedPair>&) { return make(bytes, std::nullopt); }
  void release() { unmake(); }
  void meet() { world_barrier(); }
  void open(std::int32_t peer) {
    if constexpr (of_all)
      call_.Win_lock_all(0, window_);
    else
      call_.Win_lock(lock_shared(), place(peer), 0, window_);
  }
  void close(std::int32_t peer) {
    if constexpr (of_all)
      call_.Win_unlock_all(window_);
    else
      call_.Win_unlock(place(peer), window_);
  }
  void start_put(std::int32_t peer, std::int64_t offset, std::int64_t bytes) { put_into(peer, offset, bytes); }
  void start_get(std::int32_t peer, std::int64_t offset, std::int64_t bytes) { get_from(peer, offset, bytes); }
  std::int64_t fetch_add(std::int32_t peer, std::int64_t value) {
    std::int64_t old = 0;
    open(peer);
    fetch(Operation::sum, peer, value, old);
    close(peer);
    return old;
  }
  std::int64_t swap(std::int32_t peer, std::int64_t value) {
    std::int64_t old = 0;
    open(peer);
    replace(peer, value, old);
    close(peer);
    return old;
  }
  std::int64_t compare_and_swap(std::int32_t peer, std::int64_t expected, std::int64_t value) {
    std::int64_t old = 0;
    open(peer);
    compare(peer, expected, value, old);
    close(peer);
    return old;
  }
};

// A fence ends an epoch and begins one, so the one that ended the own access also begins the exposure after it.
class FenceEpoch : public MpiWindow {
 public:
  static constexpr std::string_view name = "fence";
  using MpiWindow::MpiWindow;
  Status allocate(std::int64_t bytes, const std::optional<OneSidedPair>& pair) { return make(bytes, pair); }
  void release() { unmake(); }
  void meet() { world_barrier(); }
  void open(std::int32_t) { fence_window(); }
  void close(std::int32_t) { fence_window(); }
  void expose(std::int32_t, bool follows_own_access) {
    if (!follows_own_access) fence_window();
  }
  void conceal(std::int32_t) { fence_window(); }
  void expose_and_open(std::int32_t) { fence_window(); }
  void close_and_conceal(std::int32_t) { fence_window(); }
  void start_put(std::int32_t peer, std::int64_t offset, std::int64_t bytes) { put_into(peer, offset, bytes); }
  void start_get(std::int32_t peer, std::int64_t offset, std::int64_t bytes) { get_from(peer, offset, bytes); }

 private:
  void fence_window() { call_.Win_fence(0, window_); }
};

class PostStart : public MpiWindow {
 public:
  static constexpr std::string_view name = "pscw";
  using MpiWindow::MpiWindow;
  Status allocate(std::int64_t bytes, const std::optional<OneSidedPair>& pair) {
    if (Status made = make(bytes, pair); !made) return made;
    if (!is_in() || !pair) return Nothing{};
    Handle all = 0;
    mpi_.call.Comm_group(communicator_, &all);
    const int other = place(pair->other(peers_.rank()));
    call_.Group_incl(all, 1, &other, &other_);
    mpi_.call.Group_free(&all);
    return Nothing{};
  }
  void release() {
    if (other_ != 0) mpi_.call.Group_free(&other_);
    other_ = 0;
    unmake();
  }
  void meet() { world_barrier(); }
  void open(std::int32_t) { call_.Win_start(other_, 0, window_); }
  void close(std::int32_t) { call_.Win_complete(window_); }
  void expose(std::int32_t, bool) { call_.Win_post(other_, 0, window_); }
  void conceal(std::int32_t) { call_.Win_wait(window_); }
  void expose_and_open(std::int32_t) {
    call_.Win_post(other_, 0, window_);
    call_.Win_start(other_, 0, window_);
  }
  void close_and_conceal(std::int32_t) {
    call_.Win_complete(window_);
    call_.Win_wait(window_);
  }
  void start_put(std::int32_t peer, std::int64_t offset, std::int64_t bytes) { put_into(peer, offset, bytes); }
  void start_get(std::int32_t peer, std::int64_t offset, std::int64_t bytes) { get_from(peer, offset, bytes); }

 private:
  Handle other_ = 0; // the group of the other rank of the pair
};

constexpr std::array<std::string_view, 4> kinds = {"allocate", "create", "dynamic", "shared"};

template <class Synchronisation>
Status measure_one(const OneSidedContext& context, const WindowFunctions& functions, const OneSidedTask& task,
                   const std::string& kind) {
  Synchronisation window(context, functions, kind);
  const ResultLabels labels = {
      {"backend", "mpi"}, {"window_kind", kind}, {"synchronisation", std::string(Synchronisation::name)}};
  return measure_library(window, context.peers, task, labels);
}

template <class... Synchronisations>
Status measure_named(const OneSidedContext& context, const WindowFunctions& functions, const OneSidedTask& task,
                     const std::string& kind, const std::string& name) {
  Status status = wrong_value(fmt::format("a synchronisation must be one of {}",
                                          fmt::join(std::vector<std::string_view>{Synchronisations::name...}, ", ")),
                              "'" + name + "'");
  const auto tried = [&]<class S>(S*) {
    if (name == S::name) status = measure_one<S>(context, functions, task, kind);
  };
  (tried(static_cast<Synchronisations*>(nullptr)), ...);
  return status;
}

Status known_kind(const OneSidedContext& context, const std::string& kind) {
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
    return wrong_value(fmt::format("a window must be one of {}", fmt::join(kinds, ", ")), "'" + kind + "'");
  const std::vector<std::int64_t> nodes = context.peers.node_of_rank();
  if (kind == "shared" && std::any_of(nodes.begin(), nodes.end(), [&](std::int64_t node) { return node != nodes[0]; }))
    return not_applicable("a shared window needs all ranks on one node");
  return Nothing{};
}

} // namespace

Status measure_mpi(const OneSidedContext& context, const OneSidedTask& task) {
  const Result<WindowFunctions> functions = window_functions(context.mpi);
  if (Status s = context.peers.agree(functions ? Status(Nothing{}) : Status(functions.error())); !s) return s;
  // A kind that this machine cannot make does not keep the others from being measured.
  Status last = Nothing{};
  bool is_any = false;
  for (const std::string& kind : task.windows) {
    for (const std::string& name : task.synchronisations) {
      Status s = known_kind(context, kind);
      if (s)
        s = measure_named<Flush, LockFlush, RequestBased, LockEpoch<false>, LockEpoch<true>, FenceEpoch, PostStart>(
            context, *functions, task, kind, name);
      is_any |= s.ok();
      if (s) continue;
      last = s;
      context.peers.print({{"notes", {fmt::format("windows by {}, {}: {}", kind, name, s.error().sentence())}}});
    }
  }
  return is_any ? Status(Nothing{}) : last;
}

} // namespace kumihimo::one_sided
