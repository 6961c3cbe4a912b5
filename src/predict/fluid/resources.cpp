#include "fluid/resources.hpp"

#include "fluid/peers.hpp"
#include "program/computing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace kumihimo::simulation {
namespace {

// Bytes through the memory for each byte of the result.
constexpr std::int32_t copy_traffic = 2, sum_traffic = 3;

// The two ends of a message take shared processors as long as one link. On a testbed of 27 nodes they took 1.4 times
// that: alltoall by routes of 2.1 links reached 1.4 times the bytes on links that neighbours did.
constexpr std::int32_t as_much_as_links = 1;

// Nodes that a node exchanges long messages with before the limit on exchanges is left out for others. An exchange of
// long messages with more of them is one of many in flight, which other resources limit.
constexpr std::int32_t most_partners = 64;

Result<Placement> placed(const Job& job, std::int32_t ranks, const std::optional<Placement>& wanted) {
  const Slots& slots = job.slots;
  if (ranks > slots.size())
    return wrong_value(
        fmt::format("{} nodes of {} hold at most {} ranks", slots.nodes(), job.machine.name, slots.size()), ranks,
        "give a larger --shape or more --ranks-per-node");
  if (!wanted) return Placement::block(slots, ranks);
  if (wanted->slots() != slots)
    return wrong_value(fmt::format("the placement must be for a job of {} slots", slots.size()),
                       fmt::format("{} slots", wanted->slots().size()));
  if (wanted->ranks() != ranks)
    return wrong_value(fmt::format("the placement needs a slot for each of {} ranks", ranks), wanted->ranks());
  return *wanted;
}

} // namespace

