// Non-blocking collectives of ours. The program holds one of MPI's generalised requests for each, so that the library
// keeps all ways of waiting and testing, also together with other requests.
//
// Who moves them: the program's own waits and tests, which are hooked, and otherwise a thread of ours. The program may
// compute meanwhile, or wait for a message that another rank sends only after its own wait. The thread sleeps while
// there is nothing to do. It calls no function of MPI, so that a program which asked for no threads has none in MPI;
// therefore only communicators whose ranks all share memory are taken. The program's own threads complete the requests,
// within their calls.
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
#include "mpi_hooks/call.hpp"
#include "plan/plan_cache.hpp"
#include "transport/transport.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <thread>

namespace kumihimo::interpose {

struct Started;

// The requests that a call of MPI names, where they stand; without a call, none. Needs no memory: waits must go on
// where there is none left.
class Requests {
 public:
  Requests() = default;
  explicit Requests(const mpi_hooks::Call& call)
      : call_(&call), size_(call.has(mpi_hooks::Role::request)    ? 1
                            : call.has(mpi_hooks::Role::requests) ? call.integer(mpi_hooks::Role::request_count)
                                                                  : 0) {}
  bool empty() const { return size_ <= 0; }
  template <class F>
  bool any_of(F&& is) const {
    const bool is_one = call_ && call_->has(mpi_hooks::Role::request);
    for (std::int64_t i = 0; i < size_; ++i)
      if (is(is_one ? call_->handle_at(mpi_hooks::Role::request) : call_->handle(mpi_hooks::Role::requests, i)))
        return true;
    return false;
  }

 private:
  const mpi_hooks::Call* call_ = nullptr;
  std::int64_t size_ = 0;
};

// Each has one node, which goes from list to list: what was started needs no memory any more.
using StartedList = std::list<Started*>;

// The collectives of one communicator that have begun and not ended.
struct Queue {
  std::atomic<std::int32_t> calls = 0; // blocking ones included
  // The non-blocking ones, with the lock of what drives them.
  StartedList waiting; // in the order of the calls, after those that are under way; mostly empty
  std::int32_t under_way = 0;
  std::int64_t under_way_bytes = 0;
};

// What is run, over what.
struct Work {
  plan::Plan* plan = nullptr;
  transport::Transport* transport = nullptr;
  Queue* queue = nullptr; // the transport's
  execute::Buffers buffers;
  mpi::Handle communicator = 0;        // the program's, whose error handler learns of what goes wrong
  std::function<Status()> at_end = {}; // by a thread of the program's, where all went well
};

class Nonblocking {
 public:
  // Tells an error at a communicator's error handler; answers the code for who waits.
  using Raise = std::function<int(const Error&, mpi::Handle)>;
  Nonblocking(const mpi::Library& library, Raise raise) : library_(library), raise_(std::move(raise)) {}
  ~Nonblocking() { stop(); }
  Nonblocking(const Nonblocking&) = delete;
  Nonblocking& operator=(const Nonblocking&) = delete;

  // Error: no memory for one more; nothing was started. The request is the program's, as the library makes it.
  Result<mpi::Handle> start(Work work);
  // A blocking one, after those that are under way on its communicator.
  Status run(Work work);
  // For a failure of this rank's before its part of a call: the others are told by the transport, and wait no longer.
  void abandon(transport::Transport& transport, const Error& error);
  // Until all of it has ended: before its transport is freed.
  void drain(const Queue& queue);

  // That are not complete, or have failed and are still the program's.
  bool any() const { return requests_.load(std::memory_order_acquire) > 0; }
  bool holds(mpi::Handle request); // ours, and not complete
  bool holds_any(const Requests& requests);
  // Whether one of these has failed, which was told, and will fail again where the library completes it; without any:
  // whether there is such a request.
  bool has_failed(const Requests& requests);
  const mpi::Library& library() const { return library_; }
  // One turn of a thread that waits.
  void turn();
  // Until none of these is held any more: the library may wait for all of them then.
  void finish(const Requests& requests);
  // What a test of these does for progress. Who tests one of ours again and again waits for it, as long as a time limit
  // lets it.
  void make_progress(const Requests& requests);
  void stop(); // the thread; what is started later begins another one

 private:
  using Lock = std::unique_lock<std::mutex>;

  // With the lock:
  void begin_next(Queue& queue);                      // those that may be under way now
  Status begin(Started& operation, StartedList& one); // which is left empty where it is under way
  Status begin_now(Started& operation, StartedList& one);
  static void make_room(const Started& ended);
  void end(StartedList& one);
  bool drive(); // true: something moved

  bool advance(Started& operation); // true: it is at its end
  void complete();                  // all that are done
  Started* next_done();
  void complete(mpi::Handle request, bool failed);
  void forget_failed(mpi::Handle request);
  void begin_helper();
  void help();

  static int query(void* operation, mpi::StatusWords* status);
  static int free(void* operation);
  static int cancel(void*, int) { return 0; }

  const mpi::Library& library_;
  Raise raise_;
  std::atomic<std::int32_t> requests_ = 0;
  std::atomic<std::int32_t> waiters_ = 0; // threads of the program's that drive: then ours stands aside

  std::mutex mutex_; // of what follows, and of every transport that something is under way on
  StartedList under_way_;
  StartedList done_; // whose requests are not complete
  std::map<mpi::Handle, Started*> by_request_;
  std::condition_variable wake_;
  std::thread helper_;
  bool sleeps_ = false, stops_ = false, has_no_helper_ = false;

  // Of its own, and never held in a call of MPI: the library frees requests with its own lock held, maybe, which those
  // that hold the other one wait for.
  std::mutex failed_mutex_;
  std::map<mpi::Handle, Started*> failed_; // complete, and not freed; of by_request_'s nodes
};

} // namespace kumihimo::interpose
