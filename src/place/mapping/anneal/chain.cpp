#include "mapping/anneal/chain.hpp"

#include "mapping/anneal/rank_costs.hpp"
#include "mapping/anneal/temperature.hpp"
#include "mapping/objective/hop_bytes.hpp"

#include <algorithm>
#include <array>

namespace kumihimo::mapping {
namespace {

constexpr int samples_of_heat = 12'800;
constexpr int batches_of_temperature = 64;
constexpr std::uint64_t local_of_256 = 205;         // proposals next to a partner; the others go anywhere
constexpr std::uint64_t busy_of_256 = 179;          // proposals of busy ranks, where there are such
constexpr std::size_t most_slots_scanned = 8192;    // by descend(), for each rank
constexpr std::int64_t most_cost_entries = 1 << 25; // 256 MiB a chain

struct Proposal {
  std::int32_t rank = 0, partner = -1, slot = 0;
  std::uint64_t bits = 0;
  bool busy = false; // the rank is one over whose links too much goes
};
using Proposals = std::array<Proposal, 64>;

struct Move {
  std::int32_t rank = 0, slot = -1, other = -1; // slot -1: stays on the node
  std::int32_t from = 0, to = 0;                // nodes
  std::int64_t added = 0;                       // hop-bytes, without twice_between()
  std::int64_t terms = 1;
};

template <class Costs, class Hops>
class ChainOf final : public Chain {
 public:
  ChainOf(const MappingProblem& problem, const Nearby& nearby, Assignment map, Costs costs, const Hops& hops,
          std::uint64_t seed)
      : Chain(problem, std::move(map)), graph_(problem.graph), host_(problem.host), nearby_(nearby),
        costs_(std::move(costs)), hops_(hops), random_(seed) {}

  void heat(double accepted) override {
    std::vector<double> uphill;
    for (std::size_t sample = 0; sample < samples_of_heat; sample += proposals_.size()) {
      propose();
      for (const Proposal& proposal : proposals_) {
        const Move move = move_of(proposal.rank, proposal.slot);
        const std::int64_t added = move.added + twice_between(move);
        if (added > 0) uphill.push_back(static_cast<double>(added));
      }
    }
    temperature_.heat(uphill, accepted);
  }

  void cool(double from, double to, std::int64_t terms, const std::function<bool()>& stop) override {
    std::int64_t left = terms;
    while (left > 0 && !stop()) {
      std::int64_t uphill = 0, accepted = 0;
      for (int batch = 0; batch < batches_of_temperature; ++batch) {
        propose();
        for (const Proposal& proposal : proposals_) left -= try_out(proposal, uphill, accepted);
      }
      const double done = from + (to - from) * (1 - static_cast<double>(left) / static_cast<double>(terms));
      temperature_.steer(std::min(done, 1.0), uphill, accepted);
    }
  }

  void descend(std::int64_t terms, const std::function<bool()>& stop) override {
    std::vector<std::int32_t> slots;
    bool gained = true;
    while (gained) {
      gained = false;
      for (std::int32_t rank = 0; rank < map_.ranks(); ++rank) {
        const bool all = static_cast<std::size_t>(map_.slots()) <= most_slots_scanned;
        if (!all) list_slots_near_partners(rank, slots);
        const std::int32_t count = all ? map_.slots() : static_cast<std::int32_t>(slots.size());
        Move best;
        std::int64_t least = 0;
        // Inside the loop: a hub's costs may take as many terms as it has partners, on each slot.
        for (std::int32_t at = 0; at < count; ++at) {
          if (terms <= 0 || stop()) return;
          const Move move = move_of(rank, all ? at : slots[static_cast<std::size_t>(at)]);
          terms -= move.terms;
          if (move.slot < 0 || move.added >= least) continue;
          const std::int64_t added = move.added + twice_between(move);
          if (added >= least) continue;
          if (guard_) {
            terms -= terms_of_routes(move);
            if (!guard_->admits(map_, rank, move.slot)) continue;
          }
          least = added, best = move;
        }
        if (least == 0 || (guard_ && !guard_->take(map_, best.rank, best.slot, least, 0))) continue;
        terms -= take(best, least);
        gained = true;
      }
    }
  }

