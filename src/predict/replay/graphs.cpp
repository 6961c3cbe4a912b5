#include "replay/graphs.hpp"

#include "replay/rank_graph.hpp"
#include "replay/windowed_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace kumihimo::replay {

std::optional<std::uint32_t> ReplayProgram::site_of(std::int32_t rank, std::uint32_t operation) const {
  if (!has_marks()) return std::nullopt;
  const std::optional<Mark> next = mark_from(rank, operation);
  if (!next || next->operation == operation || next->site == Mark::no_site) return std::nullopt;
  return next->site;
}

std::optional<Mark> ReplayProgram::mark_from(std::int32_t rank, std::uint32_t operation) const {
  const std::vector<Mark>& all = marks(rank);
  const auto next = std::lower_bound(all.begin(), all.end(), operation,
                                     [](const Mark& mark, std::uint32_t at) { return mark.operation < at; });
  return next == all.end() ? std::nullopt : std::optional(*next);
}

std::optional<std::uint32_t> ReplayProgram::site_of_wait(std::int32_t rank, std::uint32_t operation) const {
  if (!has_marks()) return std::nullopt;
  const goal::Graph& graph = graphs.of(rank);
  const goal::GraphOperation& of = graph.operations[operation];
  std::optional<Mark> first; // the calc behind a call waits for what the call waits for
  for (std::uint32_t i = of.first; i < of.first + of.after_end; ++i)
    if (const auto mark = mark_from(rank, graph.dependents[i]); mark && mark->operation == graph.dependents[i])
      if (!first || mark->operation < first->operation) first = mark;
  if (!first || first->site == Mark::no_site) return std::nullopt;
  return first->site;
}

// Ranks that share a graph mostly share its marks, too.
void ReplayProgram::add_marks(std::int32_t rank, std::vector<Mark> marks,
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

namespace {

// The graphs of all ranks.
class WholeProgram {
 public:
  WholeProgram(const Source& source, std::span<const Choice> choices, const ReplayOptions& options, std::int64_t most)
      : source_(source), options_(options), most_(most), tags_(source),
        collectives_(source, choices, options, tags_.first_block()) {}

  // Ends early where there are more operations than `most`.
  Status make() {
    program_.graphs = goal::Graphs(source_.ranks());
    const std::vector<double> shares = TRY(shares_of(source_, options_));
    std::unordered_multimap<std::int32_t, std::uint32_t> marks_of_graph;
    std::int64_t kept = 0;
    for (std::int32_t rank = 0; rank < source_.ranks() && too_many_.empty(); ++rank) {
      std::vector<Mark> marks;
      goal::Graph graph = TRY(graph_of(rank, shares[static_cast<std::size_t>(rank)], marks));
      const std::size_t before = program_.graphs.different();
      const auto operations = static_cast<std::int64_t>(graph.operations.size());
      program_.graphs.set(rank, std::move(graph));
      if (program_.graphs.different() > before) kept += operations;
      program_.add_marks(rank, std::move(marks), marks_of_graph);
      collectives_.forget(rank);
      if (kept > most_ && too_many_.empty()) too_many_ = fmt::format("more at rank {} of {}", rank, source_.ranks());
    }
    return Nothing{};
  }
  const std::string& too_many() const { return too_many_; } // where; empty: they are not
  ReplayProgram& program() { return program_; }

 private:
  Result<goal::Graph> graph_of(std::int32_t rank, double share, std::vector<Mark>& marks) {
    RankGraph<goal::GraphBuilder> of_rank(source_, collectives_, tags_, options_, rank, share);
    goal::GraphBuilder builder;
    const auto stream = source_.stream(rank);
    for (std::size_t number = 0; too_many_.empty();) {
      const auto events = TRY(stream->next());
      if (events.empty()) break;
      for (const Event& event : events) {
        if (const auto mark = TRY(of_rank.add(builder, event))) marks.push_back(*mark);
        if (static_cast<std::int64_t>(builder.size()) > most_ && too_many_.empty())
          too_many_ = is_collective(event.kind) ? of_rank.name_of_latest(event.collective().communicator)
                                                : fmt::format("more at event {} of rank {}", number, rank);
        ++number;
      }
    }
    if (const auto mark = of_rank.finish(builder)) marks.push_back(*mark);
    return builder.finish();
  }

  const Source& source_;
  const ReplayOptions& options_;
  std::int64_t most_;
  TagNumbers tags_;
  CollectiveFragments collectives_;
  ReplayProgram program_;
  std::string too_many_;
};

} // namespace

Result<ReplayProgram> program_of(const Source& source, std::span<const Choice> choices, const ReplayOptions& options) {
  if (choices.size() != source.calls().size()) return failed("there must be a choice for each collective");
  const bool may_be_windowed = options.windowed_from && source.ranks() <= most_windows;
  const std::int64_t most = may_be_windowed ? *options.windowed_from : options.most;
  WholeProgram whole(source, choices, options, most);
  if (Status s = whole.make(); !s) return s.error();
  if (whole.too_many().empty()) return std::move(whole.program());
  if (!may_be_windowed)
    return wrong_value(fmt::format("the program must be at most {} operations", most), whole.too_many(),
                       "take --model loggp, record fewer steps, or take fewer ranks");
  ReplayProgram program;
  program.windowed = std::make_shared<const Windowed>(Windowed{&source, {choices.begin(), choices.end()}, options});
  return program;
}

namespace {

std::vector<double> balancing_shares(const goal::Graphs& graphs) {
  std::vector<double> computing;
  for (std::int32_t rank = 0; rank < graphs.ranks(); ++rank) {
    computing.push_back(0);
    for (const GraphOperation& each : graphs.of(rank).operations)
      if (each.kind == goal::Kind::calc) computing.back() += static_cast<double>(each.size);
  }
  return balancing(std::move(computing));
}

} // namespace

Result<ReplayProgram> program_of(const goal::Graphs& graphs, const ReplayOptions& options) {
  std::size_t operations = 0;
  for (const goal::Graph& each : graphs.all()) operations += each.operations.size();
  if (static_cast<std::int64_t>(operations) > options.most)
    return wrong_value(fmt::format("the program must be at most {} operations", options.most), operations,
                       "take fewer steps, or fewer ranks");
  ReplayProgram program;
  if (!options.balanced && options.speed == 1) {
    program.graphs = graphs;
    return program;
  }
  program.graphs = goal::Graphs(graphs.ranks());
  const std::vector<double> shares = options.balanced ? balancing_shares(graphs) : std::vector<double>{};
  for (std::int32_t rank = 0; rank < graphs.ranks(); ++rank) {
    const double share = (shares.empty() ? 1 : shares[static_cast<std::size_t>(rank)]) / options.speed;
    goal::Graph graph = graphs.of(rank);
    for (GraphOperation& each : graph.operations)
      if (each.kind == goal::Kind::calc)
        each.size = static_cast<std::uint64_t>(std::llround(static_cast<double>(each.size) * share));
    program.graphs.set(rank, std::move(graph));
  }
  return program;
}

} // namespace kumihimo::replay
