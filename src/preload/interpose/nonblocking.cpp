#include "interpose/nonblocking.hpp"

#include "interpose/memory_reserve.hpp"
#include "mpi_hooks/hooks.hpp"
#include "mpi_hooks/mpi_lifetime.hpp"
#include "shared_memory/signals_blocked.hpp"
#include "shared_memory/spin_wait.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

namespace kumihimo::interpose {

struct Started {
  PlannedWork work;
  execute::Execution* execution = nullptr;
  Nonblocking* all = nullptr;
  mpi::Handle request = 0; // 0: a blocking call
  std::int64_t bytes = 0;  // of memory that it needs while under way
  bool done = false;
  std::optional<Error> error;
  int code = 0;      // MPI's error code for the wait
  bool told = false; // whether the error handler was called
  // MPICH 4.0 frees a request before it is complete if the program calls MPI_Request_free, which MPI forbids for
  // collectives.
  enum class State : std::uint8_t { active, complete, freed };
  std::atomic<State> state = State::active;

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

// Turns of the library's own waits, about a microsecond each, after which the time limit is looked at.
constexpr std::int64_t turns_between_checks = 1024;

// A thread's wait for ours.
shared_memory::SpinWait& waiting_here() {
  thread_local shared_memory::SpinWait waiting(true);
  return waiting;
}

// After a hooked test has made progress, the library calls poll() for each request of the test, or progress() once:
// there is nothing to do yet. Too many that are left do no harm, as others follow in a wait.
constinit thread_local std::int64_t calls_to_skip = 0;
bool skips_call() { return calls_to_skip > 0 && calls_to_skip-- > 0; }

} // namespace

constinit thread_local bool Nonblocking::Lock::holds_ = false;

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

void Nonblocking::begin_next(PendingQueue& queue) {
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
  PendingQueue& queue = *ended.work.queue;
  queue.under_way -= 1;
  queue.under_way_bytes -= ended.bytes;
}

// The last access to its queue and transport: a thread that finds no calls may use them without the lock.
void Nonblocking::end(StartedList& one) {
  Started& operation = *one.front();
  PendingQueue& queue = *operation.work.queue;
  operation.done = true;
  if (!operation.is_blocking()) done_.splice(done_.end(), one); // else it is a variable of run()
  queue.calls.fetch_sub(1, std::memory_order_release);
}

Result<mpi::Handle> Nonblocking::start(PlannedWork work) {
  auto operation = std::make_unique<Started>();
  operation->work = std::move(work), operation->all = this;
  operation->bytes = operation->work.plan->bytes();
  // Allocates all memory that it needs to its end: once there is a request nothing may fail.
  StartedList one{operation.get()};
  std::map<mpi::Handle, Started*> row{{0, operation.get()}};
  auto node = row.extract(row.begin());
  MemoryReserve::leave_some(); // the library tells a lack of it to the handler of MPI_COMM_WORLD
  const int code = extensions_.start
                       ? extensions_.start(&query, &free, &cancel, &poll, &wait, operation.get(), &operation->request)
                       : library_.call.Grequest_start(&query, &free, &cancel, operation.get(), &operation->request);
  if (Status s = library_.check(code, "MPI_Grequest_start"); !s)
    return abandon(*operation->work.transport, s.error()), s.error();
  const mpi::Handle request = operation->request = mpi_hooks::plain_handle(library_, operation->request);
  Started* const started = operation.release();
  if (extensions_.register_progress && !registered_.load(std::memory_order_relaxed) && !registered_.exchange(this))
    extensions_.register_progress(&progress);
  const Lock lock(mutex_);
  PendingQueue& queue = *started->work.queue;
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

Status Nonblocking::run(PlannedWork work) {
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

void Nonblocking::drain(const PendingQueue& queue) {
  while (queue.calls.load(std::memory_order_acquire) > 0) turn();
  complete(Completer::program); // while its communicator can still be told of an error
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
void Nonblocking::drive_or_wait() {
  shared_memory::SpinWait& waiting = waiting_here();
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
}

void Nonblocking::turn() {
  drive_or_wait();
  complete(Completer::program);
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
  if (registered_.exchange(nullptr)) extensions_.unregister_progress(&progress);
  const Lock lock(mutex_);
  stops_ = false; // a program may open another session
}

// --- requests

// One after another: the program's error handler may leave by an exception before the others.
void Nonblocking::complete(Completer by) {
  while (Started* const operation = next_done(by)) {
    struct Completing {
      Nonblocking& all;
      Started& operation;
      ~Completing() { all.complete(operation); }
    } completing{*this, *operation};
    const auto at_end = [&] {
      const Status s = operation->work.at_end();
      return s ? std::nullopt : std::optional(s.error());
    };
    if (!operation->error && operation->work.at_end)
      operation->error = attempted(at_end, [] { return std::optional(out_of_memory()); });
    operation->work.at_end = {}; // frees its memory here, by the program's thread
    if (!operation->error) continue;
    operation->code = library_.constants.error_other;
    operation->told = by == Completer::program;
    operation->code =
        raise_(*operation->error, operation->told ? std::optional(operation->work.communicator) : std::nullopt);
  }
}

// A failure waits for a hooked call if the library is in one: that calls the error handler.
Started* Nonblocking::next_done(Completer by) {
  const Lock lock(mutex_);
  if (done_.empty()) return nullptr;
  Started* const operation = done_.front();
  if (by == Completer::library && operation->error && mpi_hooks::Nesting::is_in_completion()) return nullptr;
  done_.pop_front();
  return operation;
}

void Nonblocking::complete(Started& operation) {
  const bool failed = operation.code != 0;
  {
    const Lock lock(mutex_);
    auto node = by_request_.extract(operation.request);
    if (failed) { // under the lock, or another thread would take its failure for the library's
      const std::lock_guard lock_of_failed(failed_mutex_);
      failed_.insert(std::move(node));
    }
  }
  library_.call.Grequest_complete(operation.request);
  if (!failed) requests_.fetch_sub(1, std::memory_order_release);
  if (operation.state.exchange(Started::State::complete, std::memory_order_acq_rel) == Started::State::freed)
    end_of(&operation);
}

void Nonblocking::end_of(Started* operation) {
  if (operation->code != 0) {
    const std::lock_guard lock(failed_mutex_);
    failed_.erase(operation->request);
    requests_.fetch_sub(1, std::memory_order_release);
  }
  delete operation;
}

bool Nonblocking::has_failed(const Requests& requests) {
  std::unique_lock lock(failed_mutex_);
  if (requests.empty() || failed_.empty()) return !failed_.empty();
  bool any = false;
  requests.any_of([&](mpi::Handle request) {
    const auto it = failed_.find(request);
    if (it == failed_.end()) return false;
    any = true;
    Started& operation = *it->second; // not freed before this call goes on
    if (std::exchange(operation.told, true)) return false;
    lock.unlock();
    operation.code = raise_(*operation.error, operation.work.communicator);
    lock.lock();
    return false;
  });
  return any;
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
  calls_to_skip = std::max<std::int64_t>(1, requests.size());
  waiting_here().reset(); // a test must not yield the processor
  {
    const Lock lock(mutex_);
    const bool moved = drive();
    requests.any_of([&](mpi::Handle request) {
      if (const auto it = by_request_.find(request); !moved && it != by_request_.end())
        it->second->work.transport->check_timeout();
      return moved;
    });
  }
  complete(Completer::program);
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
  auto* const operation = static_cast<Started*>(state);
  if (operation->state.load(std::memory_order_acquire) == Started::State::complete ||
      operation->state.exchange(Started::State::freed, std::memory_order_acq_rel) == Started::State::complete)
    operation->all->end_of(operation);
  return 0;
}

// --- called by the library

// In a test, and again and again in a wait, which makes no other progress meanwhile.
int Nonblocking::poll(void* state, mpi::StatusWords*) {
  Nonblocking& all = *static_cast<Started*>(state)->all;
  if (Lock::is_held_here() || skips_call()) return 0;
  all.drive_or_wait();
  all.complete(Completer::library);
  return 0;
}

int Nonblocking::wait(int number, void** states, double, mpi::StatusWords* status) {
  for (int i = 0; i < number; ++i)
    while (static_cast<Started*>(states[i])->state.load(std::memory_order_acquire) == Started::State::active)
      poll(states[i], status);
  return 0;
}

// In every turn of a wait or test of anything.
int Nonblocking::progress() {
  Nonblocking* const all = registered_.load(std::memory_order_acquire);
  if (!all || !all->any() || Lock::is_held_here() || skips_call()) return 0;
  {
    const Lock lock(all->mutex_, std::try_to_lock);
    if (!lock) return 0;
    // No hook sees this wait, so nobody else looks how long it lasts.
    if (!all->drive() && !all->under_way_.empty() && ++all->idle_turns_ % turns_between_checks == 0)
      all->under_way_.front()->work.transport->check_timeout();
    if (all->done_.empty()) return 0;
  }
  all->complete(Completer::library);
  return 1;
}

} // namespace kumihimo::interpose
