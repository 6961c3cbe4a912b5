// Each member of a prediction: its name in JSON, its value, and what it means. describe(visit, value) calls
// visit(name, value, meaning) for each; a std::optional is left out where it is empty. visit.part(optional) is for
// members that only some models have.
#pragma once

#include "models/prediction.hpp"
#include "models/schedules.hpp"

#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kumihimo::models {

// A member that is null where there is no value.
template <class T>
struct OrNull {
  std::optional<T> value;
};

template <class T>
std::optional<std::vector<T>> unless_empty(const std::vector<T>& list) {
  return list.empty() ? std::nullopt : std::optional(list);
}

struct ClassShares { // of a class of links
  std::int64_t links = 0;
  std::vector<double> shares;
};
struct BusyShares {
  double bin_seconds = 0;
  std::map<std::string, ClassShares> by_class;
};
// Of predictions on a machine whose file has [prediction_errors]. The commands add them, by classes of algorithms.
struct ErrorInterval {
  double low_seconds = 0, high_seconds = 0, share = 0;
  std::string algorithms, lengths;
  std::int64_t times = 0;
  bool pooled = false, beyond_measured_jobs = false;
};
struct JudgedMembers {
  std::optional<ErrorInterval> interval = ErrorInterval{};
  std::optional<double> fastest_probability = 0;
};
struct ChainLink {
  std::int32_t rank = 0;
  std::uint32_t operation = 0;
};

template <class V>
void describe(V visit, const ClassShares& c) {
  visit("links", c.links, "links of the class");
  visit("shares", c.shares, "by bin of time: busy time over all, 0 to 1");
}

template <class V>
void describe(V visit, const BusyShares& u) {
  visit("bin_seconds", u.bin_seconds, "width of a bin");
  visit("by_class", u.by_class, "classes of links by name");
}

template <class V>
void describe(V visit, const ErrorInterval& i) {
  visit("low_seconds", i.low_seconds, "lower end");
  visit("high_seconds", i.high_seconds, "upper end");
  visit("share", i.share, "of measured times that are expected between both");
  visit("algorithms", i.algorithms, "class of algorithms whose errors it rests on");
  visit("lengths", i.lengths, "class of lengths, the same");
  visit("times", i.times, "measured times that it rests on");
  visit("pooled", i.pooled, "its class has too few times, so it is that of all classes");
  visit("beyond_measured_jobs", i.beyond_measured_jobs, "the job is smaller or larger than those measured");
}

template <class V>
void describe(V visit, const JudgedMembers& m) {
  visit("interval", m.interval, "where measured times are expected, by the machine file's errors of predictions");
  visit("fastest_probability", m.fastest_probability, "that it is the fastest of the results of its length, 0 to 1");
}

template <class V>
void describe(V visit, const ChainLink& c) {
  visit("rank", c.rank, "a rank that waits");
  visit("operation", c.operation, "its operation that waits");
}

template <class V>
void describe(V visit, const LowerBound& b) {
  visit("name", b.name, "latency, bandwidth, injection, bisection, reduction or offload");
  visit("seconds", b.seconds.value, "no schedule is faster");
}

template <class V>
void describe(V visit, const Phase& p) {
  visit("name", p.name, "from the roles of its lanes");
  visit("seconds", p.seconds.value, "from the end of the phase before to its own");
  visit("compute_seconds", p.compute.value, "reductions of the busiest rank");
  visit("compute_share", p.compute_share(), "of the seconds");
  visit("communication_seconds", p.communication().value, "not hidden behind computing");
  visit("period_seconds", p.period.value, "between segments once the pipeline is full; 0 with one segment");
  visit("limiting", p.limiting, "what the time is spent on");
}

template <class V>
void describe(V visit, const Sampled& s) {
  visit("samples", s.samples, "samples of long loops");
  visit("rounds", s.rounds, "rounds of a sample");
  visit("of", s.of, "rounds of the loops");
  visit("seed", s.seed, "of the draw");
  visit("seconds_low", s.low.value, "lower end of the 95 % interval of the mean of such samples");
  visit("seconds_high", s.high.value, "upper end");
  visit("beyond", s.beyond, "part of the time of all rounds by which it may be outside that interval");
  visit("leaves_out", s.leaves_out, "what is between that mean and the time of all rounds");
}

template <class V>
void describe(V visit, const FlowStageReport& s) {
  visit("stage", std::string(name_of(s.stage)), "compile, symmetry, sampling, levels, periods or doubts");
  visit("is_off", s.is_off, "switched off by --without");
  visit("seconds", s.seconds, "of real time");
  visit("what", s.what, "it did");
}

