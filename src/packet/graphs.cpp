#include "packet/graphs.hpp"

#include "goal/matching.hpp"
#include "goal/unmatched.hpp"
#include "goal/waits.hpp"
#include "packet/shared_network.hpp"
#include "packet/with_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <unordered_map>

namespace kumihimo::packet {
namespace {

using goal::Graph;
using goal::Kind;

struct Software {
  Time send = 0, receive = 0;
  std::uint64_t eager = goal::most_message_bytes; // longer ones are there so much later
  Time rendezvous = 0;
  Time packet = 0; // of a full one on a link

  Time after_arrival(std::uint64_t bytes) const { return receive + (bytes > eager ? rendezvous : 0); }
};

// A processor or an interface, which takes one operation after the other.
struct Server {
  Time free = 0;
  std::deque<std::uint32_t> waiting; // operations, the next one first
};

template <class Net, class Matching>
class Hosts {
 public:
  Hosts(const goal::Graphs& graphs, std::span<const std::int32_t> nodes, const Software& software,
        const LocalCopies& copies, Net& network, Matching matching, const Options& options, Observers observers = {})
      : waits_for_receive_(options.waits_for_receive), graphs_(graphs), nodes_(nodes), software_(software),
        copies_(copies), observers_(observers), network_(network), node_deaths_(options.deaths),
        matching_(std::move(matching)), waits_(graphs.ranks()),
        stride_(static_cast<std::size_t>(graphs.cpus() + graphs.nics())),
        servers_(stride_ * static_cast<std::size_t>(graphs.ranks())) {
    outcome_.end.resize(static_cast<std::size_t>(graphs.ranks()));
    if (!node_deaths_.empty()) plan_deaths();
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
    arrives(under_way_[id], now_ + software_.after_arrival(of(under_way_[id]).size));
  }
  void sent(std::uint32_t id, Time now) {
    now_ = now;
    const UnderWay message = under_way_[id]; // which a message that is submitted may move
    sent(message);
  }
  // After the last event, without the traffic.
  Result<GraphOutcome> finish() {
    const bool mortal = outcome_.ends.has_value();
    if (mortal) outcome_.aftermath = goal::aftermath_of(graphs_, deaths_, *outcome_.ends, waits_for_receive_);
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
  Result<GraphOutcome> run() {
    begin(0);
    while (!events_.empty() || network_.next() != never) {
      if (due() <= network_.next()) {
        happen();
        continue;
      }
      const Time now = network_.next();
      network_.advance();
      for (const std::uint32_t id : network_.delivered()) delivered(id, now);
      for (const std::uint32_t id : network_.sent()) sent(id, now);
    }
    GraphOutcome outcome = TRY(finish());
    outcome.traffic = network_.traffic();
    return outcome;
  }

 private:
  // matched: of a send whose receive is posted. next: of what waits for the operation's server. die: the rank is a
  // node.
  enum class Step : std::uint8_t { start, matched, next, hand_over, arrive, die };
  struct Event {
    Time time = 0;
    std::uint64_t order = 0; // of equal times the lower one is first
    std::int32_t rank = 0, sender = 0;
    std::uint32_t operation = 0; // of `rank`; of an arrival: the send
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
  Server& server(std::int32_t rank, const goal::Operation& of) {
    const std::size_t at = of.kind == Kind::calc ? of.cpu : static_cast<std::size_t>(graphs_.cpus()) + of.nic;
    return servers_[stride_ * static_cast<std::size_t>(rank) + at];
  }
  void tell(std::int32_t rank, std::int32_t peer, std::uint32_t i, Kind kind, std::uint8_t server, Time end) {
    for (goal::Observer* each : observers_) each->busy({rank, peer, i, kind, server, now_, end, 0});
  }
  void push(Time time, std::int32_t rank, std::uint32_t i, Step step, std::int32_t sender = 0) {
    events_.push({time, order_++, rank, sender, i, step});
  }

  // Deaths are the first events of their times. Of `die` the rank is a node.
  void plan_deaths() {
    outcome_.ends.emplace(graphs_);
    deaths_.resize(static_cast<std::size_t>(graphs_.ranks()), goal::never);
    for (const NodeDeath& death : node_deaths_) {
      push(death.time, death.node, 0, Step::die);
      for (std::size_t rank = 0; rank < nodes_.size(); ++rank)
        if (nodes_[rank] == death.node) deaths_[rank] = std::min(deaths_[rank], death.time);
    }
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
    const Graph& graph = graphs_.of(rank);
    for (std::uint32_t d = first; d < first + count; ++d)
      if (const auto ready = waits_.one_less(rank, graph, graph.dependents[d], time))
        release(rank, graph.dependents[d], *ready);
  }

  void happen(const Event& event) {
    if (event.step == Step::die) return network_.stop(now_, event.rank);
    if (is_dead(event.rank, now_)) return;
    const goal::Operation& of = operation(event.step == Step::arrive ? event.sender : event.rank, event.operation);
    switch (event.step) {
    case Step::start: return start(event, of);
    case Step::matched: return wait_for_server(event, of);
    case Step::next: return start_next(event.rank, server(event.rank, of));
    case Step::hand_over: return hand_over(event, of);
    case Step::arrive: return arrive(event, of);
    case Step::die: return;
    }
  }

  void start(const Event& event, const goal::Operation& of) {
    if (of.kind == Kind::receive) return receive(event, of);
    if (waits_for_receive_ && of.kind == Kind::send) {
      const goal::Envelope envelope{graphs_.peer(event.rank, of.peer), event.rank, of.tag};
      const auto found = matching_.match(envelope, event.operation, true);
      if (!found) return;
      receive_of_[key_of(event.rank, event.operation)] = found->operation;
    }
    wait_for_server(event, of);
  }
  void wait_for_server(const Event& event, const goal::Operation& of) {
    Server& by = server(event.rank, of);
    if (by.waiting.empty() && by.free <= now_) return serve(event.rank, event.operation, by);
    by.waiting.push_back(event.operation);
    if (by.waiting.size() == 1) push(by.free, event.rank, event.operation, Step::next);
  }
  void start_next(std::int32_t rank, Server& by) {
    const std::uint32_t operation = by.waiting.front();
    by.waiting.pop_front();
    serve(rank, operation, by);
    if (!by.waiting.empty()) push(by.free, rank, by.waiting.front(), Step::next);
  }
  void serve(std::int32_t rank, std::uint32_t i, Server& by) {
    const goal::Operation& of = operation(rank, i);
    const bool is_calc = of.kind == Kind::calc;
    by.free = now_ + (is_calc ? of.size : software_.send);
    dependents(rank, of.first + of.after_end, of.after_start, now_);
    tell(rank, is_calc ? rank : graphs_.peer(rank, of.peer), i, of.kind, is_calc ? of.cpu : of.nic, by.free);
    if (is_calc) return end(rank, i, by.free);
    push(by.free, rank, i, Step::hand_over);
  }

  void receive(const Event& event, const goal::Operation& of) {
    dependents(event.rank, of.first + of.after_end, of.after_start, now_);
    const std::int32_t sender = graphs_.peer(event.rank, of.peer);
    const auto found = matching_.match({event.rank, sender, of.tag}, event.operation, false);
    if (!found) return;
    if (!waits_for_receive_) return end(event.rank, event.operation, now_);
    const std::int32_t from = found->envelope.sender;
    receive_of_[key_of(from, found->operation)] = event.operation;
    push(now_, from, found->operation, Step::matched);
  }

  void hand_over(const Event& event, const goal::Operation& of) {
    const std::int32_t peer = graphs_.peer(event.rank, of.peer);
    const std::int32_t from = nodes_[static_cast<std::size_t>(event.rank)], to = nodes_[static_cast<std::size_t>(peer)];
    if (from == to) {
      const Time done = now_ + copies_.time(of.size);
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
    const std::int32_t from = nodes_[static_cast<std::size_t>(rank)],
                       to = nodes_[static_cast<std::size_t>(graphs_.peer(rank, of.peer))];
    channel.busy = true;
    const std::uint32_t id = network_.submit(now_, {from, to, of.size, now_, of.gap * software_.packet / 1000});
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
  void arrives(const UnderWay& message, Time time) {
    const goal::Operation& send = of(message);
    const std::int32_t receiver = graphs_.peer(message.sender, send.peer);
    tell(receiver, message.sender, message.send, Kind::receive, send.nic, time);
    push(time, receiver, message.send, Step::arrive, message.sender);
  }
  void arrive(const Event& event, const goal::Operation& of) {
    if (waits_for_receive_) {
      const auto at = receive_of_.find(key_of(event.sender, event.operation));
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

  const bool waits_for_receive_;
  const goal::Graphs& graphs_;
  std::span<const std::int32_t> nodes_;
  const Software software_;
  const LocalCopies& copies_;
  Observers observers_;
  Net& network_;
  std::span<const NodeDeath> node_deaths_;
  goal::Deaths deaths_; // by rank; empty: none
  Matching matching_;
  goal::Waits waits_;
  std::size_t stride_;
  std::vector<Server> servers_; // by rank: processors, then interfaces
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::vector<UnderWay> under_way_; // by the network's name of the message
  std::unordered_map<std::uint64_t, Channel> channels_;
  std::unordered_map<std::uint64_t, std::uint32_t> receive_of_; // by a send that waited for it, which is under way
  Time now_ = 0;
  std::uint64_t order_ = 0, wanted_ = 0;
  GraphOutcome outcome_;
};

// Graphs among other clients of a network. The job watched runs once, a recorded one again and again.
class GraphClient : public Client {
 public:
  virtual void begin(Time start) = 0;
  const std::optional<Time>& first_end() const { return first_end_; } // of the first run
  GraphOutcome& outcome() { return outcome_; }                        // of the last run that has ended

 protected:
  std::optional<Time> first_end_;
  GraphOutcome outcome_;
};

template <class Port, class Matching>
class GraphClientWith final : public GraphClient {
 public:
  GraphClientWith(const goal::Graphs& graphs, std::span<const std::int32_t> nodes, const Software& software,
                  const LocalCopies& copies, Port port, const Options& options, bool again)
      : graphs_(graphs), nodes_(nodes), software_(software), copies_(copies), port_(port), options_(options),
        again_(again) {}

  void begin(Time start) override {
    hosts_.emplace(graphs_, nodes_, software_, copies_, port_, Matching(graphs_.ranks()), options_);
    hosts_->begin(start);
  }
  Time due() const override { return hosts_ ? hosts_->due() : never; }
  void happen() override { hosts_->happen(); }
  void delivered(std::uint32_t message, Time now) override { hosts_->delivered(message, now); }
  void sent(std::uint32_t message, Time now) override { hosts_->sent(message, now); }
  Status ended() override {
    if (!again_ && first_end_) return Nothing{};
    const Time now = hosts_->now();
    Result<GraphOutcome> found = hosts_->finish();
    if (!found) return again_ ? located("a recorded background job", found.error()) : found.error();
    outcome_ = *std::move(found);
    const Time end = std::max(now, outcome_.start + outcome_.last);
    if (!first_end_) first_end_ = end;
    if (!again_) return Nothing{};
    if (end == outcome_.start) return wrong_value("a recorded background job must take time", "0 s");
    ++port_.use().runs;
    begin(end);
    return Nothing{};
  }

 private:
  const goal::Graphs& graphs_;
  std::span<const std::int32_t> nodes_;
  const Software& software_;
  const LocalCopies& copies_;
  Port port_;
  const Options& options_;
  bool again_;
  std::optional<Hosts<Port, Matching>> hosts_;
};

// A network with the job watched, client 0, and background jobs, clients 1, 2, ...
template <class Net>
class WatchedRun {
 public:
  WatchedRun(const goal::Graphs& graphs, std::span<const std::int32_t> nodes, const Background& background,
             const Fabric& fabric, const Software& software, const LocalCopies& copies, Net& network,
             const Options& options)
      : background_(background), fabric_(fabric), software_(software), copies_(copies), network_(network),
        shared_(network), watched_(client_of(graphs, nodes, 0, options, false)) {
    shared_.add(*watched_);
    for (std::uint32_t j = 0; j < background.jobs.size(); ++j) {
      const BackgroundJob& job = background.jobs[j];
      if (job.recorded) {
        recorded_.push_back({client_of(*job.recorded, job.nodes, j + 1, of_recorded_, true), j});
        shared_.add(*recorded_.back().client);
      } else {
        sources_.push_back(std::make_unique<Senders>(job, j, fabric, background.most_waiting, shared_.port(j + 1)));
        shared_.add(*sources_.back());
      }
    }
  }

  Result<GraphOutcome> run() {
    for (const Recorded& each : recorded_) each.client->begin(0);
    for (std::uint32_t client = 1; client <= background_.jobs.size(); ++client)
      if (Status s = shared_.look_at(client); !s) return s.error();
    std::optional<Time> start;
    for (bool counts = false; !watched_->first_end();) {
      if (!start && (start = start_time())) {
        watched_->begin(*start);
        if (Status s = shared_.look_at(0); !s) return s.error();
        continue;
      }
      if (start && !counts && shared_.next() >= *start) {
        shared_.reset_uses();
        counts = true;
      }
      if (Status s = shared_.step(); !s) return s.error();
    }
    GraphOutcome outcome = std::move(watched_->outcome());
    outcome.traffic = network_.traffic();
    outcome.background.assign(shared_.uses().begin() + 1, shared_.uses().end());
    return outcome;
  }

 private:
  using Port = typename SharedNetwork<Net>::Port;
  using Senders = SourceClient<Port>;
  struct Recorded {
    std::unique_ptr<GraphClient> client;
    std::uint32_t job = 0;
  };

  std::unique_ptr<GraphClient> client_of(const goal::Graphs& graphs, std::span<const std::int32_t> nodes,
                                         std::uint32_t client, const Options& options, bool again) {
    const Port port = shared_.port(client);
    if (graphs.has_wildcards())
      return std::make_unique<GraphClientWith<Port, goal::ListMatching>>(graphs, nodes, software_, copies_, port,
                                                                         options, again);
    return std::make_unique<GraphClientWith<Port, goal::NearMatching>>(graphs, nodes, software_, copies_, port, options,
                                                                       again);
  }

  // When the job watched starts, once that is known.
  std::optional<Time> start_time() const {
    if (background_.warm_up) return background_.warm_up;
    Time latest = warm_up_of(background_, fabric_);
    for (const Recorded& each : recorded_) {
      const std::optional<Time>& first = each.client->first_end();
      if (!first) return std::nullopt;
      latest = std::max(latest, *first + phase_of(background_.jobs[each.job], each.job, *first));
    }
    return latest;
  }

  const Options of_recorded_; // whose sends wait for no receives
  const Background& background_;
  const Fabric& fabric_;
  const Software& software_;
  const LocalCopies& copies_;
  Net& network_;
  SharedNetwork<Net> shared_;
  std::unique_ptr<GraphClient> watched_;
  std::vector<Recorded> recorded_;
  std::vector<std::unique_ptr<Senders>> sources_;
};
// For ranks that are all on one node.
struct NoNetwork {
  Time next() const { return never; }
  void advance() {}
  std::uint32_t submit(Time, const Message&) { return 0; }
  void stop(Time, std::int32_t) {}
  std::span<const std::uint32_t> sent() const { return {}; }
  std::span<const std::uint32_t> delivered() const { return {}; }
  Traffic traffic() const { return {}; }
};

template <class Net>
Result<GraphOutcome> run_on(Net& network, const goal::Graphs& graphs, std::span<const std::int32_t> nodes,
                            const Software& software, const LocalCopies& copies, const Options& options,
                            Observers observers) {
  const auto with = [&](auto matching) {
    return Hosts(graphs, nodes, software, copies, network, std::move(matching), options, observers).run();
  };
  return graphs.has_wildcards() ? with(goal::ListMatching(graphs.ranks())) : with(goal::NearMatching(graphs.ranks()));
}

Result<GraphOutcome> run_any(const Machine& machine, const goal::Graphs& graphs, std::span<const std::int32_t> nodes,
                             const Background& background, const Options& options, Observers observers) {
  const Fabric fabric = TRY(Fabric::make(machine, options));
  if (nodes.size() != static_cast<std::size_t>(graphs.ranks()))
    return wrong_value(fmt::format("the nodes of {} ranks must be as many numbers", graphs.ranks()), nodes.size());
  for (const std::int32_t node : nodes)
    if (node < 0 || node >= machine.topology->nodes())
      return wrong_value(fmt::format("ranks must be on nodes 0 to {}", machine.topology->nodes() - 1), node);
  for (const NodeDeath& death : options.deaths)
    if (death.node < 0 || death.node >= machine.topology->nodes())
      return wrong_value(fmt::format("a node that dies must be one of 0 to {}", machine.topology->nodes() - 1),
                         death.node);
  if (Status s = check(background, nodes, machine.topology->nodes()); !s) return s.error();
  if (!background.jobs.empty() && !options.deaths.empty())
    return not_applicable("nodes die only on a machine without background jobs", {}, "leave one of them out");
  const auto picoseconds = [](Seconds s) { return static_cast<Time>(std::llround(s.value * 1e12)); };
  Software software;
  software.send = picoseconds(machine.software.message_cost.value);
  software.receive = picoseconds(machine.software.relay_latency.value);
  if (machine.software.eager_bytes)
    software.eager = static_cast<std::uint64_t>(machine.software.eager_bytes->value.value);
  if (machine.software.rendezvous_latency)
    software.rendezvous = picoseconds(machine.software.rendezvous_latency->value);
  const auto fastest = std::min_element(fabric.speeds.begin(), fabric.speeds.end(),
                                        [](const Speed& a, const Speed& b) { return a.femtoseconds < b.femtoseconds; });
  software.packet =
      time_of(static_cast<std::uint64_t>(options.packet_bytes + options.header_bytes), fastest->femtoseconds);
  const LocalCopies copies(machine);
  return with_network(fabric, options, [&](auto& network) -> Result<GraphOutcome> {
    if (!background.jobs.empty())
      return WatchedRun(graphs, nodes, background, fabric, software, copies, network, options).run();
    return run_on(network, graphs, nodes, software, copies, options, observers);
  });
}

} // namespace

Result<GraphOutcome> run(const Machine& machine, const goal::Graphs& graphs, std::span<const std::int32_t> nodes,
                         const Options& options, Observers observers) {
  return run_any(machine, graphs, nodes, {}, options, observers);
}

Result<GraphOutcome> run(const Machine& machine, const goal::Graphs& graphs, std::span<const std::int32_t> nodes,
                         const Background& background, const Options& options) {
  return run_any(machine, graphs, nodes, background, options, {});
}

Result<GraphOutcome> run_ideal(const goal::Graphs& graphs, Observers observers) {
  NoNetwork network;
  const std::vector<std::int32_t> nodes(static_cast<std::size_t>(graphs.ranks()), 0);
  return run_on(network, graphs, nodes, {}, {}, {}, observers);
}

} // namespace kumihimo::packet
