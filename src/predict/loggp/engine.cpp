#include "loggp/engine.hpp"

#include "base/int128.hpp"
#include "goal/longest_run.hpp"
#include "goal/matching.hpp"
#include "goal/unmatched.hpp"
#include "goal/whole_operations.hpp"
#include "loggp/queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <queue>
#include <set>
#include <unordered_map>
#include <utility>

namespace kumihimo::loggp {
namespace {

using goal::Envelope;
using goal::GraphOperation;
using goal::Kind;
using goal::Noise;

// Operations: goal::WholeOperations or goal::OperationWindows.
template <class Operations, class Matching>
class Engine {
 public:
  Engine(Operations& operations, const LogGopsParameters& parameters, const EngineOptions& options, Matching matching)
      : operations_(operations), p_(parameters), options_(options), matching_(std::move(matching)),
        stride_(static_cast<std::size_t>(operations.cpus() + 2 * operations.nics())),
        free_(stride_ * static_cast<std::size_t>(operations.ranks())) {
    if (options.noise) noise_.emplace(*options.noise, operations.ranks());
    if constexpr (Operations::is_whole) {
      if (mortal_) outcome_.ends.emplace(operations.graphs());
      many_graphs_ = operations.graphs().different() > 256;
    }
    shared_.resize(static_cast<std::size_t>(std::max(0, parameters.processors)));
  }

  Result<LogGopsOutcome> run() {
    for (std::int32_t rank = 0; rank < operations_.ranks(); ++rank) {
      operations_.begin(rank, [&](std::uint32_t i, Time ready) { release(rank, i, ready); });
      start_first();
    }
    std::uint64_t events = 0;
    while (const LogGopsEvent* next = queue_.take()) {
      if constexpr (Operations::is_whole) prefetch();
      const LogGopsEvent event = *next;
      now_ = event.time;
      if (now_ > goal::longest_run) return goal::run_too_long();
      if (is_dead(event.rank, now_)) continue;
      happen(event);
      start_released();
      if ((++events & 0xFFFFF) == 0 && options_.go_on && !options_.go_on(outcome_.operations))
        return failed("the simulation was stopped");
    }
    if (const Status s = operations_.status(); !s) return s.error();
    const goal::Unmatched unmatched(matching_);
    if (!mortal_ && (outcome_.operations < operations_.wanted() || unmatched.any()))
      return operations_.error(unmatched, operations_.wanted() - outcome_.operations);
    describe();
    return std::move(outcome_);
  }

 private:
  void happen(const LogGopsEvent& event) {
    switch (event.kind) {
    case LogGopsEventKind::arrival: return arrive(event);
    case LogGopsEventKind::wake: return wake(event);
    default: return start(event);
    }
  }

