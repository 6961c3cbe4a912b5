// The ranks of graphs on a network: their processors and interfaces, the order of their messages, and on which
// others an operation waits. A network `Net` has
//
//   submit(now, {from, to, bytes, start, gap})  a message that may leave from `now` on; the answer names it. With
//                                               between_ranks its interface follows
//   next(), advance()                           when something happens, and that
//   sent(), delivered()                         of the last advance: messages that have left, and that have arrived
//   stop(now, node)                             a node that sends nothing from `now` on
//
// `from` and `to` are different nodes; or, if Net has between_ranks, ranks, which may be on one node, and it has all
// latencies of software. If Net has only_copies, all messages are copies, as within a node.
#pragma once

#include "goal/longest_run.hpp"
#include "goal/matching.hpp"
#include "goal/unmatched.hpp"
#include "goal/waits.hpp"
#include "hosts/outcome.hpp"
#include "hosts/software.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <queue>
#include <unordered_map>
#include <unordered_set>

namespace kumihimo::hosts {

using goal::Graph;
using goal::Kind;

inline constexpr Time never = std::numeric_limits<Time>::max();

// What a processor or an interface does: an operation of its rank, or taking a message that has arrived.
struct Task {
  std::uint32_t operation = 0; // of the rank, or the send of
  std::int32_t sender = -1;    // a message
};

// A processor or an interface, which does one task after the other.
struct Server {
  Time free = 0;
  std::deque<Task> waiting; // the next one first
};

template <class Net, class Matching>
class Hosts {
 public:
  Hosts(const goal::Graphs& graphs, std::span<const std::int32_t> nodes, const Software& software,
        const LocalCopies& copies, Net& network, Matching matching, const Options& options, Observers observers = {})
      : options_(options), graphs_(graphs), nodes_(nodes), software_(software), copies_(copies), observers_(observers),
        network_(network), matching_(std::move(matching)), waits_(graphs.ranks()),
        stride_(static_cast<std::size_t>(graphs.cpus() + graphs.nics())),
        servers_(stride_ * static_cast<std::size_t>(graphs.ranks())) {
    outcome_.end.resize(static_cast<std::size_t>(graphs.ranks()));
    if (!options_.deaths.empty()) plan_deaths();
    if (options_.noise) noise_.emplace(*options_.noise, graphs.ranks());
  }

  // All that waits for nothing starts.
  void begin(Time start) {
    outcome_.start = now_ = start;
    for (std::int32_t rank = 0; rank < graphs_.ranks(); ++rank) {
      const Graph& graph = graphs_.of(rank);
      for (std::uint32_t i = 0; i < graph.operations.size(); ++i) {
        if (graph.operations[i].kind != Kind::join) ++wanted_;
        if (graph.operations[i].waits_for == 0) release(rank, i, start);
      }
    }
  }
  Time now() const { return now_; }
  Time due() const { return events_.empty() ? never : events_.top().time; }
  void happen() {
    const Event event = events_.top();
    events_.pop();
    now_ = event.time;
    happen(event);
  }
  void delivered(std::uint32_t id, Time now) {
    now_ = now;
    const UnderWay& message = under_way_[id];
    const goal::Operation& send = of(message);
    const std::int32_t receiver = graphs_.peer(message.sender, send.peer);
    const Time wait = between_ranks ? 0 : software_.arriving(send);
    reaches(message, now_ + wait + (wait > 0 ? lost(receiver, wait) : 0));
  }
  void sent(std::uint32_t id, Time now) {
    now_ = now;
    const UnderWay message = under_way_[id]; // which a message that is submitted may move
    sent(message);
  }
  // After the last event.
  Result<Outcome> finish() {
    const bool mortal = outcome_.ends.has_value();
    if (mortal) outcome_.aftermath = goal::aftermath_of(graphs_, deaths_, *outcome_.ends, options_.waits_for_receive);
    const goal::Unmatched unmatched(matching_);
    if (!mortal && (outcome_.operations < wanted_ || unmatched.any()))
      return unmatched.error(graphs_, wanted_ - outcome_.operations);
    for (Time& end : outcome_.end) end -= std::min(end, outcome_.start);
    const auto last = std::max_element(outcome_.end.begin(), outcome_.end.end());
    if (last != outcome_.end.end())
      outcome_.last = *last, outcome_.last_rank = static_cast<std::int32_t>(last - outcome_.end.begin());
    return std::move(outcome_);
  }

  // Alone on the network.
  Result<Outcome> run() {
    begin(0);
    while (!events_.empty() || network_.next() != never) {
      const Time next = std::min(due(), network_.next()); // never: of a node that does not die
      if (next > goal::longest_run && next != never) return goal::run_too_long();
      if (due() <= network_.next()) {
        happen();
        continue;
      }
      const Time now = network_.next();
      network_.advance();
      for (const std::uint32_t id : network_.delivered()) delivered(id, now);
      for (const std::uint32_t id : network_.sent()) sent(id, now);
    }
    return finish();
  }

