#include "mapping/choice/choice.hpp"

#include "mapping/anneal/annealing.hpp"
#include "mapping/anneal/relief.hpp"
#include "mapping/choice/candidates.hpp"
#include "mapping/lattice/lattice.hpp"
#include "mapping/objective/hop_bytes.hpp"
#include "mapping/partition/bisection.hpp"
#include "mapping/partition/greedy.hpp"
#include "mapping/structured/lattice_orders.hpp"
#include "mapping/structured/structured_maps.hpp"
#include "placement/orders.hpp"
#include "topology/fat_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace kumihimo::mapping {
namespace {

// How much of each kind of work an effort does. Terms are distances looked up: some nanoseconds each on one core.
struct SearchWork {
  std::int64_t structured_per_rank, most_structured; // terms
  std::int64_t annealed_per_rank, most_annealed;     // terms of all finalists together
  int library_maps, bisections;
  std::size_t finalists;
  int chains;
};

SearchWork work_of(SearchEffort effort) {
  switch (effort) {
  case SearchEffort::fast: return {2'000, 2'000'000, 1'000, 2'000'000, 1, 1, 1, 1};
  case SearchEffort::standard: return {80'000, 160'000'000, 80'000, 200'000'000, 4, 2, 2, 2};
  case SearchEffort::thorough: return {1'000'000, 3'000'000'000, 2'000'000, 10'000'000'000, 16, 8, 4, 4};
  }
  return {};
}

std::int64_t terms_for(std::int64_t per_rank, std::int64_t most, std::int32_t ranks) {
  return std::min(most, per_rank * ranks);
}

// Accepted shares of uphill moves at first: a map with structure is to keep it, another one is to be shaken.
constexpr double cool = 0.02, hot = 0.3;

// A network on which two nodes are equally far apart, whichever they are: there hop-bytes count bytes between nodes.
Result<MappingHost> without_distances(const MappingHost& host) {
  const Result<FatTree> flat = FatTree::make({{host.slots.nodes(), 1, 1}}, host.slots.nodes());
  if (!flat) return flat.error();
  return MappingHost::make(std::make_shared<FatTree>(*flat), host.slots);
}

class MapSearch {
 public:
  MapSearch(const MappingRequest& request, const MappingHost& searched, const Tools& tools)
      : request_(request), tools_(tools), work_(work_of(request.effort)), own_(greedy_partitioner()),
        weighed_(weigh(TrafficGraph::of(request.traffic), searched)), problem_{request.traffic, weighed_.graph,
                                                                               searched, request.grid},
        candidates_(request, tools) {}

  Mapping run() {
    add_usual_orders();
    if (request_.only_orders) return result();
    bounds_ = hop_bounds(problem_, {}, structured_terms() / 10, tools_); // maps first, sharper bounds after them
    for (void (MapSearch::*step)() : {&MapSearch::add_structured_maps, &MapSearch::add_library_maps,
                                      &MapSearch::add_bisections, &MapSearch::polish})
      if (!is_at_bound() && !tools_.stop()) (this->*step)();
    if (!tools_.stop()) keep_links_cool();
    if (request_.objective == Objective::time) predict_finalists();
    return result();
  }

 private:
  std::int64_t structured_terms() const {
    return terms_for(work_.structured_per_rank, work_.most_structured, request_.traffic.ranks());
  }
  std::int64_t annealed_terms() const {
    return terms_for(work_.annealed_per_rank, work_.most_annealed, request_.traffic.ranks());
  }

  double least_hops() const { return bounds_.empty() ? 0 : bounds_.front().average_hops; }
  const CandidateMap& best() const { return candidates_.all()[candidates_.best()]; }
  bool is_within(double factor) const {
    return request_.objective == Objective::hop_bytes && best().measures.average_hops <= factor * least_hops();
  }
  // Nothing better is worth a search: of hop-bytes alone bounds are often reached.
  bool is_at_bound() const { return is_within(1.0005); }

  // For a quick search: a map of a grid that is close to the bound is better than what cutting finds.
  bool is_good_enough() const {
    return request_.effort == SearchEffort::fast && is_within(lattices_.empty() ? 1.02 : 1.5);
  }

  void report(std::string phase) const {
    const Measures& measures = best().measures;
    tools_.report(
        {std::move(phase), 0, measures.average_hops, static_cast<double>(measures.link_bytes_max), least_hops()});
  }

  // The tools for one phase, whose own report knows neither its name nor the best placement of all.
  Tools during(const std::string& phase) const {
    Tools tools = tools_;
    tools.report = [this, phase](SearchProgress progress) {
      progress.phase = phase;
      const Measures& measures = best().measures;
      if (progress.average_hops <= 0 || progress.average_hops > measures.average_hops)
        progress.average_hops = measures.average_hops;
      progress.link_bytes_max = static_cast<double>(measures.link_bytes_max);
      progress.least_hops = least_hops();
      tools_.report(progress);
    };
    return tools;
  }