template <class V>
void describe(V visit, const SchedulePrediction& p) {
  visit("compute_seconds", p.compute.value, "reductions of the busiest rank");
  visit("compute_share", p.compute_share(), "of the seconds");
  visit("communication_seconds", p.communication().value, "not hidden behind computing");
  visit("latency_seconds", p.latency.value, "of the first segment on the critical path: hops and software");
  visit("transfer_seconds", p.transfer.value, "of the first segment: bytes");
  visit("reduction_seconds", p.reduction.value, "of the first segment: reductions");
  visit("steady_seconds", p.steady.value, "the other segments at their period");
  visit("phases", p.phases, "phases follow one another");
  visit("links", p.links, "links of the network");
  visit("link_bytes_sum", p.link_bytes_sum, "bytes of all links together");
  visit("link_bytes_max", p.link_bytes_max, "of the link with most");
  visit("links_waiting_share", OrNull<double>{p.sampled ? std::nullopt : std::optional(p.links_waiting_share)},
        "links where messages of different flows were ready at the same time; null of a sample");
  visit("doubtful_sharing", p.doubtful_sharing, "part of the critical path that sharing with others adds in doubt");
  visit("ranks_alike", p.ranks_alike, "ranks that each one walked stands for, by a proved symmetry");
  visit("sampled", OrNull<Sampled>{p.sampled}, "loops too long to be walked");
  visit("stages", unless_empty(p.stages), "of the model flow, on demand");
}

template <class V>
void describe(V visit, const GraphRun& r) {
  visit("last_rank", r.last_rank, "the rank that ends last");
  visit("operations", r.operations, "sends, receives and computations that were completed");
  visit("messages", r.messages, "messages of all ranks");
}

template <class V>
void describe(V visit, const loggp::RankSeconds& r) {
  visit("end_seconds", r.end, "its end");
  visit("computing_seconds", r.computing, "of its processors, without what noise takes");
  visit("overhead_seconds", r.overhead, "of its processors, for messages");
  visit("noise_seconds", r.noise, "taken by noise");
  visit("waiting_seconds", r.waiting, "while none of its processors works");
  visit("operations", r.operations, "sends, receives and computations");
}

template <class V>
void describe(V visit, const loggp::LogGopsParameters& p) {
  constexpr double picosecond = 1e-12, femtosecond = 1e-15;
  visit("L_seconds", static_cast<double>(p.L) * picosecond, "latency");
  visit("o_seconds", static_cast<double>(p.o) * picosecond, "overhead of each send and receive");
  visit("g_seconds", static_cast<double>(p.g) * picosecond, "gap between messages of an interface");
  visit("G_seconds_per_byte", static_cast<double>(p.G) * femtosecond, "gap a byte");
  visit("O_seconds_per_byte", static_cast<double>(p.O) * femtosecond, "overhead a byte");
  visit("S_bytes", p.S, "the longest eager message");
  visit("R_seconds", p.R ? std::optional(static_cast<double>(p.R) * picosecond) : std::nullopt,
        "agreement of both ends of longer messages");
  visit("shared_processors", p.processors ? std::optional(p.processors) : std::nullopt,
        "processors that the ranks share");
}

template <class V>
void describe(V visit, const RankTimes& r) {
  visit("message_bytes", r.message_bytes, "bytes of all messages");
  visit("mean", r.mean, "of a rank on average; operations: of all");
  visit("compute_share", r.compute_share, "computing of the seconds, on average");
  visit("waiting_share", r.waiting_share, "waiting of the seconds, on average");
  visit("cpus", r.cpus, "processors of a rank");
  visit("nics", r.nics, "network interfaces of a rank");
  visit("by_rank", unless_empty(r.by_rank), "each rank");
}

template <class V>
void describe(V visit, const PacketRun& p) {
  BusyShares utilisation{seconds_of(p.traffic.bin), {}};
  for (const packet::LinkClassUse& each : p.traffic.classes)
    utilisation.by_class[each.name] = {each.links, each.utilisation};
  visit("packets", p.traffic.packets, "packets of all messages");
  visit("packet_hops", p.traffic.packet_hops, "links that packets passed");
  visit("links", p.traffic.links, "links of the network");
  visit("links_waiting_share", p.traffic.links_waiting_share(), "links at which a packet waited for another message");
  visit("packets_waiting_share", p.traffic.packets_waiting_share(), "packets that waited so");
  visit("own_packets_waiting_share", p.traffic.own_packets_waiting_share(), "the same of the job watched");
  visit("utilisation", utilisation, "how busy links were");
  visit("routing", std::string(packet::name_of(p.options.routing)), "dimension_order or adaptive");
  visit("packet_bytes", p.options.packet_bytes, "payload of a packet");
  visit("buffer_packets", p.options.buffer_packets, "packets in the buffer of each virtual channel");
  visit("seed", p.options.seed, "of the first turns of arbiters");
}