  // Into the cache, step by step, what an event will touch. Always inline: GCC drops calls of what only prefetches.
  static std::int32_t owner_of(const LogGopsEvent& event) { // of its operation
    return event.kind == LogGopsEventKind::arrival ? event.sender : event.rank;
  }
  [[gnu::always_inline]] void prefetch() {
    if (many_graphs_) {
      if (const LogGopsEvent* later = queue_.ahead(32)) prefetch_graph(*later);
      if (const LogGopsEvent* later = queue_.ahead(22)) prefetch_operation(*later);
      if (const LogGopsEvent* later = queue_.ahead(12)) prefetch_lists(*later);
      if (const LogGopsEvent* later = queue_.ahead(5)) prefetch_dependents(*later);
    } else if (const LogGopsEvent* later = queue_.ahead(8)) {
      prefetch_rank(*later);
    }
  }
  [[gnu::always_inline]] void prefetch_rank(const LogGopsEvent& later) const {
    __builtin_prefetch(&free_[stride_ * static_cast<std::size_t>(later.rank)]);
    matching_.prefetch(later.rank);
  }
  [[gnu::always_inline]] void prefetch_graph(const LogGopsEvent& later) const {
    __builtin_prefetch(&operations_.graphs().of(later.rank));
    if (later.kind == LogGopsEventKind::arrival) __builtin_prefetch(&operations_.graphs().of(later.sender));
    prefetch_rank(later);
  }
  [[gnu::always_inline]] void prefetch_operation(const LogGopsEvent& later) const {
    if (later.kind == LogGopsEventKind::wake) return;
    __builtin_prefetch(&operation(owner_of(later), later.operation));
    operations_.waits().prefetch(later.rank);
  }
  [[gnu::always_inline]] void prefetch_lists(const LogGopsEvent& later) const {
    if (later.kind == LogGopsEventKind::wake) return;
    const GraphOperation& of = operation(owner_of(later), later.operation);
    if (later.kind == LogGopsEventKind::start)
      __builtin_prefetch(operations_.graphs().of(later.rank).dependents.data() + of.first);
    matching_.prefetch_first(later.rank);
    operations_.waits().prefetch_first(later.rank);
  }
  [[gnu::always_inline]] void prefetch_dependents(const LogGopsEvent& later) const {
    if (later.kind == LogGopsEventKind::wake) return;
    const goal::Graph& graph = operations_.graphs().of(later.rank);
    if (later.kind == LogGopsEventKind::arrival) {
      if (const auto receive = matching_.first(later.rank)) __builtin_prefetch(&graph.operations[*receive]);
      return;
    }
    const GraphOperation& of = graph.operations[later.operation];
    for (std::uint32_t d = of.first; d < of.first + of.after_end + of.after_start && d < of.first + 2; ++d)
      __builtin_prefetch(&graph.operations[graph.dependents[d]]);
  }

  // When processors and interfaces are free again.
  Time& cpu(std::int32_t rank, std::uint8_t cpu) { return free_[stride_ * static_cast<std::size_t>(rank) + cpu]; }
  Time& sending(std::int32_t rank, std::uint8_t nic) {
    return free_[stride_ * static_cast<std::size_t>(rank) + static_cast<std::size_t>(operations_.cpus()) + nic];
  }
  Time& receiving(std::int32_t rank, std::uint8_t nic) {
    return free_[stride_ * static_cast<std::size_t>(rank) +
                 static_cast<std::size_t>(operations_.cpus() + operations_.nics()) + nic];
  }
  // A processor that several ranks share, and the rank that it served last.
  struct Shared {
    Time free = 0;
    std::int32_t rank = -1;
  };
  Shared& shared(std::int32_t rank) { return shared_[static_cast<std::size_t>(rank) % shared_.size()]; }
  Time processor_free(std::int32_t rank, std::uint8_t number) {
    const Time own = cpu(rank, number);
    return shared_.empty() ? own : std::max(own, shared(rank).free);
  }
  Time turn(std::int32_t rank) {
    return shared_.empty() || shared(rank).rank == rank || shared(rank).rank < 0 ? 0 : p_.processor_switch;
  }
  void occupy(std::int32_t rank, std::uint8_t number, Time until) {
    cpu(rank, number) = until;
    if (!shared_.empty()) shared(rank) = {until, rank};
  }

  const GraphOperation& operation(std::int32_t rank, std::uint32_t i) const { return operations_.of(rank, i); }
  bool is_dead(std::int32_t rank, Time time) const { return mortal_ && goal::is_dead(options_.deaths, rank, time); }

