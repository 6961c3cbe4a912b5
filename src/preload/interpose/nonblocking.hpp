// Our non-blocking collectives. The program holds a generalised request of MPI for each, so all functions of MPI that
// wait and test work, also together with other requests.
//
// The program's waits and tests advance them, and otherwise a progress thread: the program may compute meanwhile, or
// wait for a message that another rank sends after its own wait. The thread sleeps while there is nothing to do. It
// calls no MPI function, because the program may not have asked for threads. So all ranks of the communicator must
// share memory. The program's threads complete the requests, within their calls.
//
// Most of these calls are hooked. But a tool or a plug-in may call MPI_Wait in ways that no hook sees: by the profiling
// name, or bound to the library's own function. The library then waits and calls poll(), wait() or progress() meanwhile
// (mpi::ProgressExtensions). Without such an extension it runs all non-blocking calls.
//
// Calls on a communicator are numbered in their order, which MPI wants equal on all its ranks. Blocking and
// non-blocking calls have numbers of their own (transport::Stream), since libraries match them so and programs rely on
// it. Once a communicator is connected, nothing that ranks must find alike in a call of one form rests on calls of the
// other. So the first blocking call that needs a plan which a non-blocking call has made agrees on it as on a new one.
// Non-blocking calls agree on nothing; they find the plans of blocking ones.
//
// Of many calls that are started at once on a communicator, a few are under way, as their memory allows. The others
// follow in their order. The oldest call that some rank has not ended is the oldest of every such rank. So it is under
// way on all of them, and ends.
#pragma once

#include "mpi/library.hpp"
#include "mpi/progress_extensions.hpp"
#include "mpi_hooks/call.hpp"
#include "plan/plan.hpp"
#include "transport/transport.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace kumihimo::interpose {

struct Started;

// The requests of an MPI call, read in place; without a call, none. Allocates nothing: waits must go on without memory.
class Requests {
 public:
  Requests() = default;
  explicit Requests(const mpi_hooks::HookedCall& call)
      : call_(&call), size_(call.has(mpi_hooks::Role::request)    ? 1
                            : call.has(mpi_hooks::Role::requests) ? call.integer(mpi_hooks::Role::request_count)
                                                                  : 0) {}
  bool empty() const { return size_ <= 0; }
  std::int64_t size() const { return size_; }
  template <class F>
  bool any_of(F&& is) const {
    const bool is_one = call_ && call_->has(mpi_hooks::Role::request);
    for (std::int64_t i = 0; i < size_; ++i)
      if (is(is_one ? call_->handle_at(mpi_hooks::Role::request) : call_->handle(mpi_hooks::Role::requests, i)))
        return true;
    return false;
  }

 private:
  const mpi_hooks::HookedCall* call_ = nullptr;
  std::int64_t size_ = 0;
};

// Each operation has one node, which moves from list to list, so that nothing is allocated once it has started.
using StartedList = std::list<Started*>;

// The collectives of one communicator that are not complete.
struct PendingQueue {
  std::atomic<std::int32_t> calls = 0; // blocking ones included
  // The non-blocking ones, under the lock of Nonblocking.
  StartedList waiting; // in the order of the calls, after those that are under way; mostly empty
  std::int32_t under_way = 0;
  std::int64_t under_way_bytes = 0;
};

// A plan to run, with its transport and buffers.
struct PlannedWork {
  plan::Plan* plan = nullptr;
  transport::Transport* transport = nullptr;
  PendingQueue* queue = nullptr; // the transport's
  execute::Buffers buffers;
  mpi::Handle communicator = 0;        // the program's, whose error handler is called on failure
  std::function<Status()> at_end = {}; // called by a thread of the program, on success
};

class Nonblocking {
 public:
  // Reports an error, and calls the error handler of a communicator if one is given; returns the code for the wait.
  using Raise = std::function<int(const Error&, std::optional<mpi::Handle>)>;
  Nonblocking(const mpi::Library& library, Raise raise)
      : library_(library), extensions_(mpi::progress_extensions(library)), raise_(std::move(raise)) {}
  ~Nonblocking() { stop(); }
  Nonblocking(const Nonblocking&) = delete;
  Nonblocking& operator=(const Nonblocking&) = delete;

