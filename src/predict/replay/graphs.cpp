#include "replay/graphs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <unordered_map>

namespace kumihimo::replay {
namespace {

using goal::Operation;

// What is under way at once must not have the same tag between the same ranks, or it would match in another order than
// in MPI: messages are numbered by communicator and tag, and each communicator has blocks for its collectives, used
// again after so many. Communicators that share no rank share numbers, so that their ranks can share graphs.
class TagNumbers {
 public:
  explicit TagNumbers(const Source& source) : context_(source.communicators(), 0) {
    std::vector<std::vector<std::uint32_t>> of_rank(static_cast<std::size_t>(source.ranks()));
    std::uint32_t contexts = 1; // that of the world
    for (std::uint32_t c = 1; c < source.communicators(); ++c) {
      std::vector<bool> taken(contexts + 1, false);
      const auto each_member = [&](auto&& fn) {
        for (std::int32_t r = 0; r < source.size_of(c); ++r)
          if (const std::int32_t rank = source.member(c, r); rank >= 0) fn(of_rank[static_cast<std::size_t>(rank)]);
      };
      each_member([&](const auto& has) {
        for (const std::uint32_t context : has) taken[context] = true;
      });
      while (taken[++context_[c]]) {
      }
      each_member([&](auto& has) { has.push_back(context_[c]); });
      contexts = std::max(contexts, context_[c] + 1);
    }
    tags_ = std::min(most_tags, all / contexts);
    blocks_ = std::clamp(all / tags_ / contexts, 1U, most_blocks);
  }

  std::uint32_t of_message(const trace::Message& m) {
    const std::uint64_t key = std::uint64_t{context_[m.communicator]} << 32 | static_cast<std::uint32_t>(m.tag);
    return numbers_.try_emplace(key, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }
  goal::Tags first_block() const { return {first, tags_}; }
  // Of the n-th collective of a communicator, behind the first block.
  std::uint32_t behind(std::uint32_t communicator, std::size_t n) const {
    return (context_[communicator] * blocks_ + static_cast<std::uint32_t>(n % blocks_)) * tags_;
  }

 private:
  static constexpr std::uint32_t first = 0x80000000U, all = goal::any_tag - first; // of collectives
  static constexpr std::uint32_t most_tags = 1U << 24, most_blocks = 64;
  std::vector<std::uint32_t> context_; // by communicator
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::uint32_t tags_ = 0, blocks_ = 0; // of a collective, of a communicator
};

// The operations of one rank in one collective, to be copied at each call. Tags are those of the first block.
struct Fragment {
  goal::Graph graph;
  std::vector<std::uint32_t> ends;
};

// An instance of the collective: elements of eight bytes where they fit, so that reductions know numbers.
Result<Collective> collective_of(const CollectiveCall& call, std::int32_t ranks) {
  const CollectiveKind kind = all_collectives[call.collective];
  if (kind->of_neighbours())
    return not_applicable("a recording names no neighbours of collectives among neighbours", {},
                          "leave them out of the recording, by MPI_Pcontrol(0)");
  DataType type = DataType::uint8;
  if (kind->reduces() && call.bytes % 8 == 0)
    type = DataType::float64;
  else if (kind->reduces() && call.bytes % 4 == 0)
    type = DataType::float32;
  Collective collective =
      make_collective(kind, ranks, call.bytes / size_of(type), type, kumihimo::Operation::sum, Rank{call.root});
  if (call.table.empty()) return collective;
  return with_counts(std::move(collective), call.table);
}

class Collectives {
 public:
  Collectives(const Source& source, std::span<const Choice> choices, const Options& options, goal::Tags tags)
      : source_(source), options_(options), tags_(tags) {
    for (const Choice& choice : choices) calls_.push_back({choice, {}, nullptr, {}});
  }

  // The fragment of a rank of the world.
  Result<const Fragment*> of(std::uint32_t call, std::int32_t rank) {
    One& one = calls_[call];
    const CollectiveCall& asked = source_.calls()[call];
    if (!one.programs) {
      const std::int32_t ranks = source_.size_of(asked.communicator);
      const auto located_here = [&](Error error) { return located(name_of(source_, asked), std::move(error)); };
      auto collective = collective_of(asked, ranks);
      if (!collective) return located_here(collective.error());
      const bool has_places = options_.space && is_like_world(source_, asked.communicator);
      const RankSpace space = has_places ? *options_.space : RankSpace::row(ranks);
      auto schedule = one.choice.variant->build(*collective, space, one.choice.parameters);
      if (!schedule) return located_here(schedule.error());
      one.schedule = std::make_unique<Schedule>(*std::move(schedule));
      one.programs = std::make_unique<goal::ProgramOperations>(*one.schedule, options_.rates, tags_);
    }
    const auto found = one.fragments.find(rank);
    if (found != one.fragments.end()) return &found->second;
    goal::GraphBuilder builder;
    const auto distance = [&](std::int32_t peer) {
      const std::int32_t to = source_.member(asked.communicator, peer) - rank;
      return to < 0 ? to + source_.ranks() : to;
    };
    const Rank own{source_.rank_in(asked.communicator, rank)};
    auto ends = one.programs->append(builder, own, {}, distance);
    if (!ends) return located(name_of(source_, asked), ends.error());
    return &(one.fragments[rank] = {builder.finish(), *std::move(ends)});
  }
  // A rank's fragments are not needed once its graph is made.
  void forget(std::int32_t rank) {
    for (One& one : calls_) one.fragments.erase(rank);
  }