Result<NetworkPaths> NetworkPaths::make(const Job& job, std::int32_t ranks, const std::optional<Placement>& placement,
                                        bool scalar_reduction, double rank_bytes) {
  const Machine& machine = job.machine;
  if (machine.whole_machine_error)
    return wrong_value(machine.whole_machine_error->problem, {}, "give a part of the machine by --shape or --box");
  const auto seats = TRY(placed(job, ranks, placement));
  NetworkPaths n;
  n.machine_ = &machine;
  for (std::int32_t r = 0; r < ranks; ++r) n.node_.push_back(seats.node(Rank{r}).value);
  n.leaves_node_ = std::any_of(n.node_.begin(), n.node_.end(), [&](std::int32_t v) { return v != n.node_.front(); });
  for (std::int32_t r = 0; r < ranks && !job.levels().empty(); ++r) n.slot_.push_back(seats.slot(Rank{r}).number);
  const std::int64_t links = machine.topology->link_bound(), nodes = machine.topology->nodes();
  const std::int64_t pairs = machine.network.exchange_bandwidth ? nodes * most_partners : 0;
  if (links + 5 * nodes + 3 * std::int64_t{ranks} + pairs + 2 > std::numeric_limits<Resource>::max())
    return wrong_value("the network has at most 2^31 links, nodes, ranks and pairs of nodes together",
                       fmt::format("{} links and {} pairs", links, pairs));
  n.nodes_ = static_cast<std::int32_t>(nodes);
  n.link_bound_ = static_cast<std::int32_t>(links);
  n.first_sender_ = n.link_bound_;
  n.first_receiver_ = n.first_sender_ + n.nodes_;
  n.first_memory_ = n.first_receiver_ + n.nodes_;
  n.first_reducer_ = n.first_memory_ + n.nodes_;
  n.first_engine_ = n.first_reducer_ + ranks;

  const NetworkNumbers& net = machine.network;
  n.engine_ = net.engine_bandwidth.value.value;
  n.message_cost_ = machine.software.message_cost.value.value;
  n.relay_latency_ = machine.software.relay_latency.value.value;
  n.hop_latency_ = net.hop_latency.value.value;
  if (machine.software.eager_bytes) {
    n.eager_bytes_ = static_cast<double>(machine.software.eager_bytes->value.value);
    n.rendezvous_latency_ = machine.software.rendezvous_latency->value.value;
  }
  if (machine.software.eager_peers)
    n.eager_bytes_beyond_ =
        std::min(n.eager_bytes_, static_cast<double>(machine.software.eager_bytes_beyond->value.value));
  const auto value_or = [](const auto& number, double otherwise) { return number ? number->value.value : otherwise; };
  n.reduction_cost_ = value_or(machine.node.reduction_cost, 0);
  n.receive_cost_ = value_or(machine.software.receive_cost, 0);
  n.copy_seconds_ = 1 / value_or(machine.software.eager_copy_rate, infinity_);
  n.lane_rate_ = value_or(machine.software.lane_bandwidth, infinity_);
  if (machine.software.short_put_bytes) {
    n.short_put_bytes_ = static_cast<double>(machine.software.short_put_bytes->value.value);
    n.short_put_latency_ = machine.software.short_put_latency->value.value;
  }
  if (machine.software.inline_bytes) {
    n.inline_bytes_ = static_cast<double>(machine.software.inline_bytes->value.value);
    n.fetch_latency_ = machine.software.fetch_latency->value.value;
  }
  n.put_latency_ = value_or(machine.software.put_latency, n.receive_cost_);
  n.put_sum_latency_ = value_or(machine.software.put_sum_latency, 0);
  n.puts_ = machine.software.put_setup.has_value();

  if (const auto& bytes = machine.software.unexpected_bytes) // what has a rendezvous waits for its receiver
    n.early_bytes_ = std::min(static_cast<double>(bytes->value.value), n.eager_bytes_);
  if (machine.node.cached_bytes) {
    n.cached_bytes_ = static_cast<double>(machine.node.cached_bytes->value.value);
    n.uncached_ = machine.node.reduction_rate.value.value / machine.node.reduction_rate_uncached->value.value;
  }
  if (net.exchange_bandwidth) {
    n.exchange_ = net.exchange_bandwidth->value.value;
    n.exchange_bytes_ = static_cast<double>(net.exchange_bytes->value.value);
  }

  const double pool = std::min(static_cast<double>(net.engines.value) * n.engine_, net.injection_bandwidth.value.value);
  const double memory = machine.node.memory_bandwidth.value.value;
  const double reduce =
      (scalar_reduction ? machine.node.reduction_rate_scalar : machine.node.reduction_rate).value.value;
  n.ranks_on_.assign(static_cast<std::size_t>(nodes), 0);
  for (const std::int32_t node : n.node_) ++n.ranks_on_[node];
  n.cores_ = machine.node.cores.value;
  n.factor_.assign(static_cast<std::size_t>(nodes), 1.0);
  for (const SlowNode& slow : machine.slow_nodes) n.factor_[slow.node.value] *= slow.factor;
  n.capacity_.assign(static_cast<std::size_t>(n.first_engine_), net.link_bandwidth.value.value);
  if (std::any_of(net.classes.begin(), net.classes.end(), [](const LinkClass& c) { return c.bandwidth.has_value(); }))
    for (std::int64_t link = 0; link < links; ++link)
      n.capacity_[link] = machine.link_bandwidth(machine.topology->link_class(LinkId{link})).value;
  if (std::any_of(net.classes.begin(), net.classes.end(), [](const LinkClass& c) { return c.latency.has_value(); }))
    for (std::size_t c = 0; c < net.classes.size(); ++c)
      n.hop_latencies_.push_back(machine.hop_latency(static_cast<std::int32_t>(c)).value);
  for (const SlowLink& slow : machine.slow_links) n.capacity_[slow.link.value] *= slow.factor;
  for (std::int32_t v = 0; v < n.nodes_; ++v) {
    n.capacity_[n.first_sender_ + v] = n.capacity_[n.first_receiver_ + v] = pool * n.factor_[v];
    n.capacity_[n.first_memory_ + v] = memory * n.factor_[v];
  }
  for (std::int32_t r = 0; r < ranks; ++r) n.capacity_[n.reducer(r)] = reduce * n.factor_[n.node_[r]];
  if (n.lane_rate_ < infinity_)
    for (std::int32_t r = 0; r < ranks; ++r) n.capacity_.push_back(n.lane_rate_ * n.factor_[n.node_[r]]);
  if (machine.node.copies) n.add_copies(rank_bytes, scalar_reduction);
  n.add_levels(job);
  if (net.burst_bytes) n.burst_ = static_cast<double>(net.burst_bytes->value.value);
  if (machine.software.processors) {
    n.processor_time_ = machine.software.processor_time->value.value;
    n.processors_ = static_cast<Resource>(n.capacity_.size());
    n.capacity_.push_back(static_cast<double>(machine.software.processors->value));
  }
  if (net.total_bandwidth) {
    n.all_links_ = static_cast<Resource>(n.capacity_.size());
    n.capacity_.push_back(net.total_bandwidth->value.value * (1 + as_much_as_links));
  }
  if (n.limits_exchanges()) {
    n.first_pair_ = static_cast<Resource>(n.capacity_.size());
    n.partners_.resize(static_cast<std::size_t>(nodes));
    n.capacity_.resize(n.capacity_.size() + static_cast<std::size_t>(nodes) * most_partners, n.exchange_);
  }
  return n;
}