  OrderContext order_context() const {
    return {request_.host.slots, request_.nodes, request_.grid, request_.traffic.ranks()};
  }
  // Where little else is tried, they may be the best of all.
  std::int64_t lattice_order_terms() const {
    return request_.effort == SearchEffort::fast ? structured_terms() / 2 : structured_terms() / 10;
  }

  void add_usual_orders() {
    const MappingHost& host = request_.host;
    const OrderContext context = order_context();
    if (request_.usual) candidates_.add(MapOrigin::order, {*request_.usual});
    candidates_.add(MapOrigin::order, {{"block", Assignment::identity(context.ranks, host.size())}});
    std::vector<NamedMap> orders;
    for (const std::string& order : simple_orders(context)) {
      if (tools_.stop()) break;
      if (const Result<Placement> placement = placement_in_order(order, context))
        orders.push_back({order, Assignment::of(*placement)});
    }
    add(MapOrigin::order, std::move(orders));
    candidates_.add(MapOrigin::user, request_.starts);
  }

  // Link loads take ten times as long as hop-bytes: in a quick search, maps that are not shorter than the best one so
  // far go without, and so do all but the shortest that links can carry.
  void add(MapOrigin origin, std::vector<NamedMap> maps) {
    if (request_.effort != SearchEffort::fast || request_.objective != Objective::hop_bytes)
      return candidates_.add(origin, std::move(maps));
    std::vector<std::pair<std::int64_t, std::size_t>> lengths;
    for (std::size_t at = 0; at < maps.size(); ++at)
      lengths.emplace_back(hop_bytes(problem_.graph, problem_.host, maps[at].map), at);
    std::sort(lengths.begin(), lengths.end());
    const std::size_t first = candidates_.best();
    const std::int64_t shortest = best().measures.hop_bytes;
    for (const auto& [length, at] : lengths) {
      if (length >= shortest || candidates_.best() != first) return;
      std::vector<NamedMap> one;
      one.push_back(std::move(maps[at]));
      candidates_.add(origin, std::move(one));
    }
  }

  void add_structured_maps() {
    report("structure");
    lattices_ = recognise(problem_.graph);
    add(MapOrigin::structured,
        structured_maps(problem_, lattices_, structured_terms(), request_.seed, during("structured maps")));
    if (lattices_.empty()) return;
    if (is_at_bound()) return;
    add(MapOrigin::structured, lattice_orders(problem_, lattices_, order_context(), lattice_order_terms(), tools_));
    std::vector<HopBound> bounds = hop_bounds(problem_, lattices_, structured_terms(), tools_);
    if (!bounds.empty()) bounds_ = std::move(bounds);
  }

  void add_library_maps() {
    if (is_good_enough()) return;
    for (Partitioner* const library : request_.partitioners) {
      report(fmt::format("map by {}", library->name()));
      std::vector<NamedMap> found;
      // For few ranks a map takes hundredths of a second, and the first one is enough for a quick answer.
      const bool are_cheap = work_.library_maps > 1 && request_.traffic.ranks() <= 2048;
      const int count = are_cheap ? 2 * work_.library_maps : work_.library_maps;
      for (int at = 0; at < count && !tools_.stop(); ++at)
        if (std::optional<Assignment> map =
                library->whole_map(problem_.graph, problem_.host, at % library->strategies(),
                                   request_.seed + static_cast<std::uint64_t>(at)))
          found.push_back({fmt::format("{} {}", library->name(), at + 1), std::move(*map)});
      candidates_.add(MapOrigin::library, std::move(found));
    }
  }

  void add_bisections() {
    if (is_good_enough()) return;
    // A quick search has the library's own map already: other cuts add more to it than the same ones.
    const bool has_own_cuts = request_.effort == SearchEffort::fast || request_.partitioners.empty();
    Partitioner& cutter = has_own_cuts ? *own_ : *request_.partitioners.front();
    std::vector<NamedMap> found;
    for (int at = 0; at < work_.bisections && !tools_.stop(); ++at) {
      BisectOptions options;
      options.seed = request_.seed + static_cast<std::uint64_t>(at);
      found.push_back({fmt::format("bisection {} by {}", at + 1, cutter.name()),
                       bisect(problem_, cutter, options, during("bisection"))});
    }
    candidates_.add(MapOrigin::bisection, std::move(found));
  }

  // The best of each origin, annealed.
  void polish() {
    if (is_good_enough()) return;
    const std::vector<std::size_t> starts = candidates_.best_of_origins(work_.finalists);
    std::vector<NamedMap> found;
    for (const std::size_t start : starts) {
      if (tools_.stop()) break;
      const CandidateMap& candidate = candidates_.all()[start];
      const bool has_structure = candidate.origin != MapOrigin::bisection && candidate.origin != MapOrigin::library;
      const bool stays_cool = has_structure || request_.effort == SearchEffort::fast; // which has no time to cool down
      NamedMap map{candidate.name + ", annealed", candidate.map};
      const Annealing annealing{annealed_terms() / static_cast<std::int64_t>(starts.size()), work_.chains,
                                stays_cool ? cool : hot};
      anneal(map.map, problem_, annealing, request_.seed, during("annealing"));
      found.push_back(std::move(map));
    }
    candidates_.add(MapOrigin::annealed, std::move(found));
  }