  // Picoseconds for all bytes but the first. One byte back in time for a message without bytes: LogGOPSim.
  static Time bytes_time(std::uint64_t size, std::uint64_t femtoseconds) {
    if (size == 0) return Time{0} - (femtoseconds + 500) / 1000;
    Time product = 0;
    if (!__builtin_mul_overflow(size - 1, femtoseconds, &product) && product <= std::numeric_limits<Time>::max() - 500)
      return (product + 500) / 1000;
    const Wide exact = Wide{size - 1} * femtoseconds / 1000;
    return exact < Wide{goal::longest_run} ? static_cast<Time>(exact) : goal::longest_run;
  }
  // o or g with the bytes' time, which may take more than all of it back.
  static Time occupied(Time fixed, Time bytes) {
    const Time sum = fixed + bytes;
    return static_cast<std::int64_t>(sum) < 0 ? 0 : sum;
  }
  Time lost(std::int32_t rank, Time start, Time work) {
    if (!noise_) return 0;
    const Time time = noise_->lost(rank, start, work);
    outcome_.lost_to_noise += time;
    return time;
  }

  void tell(ProcessorWork work) {
    if (mortal_) {
      work.end = std::min(work.end, options_.deaths[static_cast<std::size_t>(work.rank)]);
      work.lost = std::min(work.lost, work.end - work.start);
    }
    for (Observer* each : options_.observers) each->busy(work);
  }

  // Of one rank or two: those that may start, which they do sorted by rank and kind. A join ends at once.
  struct Released {
    std::int32_t rank = 0;
    std::uint32_t operation = 0;
    Kind kind = Kind::join;
    Time ready = 0;
  };
  void release(std::int32_t rank, std::uint32_t i, Time ready) {
    const Kind kind = operation(rank, i).kind;
    if (kind == Kind::join) {
      end(rank, i, ready, true);
      return operations_.done(rank, i);
    }
    released_.push_back({rank, i, kind, ready});
    operations_.released(rank, i, releases(rank));
  }
  void started(std::int32_t rank, std::uint32_t i, Time time) { operations_.started(rank, i, time, releases(rank)); }
  void end(std::int32_t rank, std::uint32_t i, Time time, bool join = false) {
    if (is_dead(rank, time)) return;
    if (mortal_) outcome_.ends->set(rank, i, time);
    if (!join) ++outcome_.operations;
    operations_.ended(rank, i, time, releases(rank));
  }
  auto releases(std::int32_t rank) {
    return [this, rank](std::uint32_t operation, Time ready) { release(rank, operation, ready); };
  }
  void sort_released() {
    constexpr std::size_t few = 16; // which LogGOPSim sorts by insertion, too
    if (released_.size() <= few) {
      const auto before = [](const Released& a, const Released& b) {
        return std::pair(a.rank, a.kind) < std::pair(b.rank, b.kind);
      };
      for (auto it = released_.begin(); it != released_.end(); ++it)
        std::rotate(std::upper_bound(released_.begin(), it, *it, before), it, it + 1);
      return;
    }
    const auto by_rank = [](const Released& a, const Released& b) { return a.rank < b.rank; };
    const auto by_kind = [](const Released& a, const Released& b) { return a.kind < b.kind; };
    std::stable_sort(released_.begin(), released_.end(), by_rank);
    for (auto first = released_.begin(); first != released_.end();) {
      const auto last = std::upper_bound(first, released_.end(), *first, by_rank);
      std::vector<Released> receives;
      if (options_.loggopsim_order) {
        std::copy_if(first, last, std::back_inserter(receives),
                     [](const Released& each) { return each.kind == Kind::receive; });
        std::sort(first, last, by_kind);
        const auto is_receive = [](const Released& each) { return each.kind == Kind::receive; };
        std::copy(receives.begin(), receives.end(), std::find_if(first, last, is_receive));
      } else {
        std::stable_sort(first, last, by_kind);
      }
      first = last;
    }
  }
  void start_released() {
    if (released_.size() > 1) sort_released();
    for (const Released& each : released_) {
      const GraphOperation& of = operation(each.rank, each.operation);
      Time time = std::max({now_, each.ready, processor_free(each.rank, of.cpu)});
      if (of.kind == Kind::send) time = std::max(time, sending(each.rank, of.nic));
      queue_.push({time, order_++, each.rank, 0, each.operation, LogGopsEventKind::start});
    }
    released_.clear();
  }