namespace {

// How much of data of so many bytes misses a cache, read again and again: none if all fit. Of data just above its size
// a part stays, since most accesses are not in one order.
double missing(double bytes, double cache) { return std::clamp(bytes / cache - 1, 0.0, 1.0); }

} // namespace

// By node, since nodes may have different numbers of ranks. The memory's bandwidth counts for what misses all caches.
void NetworkPaths::add_copies(double rank_bytes, bool scalar_reduction) {
  const NodeNumbers& node = machine_->node;
  const NodeCopies& copies = *node.copies;
  const auto ranks = static_cast<Resource>(node_.size());
  short_rate_ = copies.copy_short.value.value;
  slot_bytes_ = static_cast<double>(copies.slot.value.value);
  streamed_bytes_ = static_cast<double>(copies.streamed_bytes.value.value);
  streamed_latency_ = copies.streamed_latency.value.value;
  copy_cost_ = copies.send_cost.value.value, switch_ = copies.processor_switch.value.value;
  first_copier_ = static_cast<Resource>(capacity_.size());
  first_copying_ = first_copier_ + ranks, first_summing_ = first_copying_ + nodes_;
  capacity_.resize(static_cast<std::size_t>(first_summing_ + nodes_), 0);
  for (std::int32_t v = 0; v < nodes_; ++v) {
    // A half more than the buffers: the slots, and what else the program touches between two calls.
    const double touched = 1.5 * rank_bytes, turns = std::max(1.0, turns_on(v));
    const double beyond_core = missing(touched * turns, static_cast<double>(copies.core_cache.value.value));
    double beyond_all = 1;
    if (node.last_level_cache)
      beyond_all = missing(touched * ranks_on_[v], static_cast<double>(node.last_level_cache->value.value));
    const auto seconds = [&](const auto& core, const auto& last_level, const auto& memory) {
      const double farther = beyond_core * beyond_all;
      return ((1 - beyond_core) / core.value.value + (beyond_core - farther) / last_level.value.value +
              farther / memory.value.value) /
             factor_[v];
    };
    const double copied = 1 / seconds(copies.copy_core, copies.copy_last_level, copies.copy_memory);
    double summed = 1 / seconds(copies.sum_core, copies.sum_last_level, copies.sum_memory);
    if (scalar_reduction) summed = std::min(summed, factor_[v] * node.reduction_rate_scalar.value.value);
    copying_.push_back({copied, 1 / seconds(copies.stream_core, copies.stream_last_level, copies.stream_memory)});
    capacity_[first_copying_ + v] = static_cast<double>(cores_) * copied;
    capacity_[first_summing_ + v] = static_cast<double>(cores_) * summed;
    constexpr double hardly_any = 1e-9;
    capacity_[first_memory_ + v] /= std::max(hardly_any, beyond_core * beyond_all);
  }
  for (Resource r = 0; r < ranks; ++r) {
    capacity_[copier(r)] = copying_[node_[r]].copied;
    capacity_[reducer(r)] = capacity_[summing(r)] / static_cast<double>(cores_);
  }
}