 private:
  struct One {
    Choice choice;
    std::unique_ptr<Schedule> schedule;
    std::unique_ptr<goal::ProgramOperations> programs;
    std::unordered_map<std::int32_t, Fragment> fragments; // by rank of the world
  };
  const Source& source_;
  const Options& options_;
  goal::Tags tags_;
  std::vector<One> calls_;
};

Error too_large(const Options& options, const std::string& found) {
  return wrong_value(fmt::format("the program must be at most {} operations", options.most), found,
                     "record fewer steps, or take fewer ranks");
}

// The graph of one rank.
class RankGraph {
 public:
  // `share`: of the recorded computing, before any speed.
  RankGraph(const Source& source, Collectives& collectives, TagNumbers& tags, const Options& options, std::int32_t rank,
            double share)
      : source_(source), collectives_(collectives), tags_(tags), options_(options), rank_(rank), share_(share),
        sequence_(source.communicators(), 0) {}

  Result<goal::Graph> run(std::vector<Mark>& marks) {
    const auto add_some = [&](std::span<const Event> events, std::size_t before) -> Status {
      for (std::size_t i = 0; i < events.size(); ++i) {
        if (Status s = add(events[i], marks); !s) return s;
        if (static_cast<std::int64_t>(builder_.size()) > options_.most)
          return too_large(options_, fmt::format("more at event {} of rank {}", before + i, rank_));
      }
      return Nothing{};
    };
    if (Status s = for_each_part(source_.stream(rank_), add_some); !s) return s.error();
    if (site_ != Mark::no_site) add_calc(0, 0, marks);
    return builder_.finish();
  }

 private:
  // What the next operation waits for.
  struct Point {
    std::vector<std::uint32_t> ends, starts;
    bool empty() const { return ends.empty() && starts.empty(); }
  };

  Status add(const Event& e, std::vector<Mark>& marks) {
    switch (e.kind) {
    case Kind::compute: return add_calc(picoseconds(e.compute()), e.compute().region, marks), Nothing{};
    case Kind::enter:
      if (site_ != Mark::no_site || builder_.size() == 0) add_calc(0, 0, marks);
      site_ = e.enter().site;
      return Nothing{};
    case Kind::leave:
      if (!next_.empty()) point_ = std::move(next_);
      next_ = {};
      waits_ = false;
      return Nothing{};
    case Kind::send:
    case Kind::receive: next_.ends.push_back(add_message(e)); return Nothing{};
    case Kind::start_send:
    case Kind::start_receive:
      if (!is_message(e)) return Nothing{}; // a cancelled receive
      next_.starts.push_back(add_message(e));
      if (e.request > 0) requests_[e.request] = {next_.starts.back()};
      return Nothing{};
    case Kind::collective:
    case Kind::start_collective: return add_collective(e);
    default:
      if (!waits_) next_.ends = joined(next_.ends, point_.ends), next_.starts = joined(next_.starts, point_.starts);
      waits_ = true; // for what ended before, perhaps: the call itself comes after the one before it
      if (const auto it = requests_.find(e.request); it != requests_.end()) {
        next_.ends.insert(next_.ends.end(), it->second.begin(), it->second.end());
        requests_.erase(it);
      }
      return Nothing{};
    }
  }

  using Operations = std::vector<std::uint32_t>;
  static Operations joined(Operations a, const Operations& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  std::uint64_t picoseconds(const trace::Compute& of) const {
    double speed = of.region < options_.region_speed.size() ? options_.region_speed[of.region] : 0;
    if (speed <= 0) speed = options_.speed;
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(of.ns) * goal::picoseconds * share_ / speed));
  }

  std::uint32_t append(const Operation& operation) {
    const std::uint32_t at = builder_.add(operation);
    for (const std::uint32_t on : point_.ends) builder_.after_end(at, on);
    for (const std::uint32_t on : point_.starts) builder_.after_start(at, on);
    return at;
  }