  // As if those of all ranks had been added before any of them started: later events come behind them.
  void start_first() {
    if (released_.size() > 1) sort_released();
    first_.swap(released_);
    for (const Released& each : first_) {
      if (is_dead(each.rank, 0)) continue;
      start({0, first_order_++, each.rank, 0, each.operation, LogGopsEventKind::start});
      start_released();
    }
    first_.clear();
  }

  void start(const LogGopsEvent& event) {
    const GraphOperation& of = operation(event.rank, event.operation);
    switch (of.kind) {
    case Kind::calc: return calc(event, of);
    case Kind::send: return send(event, of);
    default: return receive(event, of);
    }
  }

  void calc(const LogGopsEvent& event, const GraphOperation& of) {
    if (const Time free = processor_free(event.rank, of.cpu); free > event.time) return later(event, free);
    const Time begin = event.time + turn(event.rank);
    const Time noise = lost(event.rank, begin, of.size);
    const Time free = begin + of.size + noise;
    occupy(event.rank, of.cpu, free);
    tell({event.rank, event.rank, event.operation, Kind::calc, of.cpu, event.time, free, noise});
    started(event.rank, event.operation, event.time);
    end(event.rank, event.operation, free);
    operations_.done(event.rank, event.operation);
  }

  void send(const LogGopsEvent& event, const GraphOperation& of) {
    Time& interface = sending(event.rank, of.nic);
    if (const Time at = std::max(processor_free(event.rank, of.cpu), interface); at > event.time)
      return later(event, at);
    started(event.rank, event.operation, event.time);
    const Time begin = event.time + turn(event.rank);
    const Time noise = lost(event.rank, begin, p_.o);
    const Time free = begin + occupied(p_.o, bytes_time(of.size, p_.O)) + noise;
    occupy(event.rank, of.cpu, free);
    interface = begin + occupied(p_.g, bytes_time(of.size, p_.G));
    const std::int32_t receiver = operations_.peer(event.rank, of.peer);
    tell({event.rank, receiver, event.operation, Kind::send, of.cpu, event.time, free, noise});
    ++outcome_.messages, outcome_.bytes += of.size;
    if (is_dead(event.rank, has_left(begin, of.size))) cut_.emplace(event.rank, event.operation);
    if (!is_dead(event.rank, begin + p_.o))
      queue_.push({begin + p_.o + p_.L + (of.size > p_.S ? p_.R : 0), order_++, receiver, event.rank, event.operation,
                   LogGopsEventKind::arrival});
    if (of.size <= p_.S) end(event.rank, event.operation, free);
  }

  Time has_left(Time start, std::uint64_t size) const {
    return start + p_.o + (size == 0 ? 0 : bytes_time(size, std::max(p_.O, p_.G)));
  }
  // A message that its sender kept until it died, and that a receive takes now.
  bool is_lost(std::int32_t sender, std::uint32_t send, Time time) const {
    return is_dead(sender, time) && operation(sender, send).size > p_.S;
  }
  // A message of which only the first bytes have left: it meets its receive, which never ends.
  bool is_cut(std::int32_t sender, std::uint32_t send) const { return mortal_ && cut_.count({sender, send}) > 0; }

  void receive(const LogGopsEvent& event, const GraphOperation& of) {
    started(event.rank, event.operation, event.time);
    const Envelope envelope{event.rank, operations_.peer(event.rank, of.peer), of.tag};
    if (const auto found = matching_.match(envelope, event.operation, false)) {
      if (is_lost(found->envelope.sender, found->operation, event.time)) return;
      end_rendezvous(found->envelope.sender, found->operation, event.time);
      // Before the death a message that has begun to arrive is there already, as in all runs.
      if (is_cut(found->envelope.sender, found->operation) && is_dead(found->envelope.sender, event.time)) return;
      end(event.rank, event.operation, event.time);
      operations_.done(found->envelope.sender, found->operation);
      operations_.done(event.rank, event.operation);
    }
  }