  // Whether every wait and test completes our requests, by whatever name it is called. Else none may be started.
  bool is_possible() const { return extensions_.any(); }
  // Starts a call and returns the library's request for the program. Error: no memory for one more; nothing was
  // started.
  Result<mpi::Handle> start(PlannedWork work);
  // Runs a blocking call after the calls that are under way on its communicator.
  Status run(PlannedWork work);
  // For a failure of this rank before its part of a call: the transport tells the others, which stop waiting.
  void abandon(transport::Transport& transport, const Error& error);
  // Waits until all its calls have ended, before its transport is freed.
  void drain(const PendingQueue& queue);

  // Whether any is incomplete, or has failed and not been freed.
  bool any() const { return requests_.load(std::memory_order_acquire) > 0; }
  bool holds(mpi::Handle request); // ours, and not complete
  bool holds_any(const Requests& requests);
  // Whether one of these has failed. Its handler was called, or is called now; it will fail again when the library
  // completes it. Without requests: whether any has failed.
  bool has_failed(const Requests& requests);
  const mpi::Library& library() const { return library_; }
  // One step of a waiting thread.
  void turn();
  // Waits until none of these is ours and incomplete: the library may wait for all of them then.
  void finish(const Requests& requests);
  // Makes progress in a test of these. A program that tests one of ours in a loop waits for it, so the time limit
  // holds.
  void make_progress(const Requests& requests);
  void stop(); // ends the thread; a later call starts another one

 private:
  // Marks its thread, on which the library may call progress() in an MPI function that the holder calls.
  class Lock : public std::unique_lock<std::mutex> {
   public:
    template <class... Try>
    explicit Lock(std::mutex& mutex, Try... attempt) : unique_lock(mutex, attempt...), outer_(holds_) {
      holds_ |= owns_lock();
    }
    ~Lock() { holds_ = outer_; }
    static bool is_held_here() { return holds_; }

   private:
    static constinit thread_local bool holds_;
    bool outer_;
  };
  // Who completes: a hooked call of the program, in which its error handler may be called, or the library in others.
  enum class Completer : std::uint8_t { program, library };

  // With the lock:
  void begin_next(PendingQueue& queue);               // starts those that may be under way now
  Status begin(Started& operation, StartedList& one); // left empty if it is under way
  Status begin_now(Started& operation, StartedList& one);
  static void make_room(const Started& ended);
  void end(StartedList& one);
  bool drive(); // true: something moved
  void drive_or_wait();

  bool advance(Started& operation); // true: it is at its end
  void complete(Completer by);      // all that are done
  Started* next_done(Completer by);
  void complete(Started& operation);
  void end_of(Started* operation);
  void begin_helper();
  void help();

  static int query(void* operation, mpi::StatusWords* status);
  static int free(void* operation);
  static int cancel(void*, int) { return 0; }
  static int poll(void* operation, mpi::StatusWords*);
  static int wait(int number, void** operations, double, mpi::StatusWords*);
  static int progress();

  static inline std::atomic<Nonblocking*> registered_ = nullptr; // whose progress() the library calls
  const mpi::Library& library_;
  const mpi::ProgressExtensions extensions_;
  Raise raise_;
  std::atomic<std::int32_t> requests_ = 0;
  std::atomic<std::int32_t> waiters_ = 0; // threads of the program that drive; then ours pauses

  std::mutex mutex_; // of what follows, and of every transport with a call under way
  StartedList under_way_;
  StartedList done_;            // whose requests are not complete
  std::int64_t idle_turns_ = 0; // of progress(), in which nothing moved
  std::map<mpi::Handle, Started*> by_request_;
  std::condition_variable wake_;
  std::thread helper_;
  bool sleeps_ = false, stops_ = false, has_no_helper_ = false;

  // A lock of its own, never held in an MPI call. The library may free requests while it holds its own lock, for which
  // a holder of mutex_ may wait.
  std::mutex failed_mutex_;
  std::map<mpi::Handle, Started*> failed_; // complete and not freed; nodes of by_request_
};

} // namespace kumihimo::interpose