  void add_calc(std::uint64_t picoseconds, std::uint32_t region, std::vector<Mark>& marks) {
    Operation calc;
    calc.kind = goal::Kind::calc, calc.size = picoseconds;
    const std::uint32_t at = append(calc);
    marks.push_back({at, site_, region});
    site_ = Mark::no_site;
    point_ = {{at}, {}};
  }

  std::uint32_t add_message(const Event& e) {
    Operation message;
    message.kind = is_send(e.kind) ? goal::Kind::send : goal::Kind::receive;
    const trace::Message& m = e.message();
    message.size = static_cast<std::uint64_t>(m.bytes);
    message.peer = m.peer >= rank_ ? m.peer - rank_ : m.peer - rank_ + source_.ranks();
    message.tag = tags_.of_message(m);
    return append(message);
  }

  Status add_collective(const Event& e) {
    const std::uint32_t communicator = e.collective().communicator;
    const std::size_t n = sequence_[communicator]++;
    const std::uint32_t call = source_.call_of(communicator, n);
    const Fragment& fragment = *TRY(collectives_.of(call, rank_));
    if (static_cast<std::int64_t>(builder_.size() + fragment.graph.operations.size()) > options_.most)
      return too_large(options_, fmt::format("more with {} number {} of communicator {} of rank {}",
                                             name_of(source_, source_.calls()[call]), n, communicator, rank_));
    const std::uint32_t behind = tags_.behind(communicator, n);
    const auto base = static_cast<std::uint32_t>(builder_.size());
    for (Operation operation : fragment.graph.operations) {
      if (operation.kind == goal::Kind::send || operation.kind == goal::Kind::receive) operation.tag += behind;
      if (operation.waits_for == 0)
        append(operation);
      else
        builder_.add(operation);
    }
    for (std::uint32_t i = 0; i < fragment.graph.operations.size(); ++i) {
      const Operation& on = fragment.graph.operations[i];
      for (std::uint32_t d = 0; d < on.after_end + on.after_start; ++d) {
        const std::uint32_t waits = base + fragment.graph.dependents[on.first + d];
        if (d < on.after_end)
          builder_.after_end(waits, base + i);
        else
          builder_.after_start(waits, base + i);
      }
    }
    std::vector<std::uint32_t> ends;
    for (const std::uint32_t end : fragment.ends) ends.push_back(base + end);
    if (e.kind == Kind::start_collective)
      requests_[e.request] = std::move(ends);
    else
      next_.ends.insert(next_.ends.end(), ends.begin(), ends.end());
    return Nothing{};
  }