 private:
  static constexpr bool between_ranks = requires { Net::between_ranks; };
  static constexpr bool only_copies = requires { Net::only_copies; };

  // matched: the receive of a send is posted. next: a server is free for the next task that waits. reach: a message is
  // there to be taken. die: the rank is a node.
  enum class Step : std::uint8_t { start, matched, next, hand_over, reach, arrive, die };
  struct Event {
    Time time = 0;
    std::uint64_t order = 0; // of equal times the lower one is first
    std::int32_t rank = 0, sender = 0;
    std::uint32_t operation = 0; // of `rank`; of reach and arrive: the send; of next: the number of the server
    Step step = Step::start;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.time != b.time ? a.time > b.time : a.order > b.order;
    }
  };
  struct UnderWay {
    std::int32_t sender = 0;
    std::uint32_t send = 0;
  };

  struct Channel { // from an interface to a peer: one message after the other leaves the node
    bool busy = false;
    std::deque<std::uint32_t> waiting; // sends
  };
  std::uint64_t key(std::int32_t rank, const goal::Operation& send) const {
    const auto peers = static_cast<std::uint64_t>(graphs_.ranks());
    const auto interfaces = static_cast<std::uint64_t>(graphs_.nics());
    return (static_cast<std::uint64_t>(rank) * interfaces + send.nic) * peers + static_cast<std::uint64_t>(send.peer);
  }

  const goal::Operation& operation(std::int32_t rank, std::uint32_t i) const { return graphs_.of(rank).operations[i]; }
  const goal::Operation& of(const UnderWay& message) const { return operation(message.sender, message.send); }
  // The processor or the interface of an operation, or of what takes its message: a number within the rank.
  std::uint32_t server_of(const goal::Operation& of) const {
    return of.kind == Kind::calc ? of.cpu : static_cast<std::uint32_t>(graphs_.cpus()) + of.nic;
  }
  Server& server(std::int32_t rank, std::uint32_t number) {
    return servers_[stride_ * static_cast<std::size_t>(rank) + number];
  }
  void tell(std::int32_t rank, std::int32_t peer, std::uint32_t i, Kind kind, std::uint8_t server, Time end,
            Time noise = 0) {
    for (goal::Observer* each : observers_) each->busy({rank, peer, i, kind, server, now_, end, noise});
  }
  // To noise, of work that a rank starts now.
  Time lost(std::int32_t rank, Time work) {
    if (!noise_) return 0;
    const Time time = noise_->lost(rank, now_, work);
    outcome_.lost_to_noise += time;
    return time;
  }
  void push(Time time, std::int32_t rank, std::uint32_t i, Step step, std::int32_t sender = 0) {
    events_.push({time, order_++, rank, sender, i, step});
  }

  // Deaths are the first events of their times. Of `die` the rank is a node.
  void plan_deaths() {
    outcome_.ends.emplace(graphs_);
    deaths_.resize(static_cast<std::size_t>(graphs_.ranks()), goal::never);
    for (const NodeDeath& death : options_.deaths) {
      push(death.time, death.node, 0, Step::die);
      for (std::size_t rank = 0; rank < nodes_.size(); ++rank)
        if (nodes_[rank] == death.node) deaths_[rank] = std::min(deaths_[rank], death.time);
    }
  }
  std::int32_t node_of(std::int32_t rank) const { return nodes_[static_cast<std::size_t>(rank)]; }
  Time cost_of(std::int32_t rank, const goal::Operation& send) const {
    const bool local = node_of(rank) == node_of(graphs_.peer(rank, send.peer)); // a copy's time is its own
    return local ? 0 : software_.sending(send);
  }
  bool is_dead(std::int32_t rank, Time time) const { return goal::is_dead(deaths_, rank, time); }

  // A join ends at once.
  void release(std::int32_t rank, std::uint32_t i, Time ready) {
    if (operation(rank, i).kind == Kind::join)
      end(rank, i, ready);
    else
      push(std::max(now_, ready), rank, i, Step::start);
  }
  void end(std::int32_t rank, std::uint32_t i, Time time) {
    const goal::Operation& of = operation(rank, i);
    const bool join = of.kind == Kind::join;
    if (is_dead(rank, time)) return;
    if (outcome_.ends) outcome_.ends->set(rank, i, time);
    outcome_.operations += !join;
    Time& last = outcome_.end[static_cast<std::size_t>(rank)];
    last = std::max(last, time);
    dependents(rank, of.first, of.after_end + (join ? of.after_start : 0), time);
  }
  void dependents(std::int32_t rank, std::uint32_t first, std::uint32_t count, Time time) {
    waits_.less(rank, graphs_.of(rank), first, count, time,
                [&](std::uint32_t operation, Time ready) { release(rank, operation, ready); });
  }