// Between ranks of a node with numbers of copies.
Path NetworkPaths::path_of_copies(std::int32_t node, double bytes, bool summed, double latency) const {
  latency += turn_seconds(node);
  if (bytes < streamed_bytes_) return {short_rate_ * factor_[node] / (summed ? 1 : 2), copy_cost_, latency};
  const auto& [copied, streamed] = copying_[node];
  const double whole = std::min(bytes, slot_bytes_);
  const double seconds = summed ? bytes / copied : 2 * whole / copied + (bytes - whole) / streamed;
  return {bytes / seconds, copy_cost_, latency + streamed_latency_};
}

// A slow node's links are as slow as its memory.
void NetworkPaths::add_levels(const Job& job) {
  const NodeNumbers& node = job.machine.node;
  within_.push_back({0, node.shared_memory_bandwidth.value.value, node.shared_memory_latency.value.value});
  const std::vector<Level>& levels = job.levels();
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const LevelNumbers& numbers = node.levels[i];
    LevelLinks inner{levels[i].size, within_.back().rate, within_.back().latency};
    if (numbers.bandwidth) inner.rate = numbers.bandwidth->value.value;
    if (numbers.latency) inner.latency = numbers.latency->value.value;
    if (numbers.link_bandwidth) {
      const std::int32_t groups = (job.slots.size() + inner.size - 1) / inner.size;
      inner.first_leaving = static_cast<Resource>(capacity_.size());
      inner.first_entering = inner.first_leaving + groups;
      capacity_.resize(capacity_.size() + 2 * static_cast<std::size_t>(groups),
                       numbers.link_bandwidth->value.value * factor_.front());
    }
    within_.push_back(inner);
  }
}

const NetworkPaths::LevelLinks& NetworkPaths::between(std::int32_t from, std::int32_t to) const {
  std::size_t shared = 0;
  while (shared + 1 < within_.size() && group(from, within_[shared + 1]) == group(to, within_[shared + 1])) ++shared;
  return within_[shared];
}

// Some message on the way leaves the innermost group that both share, or joins two of its parts.
double NetworkPaths::least_latency_within_node(std::int32_t from, std::int32_t to) const {
  double least = std::numeric_limits<double>::infinity();
  for (const LevelLinks* level = &within_.front(); level <= &between(from, to); ++level)
    least = std::min(least, level->latency);
  return least;
}

bool NetworkPaths::is_eager(const Transfer& t) const {
  const bool put = t.lanes != Lanes::single && puts_;
  return has_eager() && !put && node_[t.from] != node_[t.to] && is_copied(t);
}

bool NetworkPaths::has_many_peers(const Program& program) const {
  const auto& most = machine_->software.eager_peers;
  return most && peers_of(program) > most->value;
}

Path NetworkPaths::append_path(const Transfer& transfer, std::vector<Resource>& resources) const {
  const auto& [from, to, bytes, lanes, many_peers, summed] = transfer;
  const std::int32_t a = node_[from], b = node_[to];
  if (a == b) {
    append_copy(from, resources);
    if (has_copies() && !summed) { // the receiver's copy
      resources.push_back(copier(to));
      if (shares_processors(a)) resources.push_back(copying(to));
    }
    const LevelLinks& shared = between(from, to);
    for (auto apart = static_cast<std::size_t>(&shared - within_.data()) + 1; apart < within_.size(); ++apart) {
      const LevelLinks& level = within_[apart];
      if (level.first_leaving < 0) continue;
      resources.push_back(level.first_leaving + group(from, level));
      resources.push_back(level.first_entering + group(to, level));
    }
    if (!has_copies()) return {shared.rate * factor_[a], 0, shared.latency};
    return path_of_copies(a, bytes, summed, shared.latency);
  }
  route_.clear();
  machine_->topology->append_route(NodeId{a}, NodeId{b}, route_);
  const Topology& topology = *machine_->topology;
  double limit = engine_ * std::min(factor_[a], factor_[b]);
  double latency = hop_latencies_.empty() ? static_cast<double>(route_.size()) * hop_latency_ : 0;
  for (const LinkId link : route_) {
    const auto r = static_cast<Resource>(link.value);
    limit = std::min(limit, capacity_[r]);
    if (!hop_latencies_.empty()) latency += hop_latencies_[static_cast<std::size_t>(topology.link_class(link))];
    if (topology.is_shared(link)) resources.push_back(r);
  }
  if (limits_all_links()) resources.insert(resources.end(), route_.size() + as_much_as_links, all_links_);
  resources.push_back(first_sender_ + a);
  resources.push_back(first_receiver_ + b);
  if (limits_exchanges() && bytes > exchange_bytes_) append_exchange(std::min(a, b), std::max(a, b), resources);
  Path path{limit, message_cost_, latency + relay_latency_};
  if (lanes == Lanes::single && lane_rate_ < infinity_) {
    path.limit = std::min(limit, lane_rate_ * factor_[b]);
    resources.push_back(first_engine_ + to);
  }
  if (lanes != Lanes::single && puts_) {
    path.latency += put_latency_ + (lanes == Lanes::summing ? put_sum_latency_ : 0);
    if (bytes <= short_put_bytes_) path.latency += short_put_latency_;
    return path;
  }
  if (bytes > inline_bytes_) path.latency += fetch_latency_;
  const bool copied = is_copied(transfer);
  const double copy = copied ? bytes * copy_seconds_ : 0;
  path.eager = is_eager(transfer);
  path.cost += copy, path.taking = receive_cost_ + (copied ? copy : rendezvous_latency_);
  return path;
}