  void arrive(const LogGopsEvent& event) {
    const GraphOperation& of = operation(event.sender, event.operation);
    Time& interface = receiving(event.rank, of.nic);
    if (const Time at = std::max(processor_free(event.rank, of.cpu), interface); at > event.time)
      return later(event, at);
    const Time begin = event.time + turn(event.rank);
    if (is_dead(event.rank, begin)) return;
    if (is_lost(event.sender, event.operation, begin)) {
      matching_.match({event.rank, event.sender, of.tag}, event.operation, true);
      return;
    }
    const Time noise = lost(event.rank, begin, p_.o);
    Time free = begin + occupied(p_.o, std::max(bytes_time(of.size, p_.O), bytes_time(of.size, p_.G))) + noise;
    interface = begin + occupied(p_.g, bytes_time(of.size, p_.G));
    const bool cut = is_cut(event.sender, event.operation);
    if (cut) { // nothing comes from L after the death on
      const Time last = options_.deaths[static_cast<std::size_t>(event.sender)] + p_.L;
      free = std::min(free, std::max(begin + p_.o + noise, last));
      interface = std::min(interface, std::max(begin + p_.g, last));
    }
    occupy(event.rank, of.cpu, free);
    const auto found = matching_.match({event.rank, event.sender, of.tag}, event.operation, true);
    tell({event.rank, event.sender, event.operation, Kind::receive, of.cpu, event.time, free, noise});
    if (!found) return;
    end_rendezvous(event.sender, event.operation, begin);
    if (!cut) end(event.rank, found->operation, free);
    operations_.done(event.sender, event.operation);
    operations_.done(event.rank, found->operation);
  }

  // The acknowledgement takes no time.
  void end_rendezvous(std::int32_t sender, std::uint32_t send, Time time) {
    const GraphOperation& of = operation(sender, send);
    if (of.size <= p_.S) return;
    Time &free = cpu(sender, of.cpu), &interface = sending(sender, of.nic);
    free = std::max(free, time), interface = std::max(interface, time);
    end(sender, send, time);
  }

  // An operation whose processor or interface is busy until `time` tries again then, in its order. Where it fails
  // again, many may wait: they are in a list of their own, which wakes the first of them.
  void later(LogGopsEvent event, Time time) {
    event.time = time;
    if (!event.has_waited || options_.lists) {
      event.has_waited = true;
      return queue_.push(event);
    }
    const Place place = place_of(event);
    WaitingList& list = waiting_[place.key()];
    list.events.push(event);
    if (list.events.top().order == event.order) wake_at(time, place, list);
  }

  // Of operations that need the same processor and interface.
  struct Place {
    std::int32_t rank = 0;
    Kind kind = Kind::calc; // receive: of arrivals
    std::uint8_t cpu = 0, nic = 0;
    std::uint32_t number() const { return static_cast<std::uint32_t>(kind) << 16 | std::uint32_t{cpu} << 8 | nic; }
    std::uint64_t key() const { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(rank)) << 32 | number(); }
  };
  struct Behind {
    bool operator()(const LogGopsEvent& a, const LogGopsEvent& b) const { return a.order > b.order; }
  };
  struct WaitingList {
    std::priority_queue<LogGopsEvent, std::vector<LogGopsEvent>, Behind> events;
    Time time = 0; // of the wake that counts, with the order of the first event; others are of no use
  };
  Place place_of(const LogGopsEvent& event) const {
    const bool arrives = event.kind == LogGopsEventKind::arrival;
    const GraphOperation& of = operation(arrives ? event.sender : event.rank, event.operation);
    return {event.rank, arrives ? Kind::receive : of.kind, of.cpu, of.kind == Kind::calc ? std::uint8_t{0} : of.nic};
  }
  Time free_at(const Place& place) {
    const Time processor = processor_free(place.rank, place.cpu);
    if (place.kind == Kind::calc) return processor;
    return std::max(processor,
                    place.kind == Kind::send ? sending(place.rank, place.nic) : receiving(place.rank, place.nic));
  }
  void wake_at(Time time, const Place& place, WaitingList& list) {
    list.time = time;
    const LogGopsEvent wake{time, list.events.top().order, place.rank, 0, place.number(), LogGopsEventKind::wake};
    time == now_ ? queue_.insert(wake) : queue_.push(wake);
  }
  void wake(const LogGopsEvent& event) {
    const Place place{event.rank, static_cast<Kind>(event.operation >> 16),
                      static_cast<std::uint8_t>(event.operation >> 8), static_cast<std::uint8_t>(event.operation)};
    const auto at = waiting_.find(place.key());
    if (at == waiting_.end()) return;
    WaitingList& list = at->second;
    LogGopsEvent first = list.events.top();
    if (first.order != event.order || list.time != event.time) return;
    if (const Time free = free_at(place); free > now_) return wake_at(free, place, list);
    list.events.pop();
    first.time = now_;
    happen(first);
    if (list.events.empty())
      waiting_.erase(place.key());
    else
      wake_at(std::max(now_, free_at(place)), place, list);
  }