  void restart_from(const Chain& other) override {
    const auto& same = static_cast<const ChainOf&>(other);
    map_ = same.map_;
    hop_bytes_ = same.hop_bytes_;
    costs_ = same.costs_;
    temperature_ = same.temperature_;
  }

 private:
  // Several proposals at once, so that their loads from memory overlap. A slot is next to where the partner was before
  // the first of them.
  void propose() {
    for (Proposal& proposal : proposals_) {
      const std::uint64_t bits = random_.next();
      proposal.bits = random_.next();
      proposal.busy = guard_ && !guard_->busy_ranks().empty() && (proposal.bits & 0xff) < busy_of_256;
      proposal.rank = proposal.busy
                          ? any_of(guard_->busy_ranks(), bits)
                          : static_cast<std::int32_t>((bits >> 32) * static_cast<std::uint64_t>(map_.ranks()) >> 32);
      const std::span<const TrafficGraph::Edge> edges = graph_.of(proposal.rank);
      const bool local = (bits & 0xff) < local_of_256 && !edges.empty();
      proposal.partner = local ? edges[static_cast<std::size_t>((bits >> 8 & 0xffff) * edges.size() >> 16)].to : -1;
    }
    for (Proposal& proposal : proposals_) {
      proposal.slot = slot_for(proposal);
      const std::int32_t from = host_.node(map_.slot(proposal.rank)), to = host_.node(proposal.slot);
      costs_.prefetch(proposal.rank, from, to);
      if (const std::int32_t other = map_.rank_in(proposal.slot); other >= 0) costs_.prefetch(other, from, to);
    }
  }

  static std::int32_t any_of(const std::vector<std::int32_t>& ranks, std::uint64_t bits) {
    return ranks[static_cast<std::size_t>((bits >> 32) * ranks.size() >> 32)];
  }

  std::int32_t slot_for(const Proposal& proposal) const {
    const std::uint64_t bits = proposal.bits;
    if (proposal.partner < 0)
      return static_cast<std::int32_t>((bits >> 32) * static_cast<std::uint64_t>(map_.slots()) >> 32);
    const std::span<const std::int32_t> near = nearby_.of(host_.node(map_.slot(proposal.partner)));
    if (near.empty()) return map_.slot(proposal.rank);
    return nearby_.slot_on(near[static_cast<std::size_t>((bits >> 48) * near.size() >> 16)], bits >> 32);
  }

  // Takes the proposal or refuses it; the terms that this took.
  std::int64_t try_out(const Proposal& proposal, std::int64_t& uphill, std::int64_t& accepted) {
    const Move move = move_of(proposal.rank, proposal.slot);
    if (move.slot < 0) return move.terms;
    const auto limit = static_cast<std::int64_t>(temperature_.value() * exponentials_(proposal.bits));
    const std::int64_t added = move.added > limit ? move.added : move.added + twice_between(move);
    if (added > 0) ++uphill;
    if (added > 0 && added <= limit) ++accepted;
    if (guard_) return move.terms + try_guarded(proposal, move, added, limit);
    return added > limit ? move.terms : move.terms + take(move, added);
  }

  // A busy rank may go further than the limit if that relieves a link.
  std::int64_t try_guarded(const Proposal& proposal, const Move& move, std::int64_t added, std::int64_t limit) {
    if (added > limit && !(proposal.busy && guard_->price > 0)) return 0;
    const std::int64_t exact = added > limit ? move.added + twice_between(move) : added;
    if (!guard_->take(map_, move.rank, move.slot, exact, limit)) return terms_of_routes(move);
    return terms_of_routes(move) + take(move, exact);
  }

  std::int64_t terms_of_routes(const Move& move) const {
    const std::size_t degrees = graph_.degree(move.rank) + (move.other < 0 ? 0 : graph_.degree(move.other));
    return static_cast<std::int64_t>(16 * degrees);
  }

  Move move_of(std::int32_t rank, std::int32_t slot) const {
    Move move{rank, -1, -1, host_.node(map_.slot(rank)), host_.node(slot)};
    if (move.from == move.to) return move;
    move.slot = slot;
    move.other = map_.rank_in(slot);
    move.added = costs_.of(rank, move.to) - costs_.of(rank, move.from);
    move.terms = 2 * Costs::terms_of_cost(graph_.degree(rank));
    if (move.other >= 0) {
      move.added += costs_.of(move.other, move.from) - costs_.of(move.other, move.to);
      move.terms += 2 * Costs::terms_of_cost(graph_.degree(move.other));
    }
    return move;
  }

