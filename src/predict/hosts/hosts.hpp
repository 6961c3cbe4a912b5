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
//
// Operations are graphs in memory (goal/whole_operations.hpp) or programs (goal/program_segments.hpp). Of programs each
// lane has an interface, and a processor that sums and computes. A send waits for its receive, and then for those of
// its lane to the same rank, before its interface is busy with it. Net then has all times of software, and what ranks
// do themselves:
//
//   leaves_early(from, to, bytes)               without its receive
//   prepare(message)                            before it is submitted by go(now, id); the answer names it. Then
//   sending(id), taking(id), pause(id)          during which an interface is busy, and its channel behind it
//   work(now, rank, operation, noise)           a sum, a copy or a computation, which `sent` names when it has ended
//   work_time(rank, operation)                  without others beside it
//   offload_time(ranks)                         from the last of the ranks on
#pragma once

#include "goal/longest_run.hpp"
#include "goal/matching.hpp"
#include "goal/unmatched.hpp"
#include "hosts/host_events.hpp"
#include "hosts/outcome.hpp"
#include "hosts/servers.hpp"
#include "hosts/software.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

namespace kumihimo::hosts {

using goal::Kind;

template <class Net, class Operations, class Matching>
class Hosts {
 public:
  // What is referred to outlives this. The operations are used up.
  Hosts(Operations& operations, std::span<const std::int32_t> nodes, const Software& software,
        const LocalCopies& copies, Net& network, Matching matching, const HostsOptions& options,
        Observers observers = {})
      : options_(options), operations_(operations), nodes_(nodes), software_(software), copies_(copies),
        observers_(observers), network_(network), matching_(std::move(matching)), stride_(servers_of(operations)),
        servers_(stride_ * static_cast<std::size_t>(operations.ranks())) {
    outcome_.end.resize(static_cast<std::size_t>(operations.ranks()));
    if (!options_.deaths.empty()) plan_deaths();
    if (options_.noise) noise_.emplace(*options_.noise, operations.ranks());
  }

  // All that waits for nothing starts.
  void begin(Time start) {
    outcome_.start = now_ = start;
    for (std::int32_t rank = 0; rank < operations_.ranks(); ++rank)
      operations_.begin(rank, [&](std::uint32_t i, Time) { release(rank, i, start); });
  }
  Time now() const { return now_; }
  Time due() const { return events_.due(); }
  void happen() {
    const HostEvent event = events_.pop();
    now_ = event.time;
    happen(event);
  }
  void delivered(std::uint32_t id, Time now) {
    now_ = now;
    const UnderWay& message = under_way_[id];
    if constexpr (of_programs) return reaches(message, network_.taking(id), now_);
    const goal::GraphOperation& send = of(message);
    const std::int32_t receiver = operations_.peer(message.sender, send.peer);
    const Time taking = node_of(receiver) == node_of(message.sender) ? 0 : software_.taking(send);
    const Time wait = between_ranks ? 0 : software_.arriving(send);
    reaches(message, taking, now_ + wait + (wait > 0 ? lost(receiver, wait) : 0));
  }
  void sent(std::uint32_t id, Time now) {
    now_ = now;
    const UnderWay message = under_way_[id]; // which a message that is submitted may move
    if constexpr (of_programs)
      if (!message.is_message) return worked(message);
    sent(message, id);
  }
  // After the last event.
  Result<Outcome> finish() {
    const bool mortal = outcome_.ends.has_value();
    if (!operations_.status()) return operations_.status().error();
    if constexpr (Operations::is_whole) {
      if (mortal)
        outcome_.aftermath =
            goal::aftermath_of(operations_.graphs(), deaths_, *outcome_.ends, options_.waits_for_receive);
      const goal::Unmatched unmatched(matching_);
      if (!mortal && (outcome_.operations < operations_.wanted() || unmatched.any()))
        return operations_.error(unmatched, operations_.wanted() - outcome_.operations);
    }
    for (Time& end : outcome_.end) end -= std::min(end, outcome_.start);
    const auto last = std::max_element(outcome_.end.begin(), outcome_.end.end());
    if (last != outcome_.end.end())
      outcome_.last = *last, outcome_.last_rank = static_cast<std::int32_t>(last - outcome_.end.begin());
    return std::move(outcome_);
  }

