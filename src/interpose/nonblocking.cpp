#include "interpose/nonblocking.hpp"

#include "interpose/memory_reserve.hpp"
#include "interpose/signals.hpp"
#include "mpi_hooks/mpi_lifetime.hpp"
#include "shared_memory/spin_wait.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

namespace kumihimo::interpose {

struct Started {
  Work work;
  execute::Execution* execution = nullptr;
  Nonblocking* all = nullptr;
  mpi::Handle request = 0; // 0: a blocking call
  std::int64_t bytes = 0;  // of memory that it needs while under way
  bool done = false;
  std::optional<Error> error;
  int code = 0; // MPI's error code for the wait

  bool is_blocking() const { return request == 0; }
};

namespace {

using std::chrono::microseconds;

// Limits for a communicator. Short calls overlap; long ones share the memory bandwidth anyway.
constexpr std::int32_t most_under_way = 64;
constexpr std::int64_t most_under_way_bytes = 2 << 20;

// Pauses of the progress thread when nothing moves. After that many pauses without work it sleeps until it is woken,
// which costs the waking thread some microseconds.
constexpr microseconds shortest_pause{50}, longest_pause{1000};
constexpr std::int32_t pauses_before_sleep = 100;

} // namespace

Status Nonblocking::begin(Started& operation, StartedList& one) {
  return attempted([&] { return begin_now(operation, one); },
                   [&]() -> Status { return operation.work.transport->abandon(out_of_memory()), out_of_memory(); });
}

Status Nonblocking::begin_now(Started& operation, StartedList& one) {
  if (one.empty()) one.push_back(&operation); // a blocking one
  Result<execute::Execution*> execution = operation.work.plan->borrow();
  if (!execution) return operation.work.transport->abandon(execution.error()), execution.error();
  operation.execution = *execution;
  const auto stream = operation.is_blocking() ? transport::Stream::blocking : transport::Stream::nonblocking;
  operation.execution->start(operation.work.buffers, operation.work.plan->reduction(), stream);
  under_way_.splice(under_way_.end(), one);
  return Nothing{};
}

void Nonblocking::begin_next(Queue& queue) {
  while (!queue.waiting.empty()) {
    Started& next = *queue.waiting.front();
    const bool has_room =
        queue.under_way < most_under_way && queue.under_way_bytes + next.bytes <= most_under_way_bytes;
    if (queue.under_way > 0 && !has_room) return;
    StartedList one;
    one.splice(one.end(), queue.waiting, queue.waiting.begin());
    queue.under_way += 1;
    queue.under_way_bytes += next.bytes;
    if (const Status s = begin(next, one); !s) { // reported when the request is waited for
      next.error = attempted([&] { return s.error(); }, &out_of_memory);
      make_room(next);
      end(one);
    }
  }
}

void Nonblocking::make_room(const Started& ended) {
  if (ended.is_blocking()) return; // was not counted
  Queue& queue = *ended.work.queue;
  queue.under_way -= 1;
  queue.under_way_bytes -= ended.bytes;
}

// The last access to its queue and transport: a thread that finds no calls may use them without the lock.
void Nonblocking::end(StartedList& one) {
  Started& operation = *one.front();
  Queue& queue = *operation.work.queue;
  operation.done = true;
  if (!operation.is_blocking()) done_.splice(done_.end(), one); // else it is a variable of run()
  queue.calls.fetch_sub(1, std::memory_order_release);
}

Result<mpi::Handle> Nonblocking::start(Work work) {
  auto operation = std::make_unique<Started>();
  operation->work = std::move(work), operation->all = this;
  operation->bytes = operation->work.plan->bytes();
  // Allocates all memory that it needs to its end: once there is a request nothing may fail.
  StartedList one{operation.get()};
  std::map<mpi::Handle, Started*> row{{0, operation.get()}};
  auto node = row.extract(row.begin());
  MemoryReserve::leave_some(); // the library tells a lack of it to the handler of MPI_COMM_WORLD
  const int code = library_.call.Grequest_start(&query, &free, &cancel, operation.get(), &operation->request);
  if (Status s = library_.check(code, "MPI_Grequest_start"); !s)
    return abandon(*operation->work.transport, s.error()), s.error();
  const mpi::Handle request = operation->request = mpi_hooks::plain_handle(library_, operation->request);
  Started* const started = operation.release(); // the library's until free()
  const Lock lock(mutex_);
  Queue& queue = *started->work.queue;
  node.key() = request;
  by_request_.insert(std::move(node));
  queue.waiting.splice(queue.waiting.end(), one);
  requests_.fetch_add(1, std::memory_order_release);
  queue.calls.fetch_add(1, std::memory_order_relaxed);
  begin_next(queue);
  drive();
  if (!helper_.joinable()) begin_helper();
  if (sleeps_) wake_.notify_one();
  return request;
}

Status Nonblocking::run(Work work) {
  Started operation{std::move(work)};
  StartedList one;
  {
    const Lock lock(mutex_);
    if (Status s = begin(operation, one); !s) return s;
    operation.work.queue->calls.fetch_add(1, std::memory_order_relaxed);
  }
  for (;;) {
    {
      const Lock lock(mutex_);
      if (operation.done) break;
    }
    turn();
  }
  return operation.error ? Status(*operation.error) : Status(Nothing{});
}

void Nonblocking::abandon(transport::Transport& transport, const Error& error) {
  const Lock lock(mutex_);
  transport.abandon(error);
}

void Nonblocking::drain(const Queue& queue) {
  while (queue.calls.load(std::memory_order_acquire) > 0) turn();
  complete(); // while its communicator can still be told of an error
}

// --- driving

// Drives every transport once, then every collective on it.
bool Nonblocking::drive() {
  bool moved = false;
  for (auto i = under_way_.begin(); i != under_way_.end(); ++i) {
    transport::Transport* const transport = (*i)->work.transport;
    const auto same = [&](const Started* o) { return o->work.transport == transport; };
    if (std::any_of(under_way_.begin(), i, same)) continue;
    moved |= attempted([&] { return transport->progress() == transport::Transport::Progress::moved; },
                       [&] { return transport->abandon(out_of_memory()), true; });
  }
  StartedList ended;
  for (auto i = under_way_.begin(); i != under_way_.end();)
    if (const auto operation = i++; advance(**operation)) ended.splice(ended.end(), under_way_, operation);
  moved |= !ended.empty();
  while (!ended.empty()) { // others begin meanwhile
    StartedList one;
    one.splice(one.end(), ended, ended.begin());
    Started& operation = *one.front();
    operation.work.plan->give_back(operation.execution);
    make_room(operation);
    begin_next(*operation.work.queue);
    end(one);
  }
  return moved;
}

bool Nonblocking::advance(Started& operation) {
  transport::Transport& transport = *operation.work.transport;
  const auto fail = [&](const Error& error) { return operation.error = error, transport.abandon(error), true; };
  const auto move = [&] {
    if (transport.has_failed()) { // it moves nothing any more
      operation.error = transport.error();
      return true;
    }
    const Result<bool> done = operation.execution->advance();
    return done ? *done : fail(done.error());
  };
  return attempted(move, [&] { return fail(out_of_memory()); });
}

// If the system has no thread left, calls make progress only in MPI calls, and the next call tries again.
void Nonblocking::begin_helper() {
  const SignalsBlocked blocked;
  const bool begun = attempted([&] { return helper_ = std::thread([this] { help(); }), true; }, [] { return false; });
  if (!begun && !std::exchange(has_no_helper_, true))
    std::fprintf(stderr, "kumihimo: no thread can be started for non-blocking collectives (see ulimit -u); they make "
                         "progress only in MPI calls\n");
}

// Waits outside of the lock: the thread that holds it must not yield its processor.
void Nonblocking::turn() {
  thread_local shared_memory::SpinWait waiting(true);
  waiters_.fetch_add(1, std::memory_order_relaxed);
  bool moved = false;
  {
    const Lock lock(mutex_);
    moved = drive();
  }
  if (moved) {
    waiting.reset();
  } else if (waiting.turn()) {
    const Lock lock(mutex_);
    if (!under_way_.empty()) under_way_.front()->work.transport->poll();
  }
  waiters_.fetch_sub(1, std::memory_order_relaxed);
  complete();
}

void Nonblocking::help() {
  pthread_setname_np(pthread_self(), "kumihimo");
  Lock lock(mutex_);
  microseconds pause = shortest_pause;
  std::int32_t idle = 0;
  while (!stops_) {
    if (under_way_.empty() && ++idle > pauses_before_sleep) {
      sleeps_ = true;
      wake_.wait(lock, [&] { return stops_ || !under_way_.empty(); });
      sleeps_ = false;
    }
    if (!under_way_.empty()) idle = 0;
    if (!under_way_.empty() && waiters_.load(std::memory_order_relaxed) == 0 && drive()) {
      pause = shortest_pause;
      lock.unlock();
      std::this_thread::yield(); // others may want the lock
      lock.lock();
      continue;
    }
    lock.unlock();
    std::this_thread::sleep_for(pause);
    lock.lock();
    pause = std::min(2 * pause, longest_pause);
  }
}

void Nonblocking::stop() {
  {
    const Lock lock(mutex_);
    stops_ = true;
  }
  wake_.notify_one();
  if (helper_.joinable()) helper_.join();
  const Lock lock(mutex_);
  stops_ = false; // a program may open another session
}

// --- requests

// One after another: the program's error handler may leave by an exception before the others.
void Nonblocking::complete() {
  while (Started* const operation = next_done()) {
    struct Completing {
      Nonblocking& all;
      mpi::Handle request;
      bool failed = false;
      ~Completing() { all.complete(request, failed); }
    } completing{*this, operation->request};
    const auto at_end = [&] {
      const Status s = operation->work.at_end();
      return s ? std::nullopt : std::optional(s.error());
    };
    if (!operation->error && operation->work.at_end)
      operation->error = attempted(at_end, [] { return std::optional(out_of_memory()); });
    operation->work.at_end = {}; // frees its memory here, by the program's thread
    if (!operation->error) continue;
    completing.failed = true;
    operation->code = library_.constants.error_other;
    operation->code = raise_(*operation->error, operation->work.communicator);
  }
}

Started* Nonblocking::next_done() {
  const Lock lock(mutex_);
  if (done_.empty()) return nullptr;
  Started* const operation = done_.front();
  done_.pop_front();
  return operation;
}

void Nonblocking::complete(mpi::Handle request, bool failed) {
  {
    const Lock lock(mutex_);
    auto node = by_request_.extract(request);
    if (failed) { // under the lock, or another thread would take its failure for the library's
      const Lock lock_of_failed(failed_mutex_);
      failed_.insert(std::move(node));
    }
  }
  library_.call.Grequest_complete(request); // after which the operation may be gone
  if (!failed) requests_.fetch_sub(1, std::memory_order_release);
}

void Nonblocking::forget_failed(mpi::Handle request) {
  const Lock lock(failed_mutex_);
  failed_.erase(request);
  requests_.fetch_sub(1, std::memory_order_release);
}

bool Nonblocking::has_failed(const Requests& requests) {
  const Lock lock(failed_mutex_);
  if (requests.empty() || failed_.empty()) return !failed_.empty();
  return requests.any_of([&](mpi::Handle r) { return failed_.contains(r); });
}

bool Nonblocking::holds(mpi::Handle request) {
  const Lock lock(mutex_);
  return by_request_.contains(request);
}

bool Nonblocking::holds_any(const Requests& requests) {
  return requests.any_of([&](mpi::Handle r) { return holds(r); });
}

void Nonblocking::finish(const Requests& requests) {
  requests.any_of([&](mpi::Handle r) {
    while (holds(r)) turn();
    return false;
  });
}

void Nonblocking::make_progress(const Requests& requests) {
  {
    const Lock lock(mutex_);
    const bool moved = drive();
    requests.any_of([&](mpi::Handle request) {
      if (const auto it = by_request_.find(request); !moved && it != by_request_.end())
        it->second->work.transport->check_timeout();
      return moved;
    });
  }
  complete();
}

int Nonblocking::query(void* state, mpi::StatusWords* status) {
  const auto& operation = *static_cast<Started*>(state);
  const mpi::Library& library = operation.all->library_;
  status->words[static_cast<std::size_t>(library.constants.status_source)] = library.constants.undefined;
  status->words[static_cast<std::size_t>(library.constants.status_tag)] = library.constants.undefined;
  library.call.Status_set_elements(status, library.constants.byte, 0);
  library.call.Status_set_cancelled(status, 0);
  return operation.code;
}

int Nonblocking::free(void* state) {
  const std::unique_ptr<Started> operation(static_cast<Started*>(state));
  if (operation->code != 0) operation->all->forget_failed(operation->request);
  return 0;
}

} // namespace kumihimo::interpose