  // Brings the best maps within what links may carry; for the objective `links`, to the least that is found.
  void keep_links_cool() {
    constexpr double least_worth = 0.97; // relief costs hop-bytes and time
    if (request_.effort == SearchEffort::fast) return;
    const Weighed weighed = weigh(TrafficGraph::of(request_.traffic), request_.host);
    const MappingProblem problem{request_.traffic, weighed.graph, request_.host, request_.grid};
    const Annealing annealing{annealed_terms() / 4, work_.chains, cool};
    std::vector<NamedMap> found;
    if (request_.objective == Objective::links) {
      const std::vector<std::size_t> ranking = candidates_.ranking();
      NamedMap map{candidates_.all()[ranking.front()].name + ", links relieved",
                   candidates_.all()[ranking.front()].map};
      least_link_load(map.map, problem, annealing, request_.seed, during("relieving links"));
      found.push_back(std::move(map));
    } else if (request_.caps_links) {
      const CandidateMap& shortest = candidates_.all()[candidates_.best_of_origins(1).front()];
      if (shortest.is_within_cap || shortest.measures.hop_bytes > least_worth * best().measures.hop_bytes) return;
      NamedMap map{shortest.name + ", links relieved", shortest.map};
      if (!relieve(map.map, problem, candidates_.link_cap(), annealing, request_.seed, during("relieving links")))
        return;
      found.push_back(std::move(map));
    }
    candidates_.add(MapOrigin::annealed, std::move(found));
  }

  // Predictions take long: the usual order and the best by hop-bytes get one.
  void predict_finalists() {
    constexpr std::size_t most = 8;
    std::vector<std::size_t> finalists = {candidates_.best()};
    if (finalists.front() != 0) finalists.push_back(0);
    const std::size_t least = finalists.size(); // also where the search was stopped
    for (const std::size_t at : candidates_.ranking())
      if (at != 0 && at != finalists.front() && finalists.size() < most && candidates_.all()[at].is_within_cap)
        finalists.push_back(at);
    for (std::size_t at = 0; at < finalists.size() && !(at >= least && tools_.stop()); ++at) {
      CandidateMap& candidate = candidates_.all()[finalists[at]];
      tools_.report({"predicting", static_cast<double>(at) / static_cast<double>(finalists.size()),
                     candidate.measures.average_hops, static_cast<double>(candidate.measures.link_bytes_max),
                     least_hops()});
      if (request_.seconds) candidate.seconds = request_.seconds(candidate.map.placement(request_.host.slots));
    }
    candidates_.keep_usual();
  }

  Mapping result() {
    Mapping mapping;
    mapping.chosen = candidates_.best();
    for (const Lattice& lattice : lattices_) mapping.lattices.push_back(lattice.name());
    const bool is_of_hops = &problem_.host == &request_.host;
    if (is_of_hops) mapping.bounds = bounds_;
    const Weighed weighed = weigh(TrafficGraph::of(request_.traffic), request_.host);
    const MappingProblem real{request_.traffic, weighed.graph, request_.host, request_.grid};
    if (!request_.only_orders)
      mapping.link_bounds = link_bounds(real, is_of_hops ? least_hops() : 0, structured_terms() / 10, tools_);
    mapping.complete = !tools_.stop();
    mapping.candidates = std::move(candidates_.all());
    return mapping;
  }

  const MappingRequest& request_;
  const Tools& tools_;
  const SearchWork work_;
  const std::unique_ptr<Partitioner> own_;
  const Weighed weighed_;
  const MappingProblem problem_;
  Candidates candidates_;
  std::vector<Lattice> lattices_;
  std::vector<HopBound> bounds_;
};

Status check(const MappingRequest& request) {
  const std::int32_t ranks = request.traffic.ranks(), slots = request.host.size();
  if (ranks > slots)
    return wrong_value(fmt::format("the traffic must have at most {} ranks, one for each slot", slots), ranks,
                       "take more nodes or more ranks per node");
  if (request.grid && request.grid->places() != ranks)
    return wrong_value(fmt::format("the grid must have the {} ranks of the traffic", ranks), request.grid->text());
  std::vector<NamedMap> given = request.starts;
  if (request.usual) given.push_back(*request.usual);
  for (const NamedMap& start : given)
    if (start.map.ranks() != ranks || start.map.slots() != slots)
      return wrong_value(fmt::format("{} must place {} ranks in {} slots", start.name, ranks, slots),
                         fmt::format("{} in {}", start.map.ranks(), start.map.slots()));
  return Nothing{};
}

} // namespace

Result<Mapping> map_ranks(const MappingRequest& request, const Tools& tools) {
  if (const Status status = check(request); !status) return status.error();
  // With one rank a node all maps have the same bytes between nodes: hop-bytes decide.
  if (request.objective != Objective::off_node || request.host.has_one_slot_a_node())
    return MapSearch(request, request.host, tools).run();
  const Result<MappingHost> flat = without_distances(request.host);
  if (!flat) return flat.error();
  return MapSearch(request, *flat, tools).run();
}

} // namespace kumihimo::mapping