  // Alone on the network. Of programs, what never ends is for the caller to see.
  Result<Outcome> run() {
    begin(0);
    while (due() != never || network_.next() != never || !requested_.empty()) {
      if constexpr (of_programs) {
        if (!operations_.status()) break;
        if (!requested_.empty() && due() > now_ && network_.next_message() > now_) {
          serve_requested();
          continue;
        }
      }
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
  static constexpr bool of_programs = requires { Operations::of_programs; };

  using Step = HostStep;
  struct UnderWay {
    std::int32_t sender = 0;
    std::uint32_t send = 0;
    bool is_message = true; // else what the rank does itself
  };

  std::uint64_t key(std::int32_t rank, std::uint32_t number, std::int32_t peer) const {
    const auto peers = static_cast<std::uint64_t>(operations_.ranks());
    return (static_cast<std::uint64_t>(rank) * stride_ + number) * peers + static_cast<std::uint64_t>(peer);
  }
  std::uint64_t key(std::int32_t rank, const goal::GraphOperation& send) const {
    return key(rank, server_of(send), send.peer);
  }

  const goal::GraphOperation& operation(std::int32_t rank, std::uint32_t i) const { return operations_.of(rank, i); }
  const goal::GraphOperation& of(const UnderWay& message) const { return operation(message.sender, message.send); }
  // The processor or the interface of an operation, or of what takes its message: a number within the rank.
  std::uint32_t server_of(const goal::GraphOperation& of) const {
    if constexpr (of_programs)
      return Operations::lane_of(of);
    else
      return of.kind == Kind::calc ? of.cpu : static_cast<std::uint32_t>(operations_.cpus()) + of.nic;
  }
  static std::size_t servers_of(const Operations& operations) { // of a rank
    if constexpr (of_programs)
      return static_cast<std::size_t>(operations.most_lanes());
    else
      return static_cast<std::size_t>(operations.cpus() + operations.nics());
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
    events_.push({.time = time, .rank = rank, .sender = sender, .operation = i, .step = step}, now_);
  }

  // Deaths are the first events of their times. Of `die` the rank is a node.
  void plan_deaths() {
    if constexpr (Operations::is_whole) outcome_.ends.emplace(operations_.graphs());
    deaths_.resize(static_cast<std::size_t>(operations_.ranks()), goal::never);
    for (const NodeDeath& death : options_.deaths) {
      push(death.time, death.node, 0, Step::die);
      for (std::size_t rank = 0; rank < nodes_.size(); ++rank)
        if (nodes_[rank] == death.node) deaths_[rank] = std::min(deaths_[rank], death.time);
    }
  }
  std::int32_t node_of(std::int32_t rank) const { return nodes_[static_cast<std::size_t>(rank)]; }
  Time cost_of(std::int32_t rank, const goal::GraphOperation& send) const {
    const bool local = node_of(rank) == node_of(operations_.peer(rank, send.peer)); // a copy's time is its own
    return local ? 0 : software_.sending(send);
  }
  bool is_dead(std::int32_t rank, Time time) const { return goal::is_dead(deaths_, rank, time); }

  // A join ends at once. Of programs an operation starts at once, too, but for long chains of those that take no time.
  void release(std::int32_t rank, std::uint32_t i, Time ready) {
    const goal::GraphOperation& of = operation(rank, i);
    if (of.kind == Kind::join) return end(rank, i, ready);
    if constexpr (of_programs) {
      constexpr int deepest = 50;
      if (depth_ < deepest) {
        ++depth_;
        start({now_, 0, rank, 0, i, Step::start}, of);
        --depth_;
        return;
      }
    }
    push(std::max(now_, ready), rank, i, Step::start);
  }
  void end(std::int32_t rank, std::uint32_t i, Time time) {
    const goal::GraphOperation& of = operation(rank, i);
    const bool join = of.kind == Kind::join;
    if (is_dead(rank, time)) return;
    if (outcome_.ends) outcome_.ends->set(rank, i, time);
    outcome_.operations += !join;
    Time& last = outcome_.end[static_cast<std::size_t>(rank)];
    last = std::max(last, time);
    operations_.ended(rank, i, time, [&](std::uint32_t operation, Time ready) { release(rank, operation, ready); });
    operations_.done(rank, i);
  }
  void started(std::int32_t rank, std::uint32_t i) {
    operations_.started(rank, i, now_, [&](std::uint32_t operation, Time ready) { release(rank, operation, ready); });
  }

  void happen(const HostEvent& event) {
    if (event.step == Step::die) return network_.stop(now_, event.rank);
    if (is_dead(event.rank, now_)) return;
    if (event.step == Step::next) return start_next(event.rank, event.operation);
    if constexpr (of_programs)
      if (event.step == Step::pause) return release_channel(key(event.rank, event.operation, event.sender));
    const bool of_sender = event.step == Step::reach || event.step == Step::arrive;
    const goal::GraphOperation& of = operation(of_sender ? event.sender : event.rank, event.operation);
    switch (event.step) {
    case Step::start: return start(event, of);
    case Step::matched: return wait_for_server(event.rank, {event.operation, -1, cost_of(event.rank, of)}, of);
    case Step::hand_over: return hand_over(event, of);
    case Step::reach: return reach(event, of);
    case Step::arrive: return arrive(event, of);
    case Step::end: return end(event.rank, event.operation, now_);
    case Step::next:
    case Step::pause:
    case Step::die: return;
    }
  }

  void start(const HostEvent& event, const goal::GraphOperation& of) {
    if (of.kind == Kind::receive) return receive(event, of);
    if constexpr (of_programs)
      if (of.kind != Kind::send) return start_work(event.rank, event.operation, of);
    if (options_.waits_for_receive && of.kind == Kind::send) {
      const goal::Envelope envelope{operations_.peer(event.rank, of.peer), event.rank, of.tag};
      if constexpr (of_programs) operations_.note(event.rank, event.operation).order = sends_++;
      const auto found = matching_.match(envelope, event.operation, true);
      if (found)
        meet({event.rank, event.operation}, envelope.receiver, found->operation);
      else if (!leaves_early(event.rank, of))
        return;
    }
    if constexpr (of_programs)
      ask_channel(event.rank, event.operation, of);
    else
      wait_for_server(event.rank, {event.operation, -1, of.kind == Kind::calc ? 0 : cost_of(event.rank, of)}, of);
  }
  void meet(const UnderWay& message, std::int32_t receiver, std::uint32_t receive) {
    if constexpr (of_programs) {
      operations_.note(message.sender, message.send).receive = receive;
      const goal::GraphOperation &send = of(message), &taken = operation(receiver, receive);
      if (send.size != taken.size && send.size > 0 && taken.size > 0 && !outcome_.unequal)
        outcome_.unequal = Outcome::Unequal{message.sender, receiver, server_of(send), send.size, taken.size};
    } else {
      receive_of_[key_of(message.sender, message.send)] = receive;
    }
  }
  void wait_for_server(std::int32_t rank, const Task& task, const goal::GraphOperation& of) {
    const std::uint32_t number = server_of(of);
    Server& by = server(rank, number);
    if (by.waiting.empty() && by.free <= now_) return serve(rank, task, by);
    by.waiting.push(task);
    if (by.waiting.size() == 1) push(by.free, rank, number, Step::next);
  }
  void start_next(std::int32_t rank, std::uint32_t number) {
    Server& by = server(rank, number);
    const Task task = by.waiting.front();
    by.waiting.pop();
    serve(rank, task, by);
    if (!by.waiting.empty()) push(by.free, rank, number, Step::next);
  }
  void serve(std::int32_t rank, const Task& task, Server& by) {
    if (task.sender >= 0) return take(rank, task, by);
    const std::uint32_t i = task.operation;
    const goal::GraphOperation& of = operation(rank, i);
    const bool is_calc = of.kind == Kind::calc;
    const Time work = is_calc ? software_.on_node(node_of(rank), of.size) : task.work;
    const Time noise = lost(rank, work);
    by.free = now_ + work + noise;
    started(rank, i);
    tell(rank, is_calc ? rank : operations_.peer(rank, of.peer), i, of.kind, is_calc ? of.cpu : of.nic, by.free, noise);
    if (is_calc) return end(rank, i, by.free);
    push(by.free, rank, i, Step::hand_over, static_cast<std::int32_t>(task.message));
  }

  void take(std::int32_t rank, const Task& task, Server& by) {
    by.free = now_ + task.work + lost(rank, task.work);
    arrives({task.sender, task.operation}, by.free);
  }

  void receive(const HostEvent& event, const goal::GraphOperation& of) {
    started(event.rank, event.operation);
    const std::int32_t sender = operations_.peer(event.rank, of.peer);
    const auto found = matching_.match({event.rank, sender, of.tag}, event.operation, false);
    if (!found) return;
    if (!options_.waits_for_receive) return end(event.rank, event.operation, now_);
    const std::int32_t from = found->envelope.sender;
    const UnderWay message{from, found->operation};
    meet(message, event.rank, event.operation);
    if (const goal::GraphOperation& send = this->of(message); !leaves_early(from, send)) {
      if constexpr (of_programs)
        return ask_channel(from, found->operation, send);
      else
        return push(now_, from, found->operation, Step::matched);
    }
    Time taking = 0;
    if constexpr (of_programs) {
      const auto& note = operations_.note(from, found->operation);
      if (!note.is_there) return;
      taking = note.taking;
    } else {
      const auto at = early_.find(key_of(from, found->operation));
      if (at == early_.end()) return;
      taking = at->second;
      early_.erase(at);
    }
    if (taking > 0) return reaches(message, taking, now_);
    if constexpr (!of_programs) receive_of_.erase(key_of(from, found->operation));
    end(event.rank, event.operation, now_); // it has arrived
    operations_.done(from, found->operation);
  }
  // Between nodes an eager message leaves when its sender is ready; within a node and elsewhere, one of so few bytes.
  bool leaves_early(std::int32_t rank, const goal::GraphOperation& send) const {
    const std::int32_t peer = operations_.peer(rank, send.peer);
    if constexpr (of_programs) return network_.leaves_early(rank, peer, send.size);
    if (send.size <= options_.unexpected) return true;
    return software_.is_eager(send) && node_of(rank) != node_of(peer);
  }

  // Of programs. What asks at one instant is served at its end, in the order in which the sends began.
  void ask_channel(std::int32_t rank, std::uint32_t send, const goal::GraphOperation& of) {
    const std::uint64_t at = key(rank, of);
    PeerChannel& channel = channels_[at];
    channel.waiting.push(send);
    if (!channel.busy && channel.waiting.size() == 1) request(rank, send, at);
  }
  void request(std::int32_t rank, std::uint32_t send, std::uint64_t channel) {
    requested_.push_back({operations_.note(rank, send).order, channel, rank});
  }
  void release_channel(std::uint64_t at) {
    const auto found = channels_.find(at);
    found->second.busy = false;
    if (found->second.waiting.empty()) return;
    request(static_cast<std::int32_t>(at / static_cast<std::uint64_t>(operations_.ranks()) / stride_),
            found->second.waiting.front(), at);
  }
  void serve_requested() {
    serving_.swap(requested_);
    std::sort(serving_.begin(), serving_.end(), [](const Request& a, const Request& b) { return a.order < b.order; });
    for (const Request& each : serving_) {
      PeerChannel& channel = channels_.find(each.channel)->second;
      const std::uint32_t send = channel.waiting.front();
      channel.waiting.pop();
      channel.busy = true;
      prepare(each.rank, send);
    }
    serving_.clear();
  }
  void prepare(std::int32_t rank, std::uint32_t send) {
    const goal::GraphOperation& of = operation(rank, send);
    const std::int32_t peer = operations_.peer(rank, of.peer);
    const auto& note = operations_.note(rank, send);
    const bool summed = note.receive != note.none && operation(peer, note.receive).summed;
    const std::uint32_t id = network_.prepare({rank, peer, of.size, now_, of.gap, of.put, summed});
    note_under_way(id, {rank, send});
    if (const Time cost = network_.sending(id); cost > 0)
      wait_for_server(rank, {send, -1, cost, id}, of);
    else
      network_.go(now_, id);
  }
  void note_under_way(std::uint32_t id, const UnderWay& what) {
    if (under_way_.size() <= id) under_way_.resize(id + 1);
    under_way_[id] = what;
  }

  // Sums and computations of a lane one after the other, copies at once.
  void start_work(std::int32_t rank, std::uint32_t i, const goal::GraphOperation& of) {
    if (of.kind == Kind::offload) return offload(rank, i, of);
    if (of.kind == Kind::copy) return begin_work(rank, i, of);
    if (works_.empty()) works_.resize(servers_.size());
    Fifo<std::uint32_t>& works = works_[stride_ * static_cast<std::size_t>(rank) + server_of(of)];
    works.push(i);
    if (works.size() == 1) begin_work(rank, i, of);
  }
  void begin_work(std::int32_t rank, std::uint32_t i, const goal::GraphOperation& of) {
    const Time noise = noise_ && of.kind != Kind::copy ? lost(rank, network_.work_time(rank, of)) : 0;
    note_under_way(network_.work(now_, rank, of, noise), {rank, i, false});
  }
  void worked(const UnderWay& work) {
    if (const goal::GraphOperation& done = of(work); done.kind != Kind::copy) {
      Fifo<std::uint32_t>& works = works_[stride_ * static_cast<std::size_t>(work.sender) + server_of(done)];
      works.pop();
      if (!works.empty()) begin_work(work.sender, works.front(), operation(work.sender, works.front()));
    }
    end(work.sender, work.send, now_);
  }
  void offload(std::int32_t rank, std::uint32_t i, const goal::GraphOperation& of) {
    auto& met = offloads_[of.tag];
    met.push_back({rank, i});
    const std::int32_t ranks = operations_.ranks_of_lane(rank, of);
    if (static_cast<std::int32_t>(met.size()) < ranks) return;
    for (const UnderWay& each : met) push(now_ + network_.offload_time(ranks), each.sender, each.send, Step::end);
    offloads_.erase(of.tag);
  }

  void hand_over(const HostEvent& event, const goal::GraphOperation& of) {
    if constexpr (of_programs) return network_.go(now_, static_cast<std::uint32_t>(event.sender));
    const std::int32_t peer = operations_.peer(event.rank, of.peer);
    const std::int32_t from = nodes_[static_cast<std::size_t>(event.rank)], to = nodes_[static_cast<std::size_t>(peer)];
    if ((from == to && !between_ranks) || only_copies) {
      const Time copy = software_.on_node(from, copies_.time(of.size));
      const Time done = now_ + copy + (copy > 0 ? lost(event.rank, copy) : 0);
      end(event.rank, event.operation, done);
      if (is_dead(event.rank, done)) return;
      return arrives({event.rank, event.operation}, done);
    }
    PeerChannel& channel = channels_[key(event.rank, of)];
    if (channel.busy)
      channel.waiting.push(event.operation);
    else
      submit(event.rank, event.operation, channel);
  }
  void submit(std::int32_t rank, std::uint32_t send, PeerChannel& channel) {
    const goal::GraphOperation& of = operation(rank, send);
    const std::int32_t peer = operations_.peer(rank, of.peer);
    const std::int32_t from = between_ranks ? rank : node_of(rank), to = between_ranks ? peer : node_of(peer);
    channel.busy = true;
    const Time gap = of.gap * software_.packet / 1000;
    std::uint32_t id = 0;
    if constexpr (between_ranks)
      id = network_.submit(now_, {from, to, of.size, now_, gap, of.put});
    else
      id = network_.submit(now_, {from, to, of.size, now_, gap});
    note_under_way(id, {rank, send});
  }
  void sent(const UnderWay& message, [[maybe_unused]] std::uint32_t id) {
    if constexpr (of_programs) {
      const goal::GraphOperation& send = of(message);
      if (const Time pause = network_.pause(id); pause > 0)
        push(now_ + pause, message.sender, server_of(send), Step::pause, send.peer);
      else
        release_channel(key(message.sender, send));
      return end(message.sender, message.send, now_);
    }
    const auto at = channels_.find(key(message.sender, operation(message.sender, message.send)));
    PeerChannel& channel = at->second;
    if (channel.waiting.empty()) {
      channels_.erase(at);
    } else {
      const std::uint32_t next = channel.waiting.front();
      channel.waiting.pop();
      submit(message.sender, next, channel);
    }
    end(message.sender, message.send, now_);
  }
  // It is there, and may be taken, which takes an interface some time.
  void reaches(const UnderWay& message, Time taking, Time time) {
    if (taking == 0) return arrives(message, time);
    const std::int32_t receiver = operations_.peer(message.sender, of(message).peer);
    if constexpr (of_programs)
      take_when_received(receiver, message, taking);
    else
      push(time, receiver, message.send, Step::reach, message.sender);
  }
  void reach(const HostEvent& event, const goal::GraphOperation& of) {
    take_when_received(event.rank, {event.sender, event.operation}, software_.taking(of));
  }
  // Of programs, it is taken once its receive is posted.
  void take_when_received(std::int32_t receiver, const UnderWay& message, Time taking) {
    const Task task{message.send, message.sender, taking};
    if constexpr (of_programs) {
      auto& note = operations_.note(message.sender, message.send);
      if (note.receive != note.none) return wait_for_server(receiver, task, operation(receiver, note.receive));
      note.is_there = true, note.taking = taking;
    } else if (const std::uint64_t key = key_of(message.sender, message.send);
               options_.waits_for_receive && !receive_of_.contains(key)) {
      early_[key] = taking;
    } else {
      wait_for_server(receiver, task, of(message));
    }
  }
  void arrives(const UnderWay& message, Time time) {
    const goal::GraphOperation& send = of(message);
    const std::int32_t receiver = operations_.peer(message.sender, send.peer);
    tell(receiver, message.sender, message.send, Kind::receive, send.nic, time);
    if constexpr (of_programs)
      if (time == now_) return arrive({time, 0, receiver, message.sender, message.send, Step::arrive}, send);
    push(time, receiver, message.send, Step::arrive, message.sender);
  }
  void arrive(const HostEvent& event, const goal::GraphOperation& of) {
    if constexpr (of_programs) {
      auto& note = operations_.note(event.sender, event.operation);
      if (note.receive == note.none) return void(note.is_there = true);
      end(event.rank, note.receive, now_);
      return operations_.done(event.sender, event.operation);
    }
    if (options_.waits_for_receive) {
      const std::uint64_t key = key_of(event.sender, event.operation);
      const auto at = receive_of_.find(key);
      if (at == receive_of_.end()) return void(early_[key] = 0);
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

  const HostsOptions options_; // by value: callers give temporaries
  Operations& operations_;
  std::span<const std::int32_t> nodes_;
  const Software software_;
  const LocalCopies& copies_;
  Observers observers_;
  Net& network_;
  goal::Deaths deaths_; // by rank; empty: none
  Matching matching_;
  std::optional<goal::Noise> noise_;
  std::size_t stride_;
  std::vector<Server> servers_; // by rank: processors, then interfaces; of programs, interfaces of lanes
  HostEvents events_;
  std::vector<UnderWay> under_way_; // by the network's name of the message
  std::unordered_map<std::uint64_t, PeerChannel> channels_;
  std::unordered_map<std::uint64_t, std::uint32_t> receive_of_; // by a send that has begun
  std::unordered_map<std::uint64_t, Time> early_; // sends there before their receive is posted; how long they are taken
  struct Request {
    std::uint64_t order = 0, channel = 0;
    std::int32_t rank = 0;
  };
  std::vector<Request> requested_, serving_; // of programs: channels that may serve a send
  std::vector<Fifo<std::uint32_t>> works_;   // of them, by rank and lane: the first is under way
  std::unordered_map<std::uint32_t, std::vector<UnderWay>> offloads_; // by tag: ranks that have come
  Time now_ = 0;
  std::uint64_t sends_ = 0; // that have begun
  int depth_ = 0;           // of operations that started as others ended
  Outcome outcome_;
};

} // namespace kumihimo::hosts
