#include "replay/rank_graph.hpp"

#include "base/hash.hpp"

#include <cmath>

namespace kumihimo::replay {
namespace {

constexpr std::size_t most_kept = std::size_t{1} << 22; // some 200 MB

// An instance of the collective: elements of eight bytes where they fit, so that reductions know numbers.
Result<Collective> collective_of(const RecordedCollective& call, std::int32_t ranks) {
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

std::uint64_t hash_of(const Fragment& fragment) {
  std::uint64_t h = fragment.graph.operations.size();
  for (const GraphOperation& each : fragment.graph.operations) {
    h = mixed(h, each.size);
    h = mixed(h, static_cast<std::uint64_t>(static_cast<std::uint32_t>(each.peer)) << 32 | each.tag);
  }
  return h;
}

// A calc after all that the rank does in the collective, also where it does nothing.
std::uint32_t add_last(goal::GraphBuilder& builder, std::span<const std::uint32_t> ends, double seconds) {
  GraphOperation calc;
  calc.kind = goal::Kind::calc, calc.size = static_cast<std::uint64_t>(std::llround(seconds * 1e12));
  const std::uint32_t last = builder.add(calc);
  for (const std::uint32_t end : ends) builder.after_end(last, end);
  return last;
}

} // namespace

CollectiveFragments::CollectiveFragments(const Source& source, std::span<const Choice> choices,
                                         const ReplayOptions& options, goal::Tags tags)
    : source_(source), options_(options), tags_(tags) {
  for (const Choice& choice : choices) calls_.push_back({choice, {}, nullptr, {}, {}});
}

Result<CollectiveFragments::Found> CollectiveFragments::of(std::uint32_t call, std::int32_t rank) {
  One& one = calls_[call];
  if (const auto found = one.of_rank.find(rank); found != one.of_rank.end()) return found->second;
  const RecordedCollective& asked = source_.calls()[call];
  if (one.choice.variant == nullptr) {
    goal::GraphBuilder alone;
    const std::uint32_t end = add_last(alone, {}, one.choice.more_seconds);
    return shared(one, {alone.finish(), {end}});
  }
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
  goal::GraphBuilder builder;
  const auto distance = [&](std::int32_t peer) {
    const std::int32_t to = source_.member(asked.communicator, peer) - rank;
    return to < 0 ? to + source_.ranks() : to;
  };
  const Rank own{source_.rank_in(asked.communicator, rank)};
  auto ends = one.programs->append(builder, own, {}, distance);
  if (!ends) return located(name_of(source_, asked), ends.error());
  if (one.choice.more_seconds > 0) *ends = {add_last(builder, *ends, one.choice.more_seconds)};
  Found found = shared(one, {builder.finish(), *std::move(ends)});
  if (kept_ <= most_kept) one.of_rank.emplace(rank, found);
  return found;
}

CollectiveFragments::Found CollectiveFragments::shared(One& one, Fragment fragment) {
  const std::uint64_t hash = hash_of(fragment);
  const auto [first, last] = one.by_hash.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (it->second->graph == fragment.graph && it->second->ends == fragment.ends) return it->second;
  const std::size_t operations = fragment.graph.operations.size();
  auto made = std::make_shared<const Fragment>(std::move(fragment));
  if (kept_ > most_kept) return made;
  kept_ += operations;
  one.by_hash.emplace(hash, made);
  return made;
}

void CollectiveFragments::forget(std::int32_t rank) {
  for (One& one : calls_) {
    one.of_rank.erase(rank);
    one.by_hash.clear();
  }
  kept_ = 0;
}

// By which each rank's computing becomes the mean of all.
std::vector<double> balancing(std::vector<double> computing) {
  double sum = 0;
  for (const double own : computing) sum += own;
  for (double& each : computing) each = each > 0 ? sum / static_cast<double>(computing.size()) / each : 1;
  return computing;
}

Result<std::vector<double>> shares_of(const Source& source, const ReplayOptions& options) {
  std::vector<double> computing(static_cast<std::size_t>(source.ranks()), 1);
  if (!options.balanced) return computing;
  for (std::int32_t rank = 0; rank < source.ranks(); ++rank) {
    double& own = computing[static_cast<std::size_t>(rank)] = 0;
    const auto add = [&](std::span<const Event> events, std::size_t) -> Status {
      for (const Event& e : events)
        if (e.kind == EventKind::compute) own += static_cast<double>(e.compute().ns);
      return Nothing{};
    };
    if (Status s = for_each_part(source.stream(rank), add); !s) return s.error();
  }
  return balancing(std::move(computing));
}

} // namespace kumihimo::replay