  const Source& source_;
  Collectives& collectives_;
  TagNumbers& tags_;
  const Options& options_;
  std::int32_t rank_;
  double share_;
  goal::GraphBuilder builder_;
  Point point_, next_; // before the current call, and what it leaves after
  bool waits_ = false; // the current call ends requests
  std::uint32_t site_ = Mark::no_site;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> requests_; // the operations that complete them
  std::vector<std::size_t> sequence_;                                      // collectives so far, by communicator
};

} // namespace

std::optional<std::uint32_t> Program::site_of(std::int32_t rank, std::uint32_t operation) const {
  if (!has_marks()) return std::nullopt;
  const std::optional<Mark> next = mark_from(rank, operation);
  if (!next || next->operation == operation || next->site == Mark::no_site) return std::nullopt;
  return next->site;
}

std::optional<Mark> Program::mark_from(std::int32_t rank, std::uint32_t operation) const {
  const std::vector<Mark>& all = marks(rank);
  const auto next = std::lower_bound(all.begin(), all.end(), operation,
                                     [](const Mark& mark, std::uint32_t at) { return mark.operation < at; });
  return next == all.end() ? std::nullopt : std::optional(*next);
}

std::optional<std::uint32_t> Program::site_of_wait(std::int32_t rank, std::uint32_t operation) const {
  if (!has_marks()) return std::nullopt;
  const goal::Graph& graph = graphs.of(rank);
  const goal::Operation& of = graph.operations[operation];
  std::optional<Mark> first; // the calc behind a call waits for what the call waits for
  for (std::uint32_t i = of.first; i < of.first + of.after_end; ++i)
    if (const auto mark = mark_from(rank, graph.dependents[i]); mark && mark->operation == graph.dependents[i])
      if (!first || mark->operation < first->operation) first = mark;
  if (!first || first->site == Mark::no_site) return std::nullopt;
  return first->site;
}

// Ranks that share a graph mostly share its marks, too.
void Program::add_marks(std::int32_t rank, std::vector<Mark> marks,
                        std::unordered_multimap<std::int32_t, std::uint32_t>& known) {
  const std::int32_t graph = graphs.graph_of(rank);
  const auto [first, last] = known.equal_range(graph);
  for (auto it = first; it != last; ++it)
    if (different_marks[it->second] == marks) return marks_of_rank.push_back(it->second);
  known.emplace(graph, static_cast<std::uint32_t>(different_marks.size()));
  marks_of_rank.push_back(static_cast<std::uint32_t>(different_marks.size()));
  marks.shrink_to_fit();
  different_marks.push_back(std::move(marks));
}

bool is_like_world(const Source& source, std::uint32_t communicator) {
  if (communicator == 0) return true;
  if (source.size_of(communicator) != source.ranks()) return false;
  for (std::int32_t r = 0; r < source.ranks(); ++r)
    if (source.member(communicator, r) != r) return false;
  return true;
}

std::string name_of(const Source& source, const CollectiveCall& call) {
  const CollectiveRow& row = *all_collectives[call.collective];
  const std::string length =
      !row.moves_data() ? "" : fmt::format(" of {} bytes{}", call.bytes, row.is_vector() ? "" : " a block");
  return fmt::format("{}{} on {} ranks", row.name, length, source.size_of(call.communicator));
}

namespace {

// By which each rank's computing becomes the mean of all.
std::vector<double> shares_of(std::vector<double> computing) {
  double sum = 0;
  for (const double own : computing) sum += own;
  for (double& each : computing) each = each > 0 ? sum / static_cast<double>(computing.size()) / each : 1;
  return computing;
}

Result<std::vector<double>> balancing_shares(const Source& source) {
  std::vector<double> computing;
  const auto add = [&](std::span<const Event> events, std::size_t) -> Status {
    for (const Event& e : events)
      if (e.kind == Kind::compute) computing.back() += static_cast<double>(e.compute().ns);
    return Nothing{};
  };
  for (std::int32_t rank = 0; rank < source.ranks(); ++rank) {
    computing.push_back(0);
    if (Status s = for_each_part(source.stream(rank), add); !s) return s.error();
  }
  return shares_of(std::move(computing));
}

std::vector<double> balancing_shares(const goal::Graphs& graphs) {
  std::vector<double> computing;
  for (std::int32_t rank = 0; rank < graphs.ranks(); ++rank) {
    computing.push_back(0);
    for (const Operation& each : graphs.of(rank).operations)
      if (each.kind == goal::Kind::calc) computing.back() += static_cast<double>(each.size);
  }
  return shares_of(std::move(computing));
}

} // namespace

Result<Program> program_of(const Source& source, std::span<const Choice> choices, const Options& options) {
  if (choices.size() != source.calls().size()) return failed("there must be a choice for each collective");
  TagNumbers tags(source);
  Collectives collectives(source, choices, options, tags.first_block());
  Program program;
  program.graphs = goal::Graphs(source.ranks());
  std::vector<double> shares;
  if (options.balanced) shares = TRY(balancing_shares(source));
  std::unordered_multimap<std::int32_t, std::uint32_t> marks_of_graph;
  std::int64_t kept = 0;
  for (std::int32_t rank = 0; rank < source.ranks(); ++rank) {
    std::vector<Mark> marks;
    auto graph =
        RankGraph(source, collectives, tags, options, rank, shares.empty() ? 1 : shares[static_cast<std::size_t>(rank)])
            .run(marks);
    if (!graph) return graph.error();
    const std::size_t before = program.graphs.different();
    const auto operations = static_cast<std::int64_t>(graph->operations.size());
    program.graphs.set(rank, *std::move(graph));
    if (program.graphs.different() > before) kept += operations;
    program.add_marks(rank, std::move(marks), marks_of_graph);
    collectives.forget(rank);
    if (kept > options.most) return too_large(options, fmt::format("more at rank {} of {}", rank, source.ranks()));
  }
  return program;
}

Result<Program> program_of(const goal::Graphs& graphs, const Options& options) {
  std::size_t operations = 0;
  for (const goal::Graph& each : graphs.all()) operations += each.operations.size();
  if (static_cast<std::int64_t>(operations) > options.most)
    return wrong_value(fmt::format("the program must be at most {} operations", options.most), operations,
                       "take fewer steps, or fewer ranks");
  Program program;
  if (!options.balanced && options.speed == 1) {
    program.graphs = graphs;
    return program;
  }
  program.graphs = goal::Graphs(graphs.ranks());
  const std::vector<double> shares = options.balanced ? balancing_shares(graphs) : std::vector<double>{};
  for (std::int32_t rank = 0; rank < graphs.ranks(); ++rank) {
    const double share = (shares.empty() ? 1 : shares[static_cast<std::size_t>(rank)]) / options.speed;
    goal::Graph graph = graphs.of(rank);
    for (Operation& each : graph.operations)
      if (each.kind == goal::Kind::calc)
        each.size = static_cast<std::uint64_t>(std::llround(static_cast<double>(each.size) * share));
    program.graphs.set(rank, std::move(graph));
  }
  return program;
}

} // namespace kumihimo::replay