double NetworkPaths::setup_seconds(Lanes lanes, std::size_t phase, double bytes) const {
  if (lanes == Lanes::single || !puts_ || !leaves_node_) return 0;
  const SoftwareNumbers& software = machine_->software;
  double seconds = software.put_setup->value.value;
  if (software.put_turn_latency && phase > 0) seconds += software.put_turn_latency->value.value;
  if (software.register_bytes && phase == 0 && bytes > static_cast<double>(software.register_bytes->value.value))
    seconds += software.register_latency->value.value;
  return seconds;
}

// Pairs get their resources as they first exchange something.
void NetworkPaths::append_exchange(std::int32_t a, std::int32_t b, std::vector<Resource>& resources) const {
  std::vector<std::int32_t>& partners = partners_[static_cast<std::size_t>(a)];
  const auto at = static_cast<std::int32_t>(std::find(partners.begin(), partners.end(), b) - partners.begin());
  if (at == most_partners) return;
  if (at == static_cast<std::int32_t>(partners.size())) partners.push_back(b);
  resources.push_back(first_pair_ + a * most_partners + at);
}

void NetworkPaths::append_copy(std::int32_t rank, std::vector<Resource>& resources) const {
  resources.insert(resources.end(), copy_traffic, memory(rank));
  if (!has_copies()) return;
  resources.push_back(copier(rank));
  if (shares_processors(node_[rank])) resources.push_back(copying(rank));
}

void NetworkPaths::append_sum(std::int32_t rank, std::vector<Resource>& resources) const {
  resources.push_back(reducer(rank));
  resources.insert(resources.end(), sum_traffic, memory(rank));
  if (shares_processors(node_[rank])) resources.push_back(summing(rank));
}

double NetworkPaths::longest_turn() const {
  double longest = 0;
  for (std::int32_t v = 0; v < nodes_; ++v) longest = std::max(longest, turn_seconds(v));
  return longest;
}

double NetworkPaths::sum_rate(std::int32_t rank, std::int32_t here, std::int32_t on_node, double bytes) const {
  const double thread = reduction_rate(rank) / slowdown(bytes);
  const double alone = std::min(thread / here, capacity_[memory(rank)] / (sum_traffic * on_node));
  return shares_processors(node_[rank]) ? std::min(alone, capacity_[summing(rank)] / on_node) : alone;
}

bool NetworkPaths::offloads(DataType type, std::optional<Operation> operation) const {
  if (!machine_->offload) return false;
  if (!operation) return true;
  if (type == DataType::opaque || operation == Operation::user) return false;
  const auto& known = is_floating(type) ? machine_->offload->float_operations : machine_->offload->integer_operations;
  return !known || known->value.contains(*operation);
}