  void happen(const Event& event) {
    if (event.step == Step::die) return network_.stop(now_, event.rank);
    if (is_dead(event.rank, now_)) return;
    if (event.step == Step::next) return start_next(event.rank, event.operation);
    const bool of_sender = event.step == Step::reach || event.step == Step::arrive;
    const goal::Operation& of = operation(of_sender ? event.sender : event.rank, event.operation);
    switch (event.step) {
    case Step::start: return start(event, of);
    case Step::matched: return wait_for_server(event.rank, {event.operation}, of);
    case Step::hand_over: return hand_over(event, of);
    case Step::reach: return reach(event, of);
    case Step::arrive: return arrive(event, of);
    case Step::next:
    case Step::die: return;
    }
  }

  void start(const Event& event, const goal::Operation& of) {
    if (of.kind == Kind::receive) return receive(event, of);
    if (options_.waits_for_receive && of.kind == Kind::send) {
      const goal::Envelope envelope{graphs_.peer(event.rank, of.peer), event.rank, of.tag};
      const auto found = matching_.match(envelope, event.operation, true);
      if (found)
        receive_of_[key_of(event.rank, event.operation)] = found->operation;
      else if (!leaves_early(event.rank, of))
        return;
    }
    wait_for_server(event.rank, {event.operation}, of);
  }
  void wait_for_server(std::int32_t rank, const Task& task, const goal::Operation& of) {
    const std::uint32_t number = server_of(of);
    Server& by = server(rank, number);
    if (by.waiting.empty() && by.free <= now_) return serve(rank, task, by);
    by.waiting.push_back(task);
    if (by.waiting.size() == 1) push(by.free, rank, number, Step::next);
  }
  void start_next(std::int32_t rank, std::uint32_t number) {
    Server& by = server(rank, number);
    const Task task = by.waiting.front();
    by.waiting.pop_front();
    serve(rank, task, by);
    if (!by.waiting.empty()) push(by.free, rank, number, Step::next);
  }
  void serve(std::int32_t rank, const Task& task, Server& by) {
    if (task.sender >= 0) return take(rank, task, by);
    const std::uint32_t i = task.operation;
    const goal::Operation& of = operation(rank, i);
    const bool is_calc = of.kind == Kind::calc;
    const Time work = is_calc ? software_.on_node(node_of(rank), of.size) : cost_of(rank, of);
    const Time noise = lost(rank, work);
    by.free = now_ + work + noise;
    dependents(rank, of.first + of.after_end, of.after_start, now_);
    tell(rank, is_calc ? rank : graphs_.peer(rank, of.peer), i, of.kind, is_calc ? of.cpu : of.nic, by.free, noise);
    if (is_calc) return end(rank, i, by.free);
    push(by.free, rank, i, Step::hand_over);
  }

  void take(std::int32_t rank, const Task& task, Server& by) {
    const goal::Operation& send = operation(task.sender, task.operation);
    const Time work = software_.taking(send);
    by.free = now_ + work + lost(rank, work);
    arrives({task.sender, task.operation}, by.free);
  }

  void receive(const Event& event, const goal::Operation& of) {
    dependents(event.rank, of.first + of.after_end, of.after_start, now_);
    const std::int32_t sender = graphs_.peer(event.rank, of.peer);
    const auto found = matching_.match({event.rank, sender, of.tag}, event.operation, false);
    if (!found) return;
    if (!options_.waits_for_receive) return end(event.rank, event.operation, now_);
    const std::int32_t from = found->envelope.sender;
    const std::uint64_t key = key_of(from, found->operation);
    receive_of_[key] = event.operation;
    if (!leaves_early(from, operation(from, found->operation)))
      return push(now_, from, found->operation, Step::matched);
    if (early_.erase(key) == 0) return;
    if (takes_no_time(event.rank, {from, found->operation})) { // it has arrived
      receive_of_.erase(key);
      return end(event.rank, event.operation, now_);
    }
    reaches({from, found->operation}, now_);
  }
  bool takes_no_time(std::int32_t receiver, const UnderWay& message) {
    return software_.taking(of(message)) == 0 || node_of(receiver) == node_of(message.sender);
  }
  // Between nodes an eager message leaves when its sender is ready; within a node and elsewhere, one of so few bytes.
  bool leaves_early(std::int32_t rank, const goal::Operation& send) const {
    if (send.size <= options_.unexpected) return true;
    return software_.is_eager(send) && node_of(rank) != node_of(graphs_.peer(rank, send.peer));
  }