  // The distance between two ranks that change places stays the same; the two costs take it for 0. It adds at least 0.
  std::int64_t twice_between(const Move& move) const {
    if (move.other < 0) return 0;
    const std::span<const TrafficGraph::Edge> edges = graph_.of(move.rank);
    const auto edge =
        std::lower_bound(edges.begin(), edges.end(), move.other,
                         [](const TrafficGraph::Edge& each, std::int32_t other) { return each.to < other; });
    return edge == edges.end() || edge->to != move.other ? 0 : 2 * edge->bytes * hops_(move.from, move.to);
  }

  std::int64_t take(const Move& move, std::int64_t added) {
    map_.exchange(move.rank, move.slot);
    hop_bytes_ += added;
    costs_.moved(move.rank, move.from, move.to);
    std::int64_t terms = costs_.terms_of_move(graph_.degree(move.rank), move.from, move.to);
    if (move.other < 0) return terms;
    costs_.moved(move.other, move.to, move.from);
    return terms + costs_.terms_of_move(graph_.degree(move.other), move.from, move.to);
  }

  void list_slots_near_partners(std::int32_t rank, std::vector<std::int32_t>& slots) const {
    slots.clear();
    for (const TrafficGraph::Edge& edge : graph_.of(rank)) {
      for (const std::int32_t node : nearby_.of(host_.node(map_.slot(edge.to)))) nearby_.append_slots(node, slots);
      if (slots.size() >= most_slots_scanned) break;
    }
    std::sort(slots.begin(), slots.end());
    slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  }

  const TrafficGraph& graph_;
  const MappingHost& host_;
  const Nearby& nearby_;
  Costs costs_;
  Hops hops_;
  Random random_;
  Exponentials exponentials_;
  Temperature temperature_;
  Proposals proposals_;
};

std::int64_t cost_entries(const MappingProblem& problem) {
  std::int64_t width = 0;
  for (const Axis& axis : problem.host.metric.axes().axes()) width += axis.length;
  return width * problem.graph.ranks();
}

template <int axes, class Hops>
std::unique_ptr<Chain> chain_on_axes(const MappingProblem& problem, const Nearby& nearby, Assignment map,
                                     const Hops& hops, std::uint64_t seed) {
  AxisCosts<axes> costs(problem.graph, problem.host, map);
  return std::make_unique<ChainOf<AxisCosts<axes>, Hops>>(problem, nearby, std::move(map), std::move(costs), hops,
                                                          seed);
}

} // namespace

Chain::Chain(const MappingProblem& problem, Assignment map)
    : map_(std::move(map)), hop_bytes_(mapping::hop_bytes(problem.graph, problem.host, map_)) {}

std::unique_ptr<Chain> Chain::make(const MappingProblem& problem, const Nearby& nearby, Assignment map,
                                   std::uint64_t seed) {
  const Metric& metric = problem.host.metric;
  return metric.visit([&](const auto& hops) -> std::unique_ptr<Chain> {
    if (metric.has_axes() && cost_entries(problem) <= most_cost_entries) {
      switch (metric.axes().dimensions()) {
      case 1: return chain_on_axes<1>(problem, nearby, std::move(map), hops, seed);
      case 2: return chain_on_axes<2>(problem, nearby, std::move(map), hops, seed);
      case 3: return chain_on_axes<3>(problem, nearby, std::move(map), hops, seed);
      case 4: return chain_on_axes<4>(problem, nearby, std::move(map), hops, seed);
      case 5: return chain_on_axes<5>(problem, nearby, std::move(map), hops, seed);
      default: return chain_on_axes<6>(problem, nearby, std::move(map), hops, seed);
      }
    }
    using Hops = std::decay_t<decltype(hops)>;
    PartnerCosts<Hops> costs(problem.graph, problem.host, map, hops);
    return std::make_unique<ChainOf<PartnerCosts<Hops>, Hops>>(problem, nearby, std::move(map), std::move(costs), hops,
                                                               seed);
  });
}

} // namespace kumihimo::mapping