template <class V>
void describe(V visit, const fluid::ClassUse& c) {
  visit("name", c.name, "class of links");
  visit("links", c.links, "links of it");
  visit("busy", c.mean, "of the whole time, of all of them");
  visit("busiest", c.most, "of the one with most bytes");
}

template <class V>
void describe(V visit, const NoiseEffect& n) {
  visit("noise_free_seconds", n.seconds, "time without noise");
  visit("slowdown", n.slowdown, "time with noise by that without");
}

template <class V>
void describe(V visit, const NodeFault& d) {
  visit("node", d.node, "the node that dies");
  visit("seconds", d.seconds, "when");
  visit("share", d.share, "of the time without faults, if it was asked for so");
}

template <class V>
void describe(V visit, const goal::Aftermath::OfRank& r) {
  using State = goal::Aftermath::State;
  visit("state",
        std::string(r.state == State::complete ? "complete"
                    : r.state == State::died   ? "died"
                                               : "waits"),
        "complete, died or waits");
  visit("waits", r.waits, "waits that lead to a rank that died; 0: none");
  visit("seconds", seconds_of(r.last), "end of its last operation");
}

template <class V>
void describe(V visit, const Faults& f) {
  const goal::Aftermath& a = f.aftermath;
  std::vector<ChainLink> chain_at;
  for (const auto& [rank, operation] : a.chain_at) chain_at.push_back({rank, operation});
  visit("dies", f.dies, "nodes that die");
  visit("ranks_complete", a.complete, "ranks that complete");
  visit("ranks_died", a.died, "ranks that die before");
  visit("ranks_waiting", a.waiting_directly + a.waiting_indirectly, "ranks that wait for ever");
  visit("waiting_directly", a.waiting_directly, "for a rank that died");
  visit("waiting_indirectly", a.waiting_indirectly, "for a rank that waits");
  visit("complete_seconds", seconds_of(a.complete_until), "last end of a rank that completes");
  visit("stuck_seconds", seconds_of(a.stuck_from), "last end of an operation of ranks that wait");
  visit("last_progress_seconds", seconds_of(a.last_progress), "last end of any operation");
  visit("operations", a.operations, "of the program");
  visit("operations_done", a.operations_done, "that ended");
  visit("operations_lost", a.operations_lost, "of these, those of ranks that died");
  visit("computing_seconds", seconds_of(a.computing), "of the program");
  visit("computing_done_seconds", seconds_of(a.computing_done), "that ended");
  visit("computing_lost_seconds", seconds_of(a.computing_lost), "of these, that of ranks that died");
  visit("chain", a.chain, "operations of the lowest rank that waits, and of those it waits for");
  visit("chain_at", chain_at, "the same by number");
  visit("chain_ends_at_rank", OrNull<std::int32_t>{a.chain.empty() ? std::nullopt : std::optional(a.chain_end)},
        "the rank that died; null: none waits so");
  visit("by_rank", a.ranks, "each rank");
}

template <class V>
void describe(V visit, const Prediction& p) {
  visit("model", p.model, "the model");
  visit("seconds", p.seconds, "time of the subject, with noise and without faults");
  visit("limiting", p.limiting, "what the time is spent on; empty: the model does not know");
  visit("accuracy", p.accuracy, "why the time may be more than a fifth off; empty: no reason is known");
  const bool has_bounds = p.schedule || !p.bounds.empty();
  visit("bound_seconds", has_bounds ? std::optional(p.bound_seconds()) : std::nullopt, "no schedule is faster");
  visit("bounds", has_bounds ? std::optional(p.bounds) : std::nullopt, "why");
  visit.part(p.schedule);
  visit.part(p.run);
  visit.part(p.ranks);
  visit("loggops", p.loggops, "the parameters of LogGOPS");
  visit.part(p.packets);
  visit("link_classes", unless_empty(p.link_classes), "use of classes of links");
  visit("link_bytes", unless_empty(p.link_bytes), "bytes of each link, on demand");
  visit.part(p.noise);
  visit("faults", p.faults, "what becomes of the ranks if nodes die");
}

template <class T>
inline constexpr bool is_list = requires {
  typename T::value_type;
  typename T::iterator;
};
template <class T>
inline constexpr bool is_map = requires {
  typename T::mapped_type;
};

} // namespace kumihimo::models