  void hand_over(const Event& event, const goal::Operation& of) {
    const std::int32_t peer = graphs_.peer(event.rank, of.peer);
    const std::int32_t from = nodes_[static_cast<std::size_t>(event.rank)], to = nodes_[static_cast<std::size_t>(peer)];
    if ((from == to && !between_ranks) || only_copies) {
      const Time copy = software_.on_node(from, copies_.time(of.size));
      const Time done = now_ + copy + (copy > 0 ? lost(event.rank, copy) : 0);
      end(event.rank, event.operation, done);
      if (is_dead(event.rank, done)) return;
      return arrives({event.rank, event.operation}, done);
    }
    Channel& channel = channels_[key(event.rank, of)];
    if (channel.busy)
      channel.waiting.push_back(event.operation);
    else
      submit(event.rank, event.operation, channel);
  }
  void submit(std::int32_t rank, std::uint32_t send, Channel& channel) {
    const goal::Operation& of = operation(rank, send);
    const std::int32_t peer = graphs_.peer(rank, of.peer);
    const std::int32_t from = between_ranks ? rank : node_of(rank), to = between_ranks ? peer : node_of(peer);
    channel.busy = true;
    const Time gap = of.gap * software_.packet / 1000;
    std::uint32_t id = 0;
    if constexpr (between_ranks)
      id = network_.submit(now_, {from, to, of.size, now_, gap, of.put});
    else
      id = network_.submit(now_, {from, to, of.size, now_, gap});
    if (under_way_.size() <= id) under_way_.resize(id + 1);
    under_way_[id] = {rank, send};
  }
  void sent(const UnderWay& message) {
    const auto at = channels_.find(key(message.sender, operation(message.sender, message.send)));
    Channel& channel = at->second;
    if (channel.waiting.empty()) {
      channels_.erase(at);
    } else {
      const std::uint32_t next = channel.waiting.front();
      channel.waiting.pop_front();
      submit(message.sender, next, channel);
    }
    end(message.sender, message.send, now_);
  }
  // It is there, and may be taken.
  void reaches(const UnderWay& message, Time time) {
    const goal::Operation& send = of(message);
    const std::int32_t receiver = graphs_.peer(message.sender, send.peer);
    if (takes_no_time(receiver, message)) return arrives(message, time);
    push(time, receiver, message.send, Step::reach, message.sender);
  }
  // Of programs, it is taken once its receive is posted.
  void reach(const Event& event, const goal::Operation& of) {
    const std::uint64_t key = key_of(event.sender, event.operation);
    if (options_.waits_for_receive && !receive_of_.contains(key)) return void(early_.insert(key));
    wait_for_server(event.rank, {event.operation, event.sender}, of);
  }
  void arrives(const UnderWay& message, Time time) {
    const goal::Operation& send = of(message);
    const std::int32_t receiver = graphs_.peer(message.sender, send.peer);
    tell(receiver, message.sender, message.send, Kind::receive, send.nic, time);
    push(time, receiver, message.send, Step::arrive, message.sender);
  }
  void arrive(const Event& event, const goal::Operation& of) {
    if (options_.waits_for_receive) {
      const std::uint64_t key = key_of(event.sender, event.operation);
      const auto at = receive_of_.find(key);
      if (at == receive_of_.end()) return void(early_.insert(key));
      const std::uint32_t receive = at->second;
      receive_of_.erase(at);
      return end(event.rank, receive, now_);
    }
    if (const auto found = matching_.match({event.rank, event.sender, of.tag}, event.operation, true))
      end(event.rank, found->operation, now_);
  }

  static std::uint64_t key_of(std::int32_t rank, std::uint32_t operation) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(rank)) << 32 | operation;
  }

  const Options options_; // by value: callers give temporaries
  const goal::Graphs& graphs_;
  std::span<const std::int32_t> nodes_;
  const Software software_;
  const LocalCopies& copies_;
  Observers observers_;
  Net& network_;
  goal::Deaths deaths_; // by rank; empty: none
  Matching matching_;
  goal::Waits waits_;
  std::optional<goal::Noise> noise_;
  std::size_t stride_;
  std::vector<Server> servers_; // by rank: processors, then interfaces
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::vector<UnderWay> under_way_; // by the network's name of the message
  std::unordered_map<std::uint64_t, Channel> channels_;
  std::unordered_map<std::uint64_t, std::uint32_t> receive_of_; // by a send that has begun
  std::unordered_set<std::uint64_t> early_; // sends that have arrived before their receive is posted
  Time now_ = 0;
  std::uint64_t order_ = 0, wanted_ = 0;
  Outcome outcome_;
};

} // namespace kumihimo::hosts