double NetworkPaths::seconds_of(const Work& work, std::int32_t rank) const {
  const NodeNumbers& numbers = machine_->node;
  const std::int32_t node = node_[rank];
  const double share = factor_[node] / ranks_on_[node];
  const double flops = numbers.flop_rate ? numbers.flop_rate->value.value : 0;
  return seconds_at({flops * share, numbers.memory_bandwidth.value.value * share}, work);
}

Status NetworkPaths::can_compute(const Work& work) const {
  if (work.flops <= 0 || machine_->node.flop_rate) return Nothing{};
  return not_applicable(
      fmt::format("a compute step of {} flops needs node.flop_rate, which {} lacks", work.flops, machine_->name), {},
      "give the time in seconds, or a machine file with that rate");
}

Status NetworkPaths::can_offload(const DataLayout& data, std::optional<std::int64_t> bytes) const {
  if (!bytes) return Nothing{};
  if (!machine_->offload)
    return not_applicable("the schedule offloads to the network, but the machine file has no [offload] section",
                          machine_->name);
  const OffloadNumbers& engine = *machine_->offload;
  if (*bytes > engine.max_bytes.value.value)
    return not_applicable(fmt::format("the offload engine of {} takes at most {} (max_bytes)", machine_->name,
                                      text_of(engine.max_bytes.value)),
                          text_of(Bytes{*bytes}));
  const std::int64_t elements = *bytes / data.type_bytes;
  if (engine.max_elements && elements > engine.max_elements->value)
    return not_applicable(fmt::format("the offload engine of {} takes at most {} elements (max_elements)",
                                      machine_->name, engine.max_elements->value),
                          elements);
  if (*bytes > 0 && !offloads(data.type, data.operation))
    return not_applicable(fmt::format("the offload engine of {} lacks the operation ({}_operations)", machine_->name,
                                      is_floating(data.type) ? "float" : "integer"),
                          fmt::format("{} of {}", kumihimo::name_of(*data.operation), kumihimo::name_of(data.type)));
  return Nothing{};
}

double NetworkPaths::offload_seconds(std::int64_t ranks) const {
  const OffloadNumbers& numbers = *machine_->offload;
  return numbers.base_latency.value.value + numbers.stage_latency.value.value * std::log2(static_cast<double>(ranks));
}

std::string NetworkPaths::name_of(Resource r) const {
  if (r < link_bound_) return "link " + machine_->topology->describe(LinkId{r}).name;
  if (r < first_receiver_) return fmt::format("sending engines of node {}", r - first_sender_);
  if (r < first_memory_) return fmt::format("receiving engines of node {}", r - first_receiver_);
  if (r < first_reducer_) return fmt::format("memory of node {}", r - first_memory_);
  if (has_copies() && r >= first_copier_ && r < first_summing_ + nodes_) {
    if (r < first_copying_) return fmt::format("copies of rank {}", r - first_copier_);
    return r < first_summing_ ? fmt::format("processors of node {}, for copies", r - first_copying_)
                              : fmt::format("processors of node {}, for reductions", r - first_summing_);
  }
  if (r == processors_) return "processors of all nodes";
  if (r == all_links_) return "all links together";
  if (limits_exchanges() && r >= first_pair_) {
    const std::int32_t node = (r - first_pair_) / most_partners;
    const std::int32_t other = partners_[static_cast<std::size_t>(node)][(r - first_pair_) % most_partners];
    return fmt::format("exchange of nodes {} and {}", node, other);
  }
  for (std::size_t i = within_.size() - 1; i > 0; --i) {
    const LevelLinks& level = within_[i];
    if (level.first_leaving < 0 || r < level.first_leaving) continue;
    const bool leaves = r < level.first_entering;
    return fmt::format("links {} {} {}", leaves ? "out of" : "into", machine_->levels[i - 1].name,
                       r - (leaves ? level.first_leaving : level.first_entering));
  }
  if (r >= first_engine_) return fmt::format("receiving engine of rank {}", r - first_engine_);
  return fmt::format("reductions at rank {}", r - first_reducer_);
}

} // namespace kumihimo::simulation