  void describe() {
    outcome_.end.resize(static_cast<std::size_t>(operations_.ranks()));
    for (std::int32_t rank = 0; rank < operations_.ranks(); ++rank) {
      Time& end = outcome_.end[static_cast<std::size_t>(rank)];
      for (std::int32_t c = 0; c < operations_.cpus(); ++c)
        end = std::max(end, cpu(rank, static_cast<std::uint8_t>(c)));
      if (mortal_) end = std::min(end, options_.deaths[static_cast<std::size_t>(rank)]);
      if (end > outcome_.last) outcome_.last = end, outcome_.last_rank = rank;
    }
  }

  Operations& operations_;
  const LogGopsParameters p_;
  const EngineOptions& options_;
  const bool mortal_ = !options_.deaths.empty();
  bool many_graphs_ = false; // which the cache does not hold
  Matching matching_;
  std::set<std::pair<std::int32_t, std::uint32_t>> cut_; // sends of ranks that die meanwhile
  std::optional<Noise> noise_;
  std::size_t stride_;
  std::vector<Time> free_;
  std::vector<Shared> shared_; // empty: each rank has processors of its own
  EventQueue queue_;
  std::unordered_map<std::uint64_t, WaitingList> waiting_;
  Time now_ = 0;
  std::uint64_t first_order_ = 0, order_ = std::uint64_t{1} << 63; // of operations that wait for none, of all others
  std::vector<Released> released_, first_;
  LogGopsOutcome outcome_;
};

} // namespace

Result<LogGopsOutcome> run(const goal::Graphs& graphs, const LogGopsParameters& parameters,
                           const EngineOptions& options) {
  if (options.noise)
    if (Status s = check(*options.noise, graphs.ranks()); !s) return s.error();
  if (!options.deaths.empty() && options.deaths.size() != static_cast<std::size_t>(graphs.ranks()))
    return wrong_value(fmt::format("the times of death must be those of {} ranks", graphs.ranks()),
                       options.deaths.size());
  goal::WholeOperations operations(graphs);
  if (options.lists || graphs.has_wildcards())
    return Engine(operations, parameters, options, goal::ListMatching(graphs.ranks())).run();
  return Engine(operations, parameters, options, goal::NearMatching(graphs.ranks())).run();
}

Result<LogGopsOutcome> run(goal::OperationWindows& operations, const LogGopsParameters& parameters,
                           const EngineOptions& options) {
  if (options.noise)
    if (Status s = check(*options.noise, operations.ranks()); !s) return s.error();
  if (!options.deaths.empty()) return failed("ranks die only where all of their operations are known");
  return Engine(operations, parameters, options, goal::NearMatching(operations.ranks())).run();
}

} // namespace kumihimo::loggp
