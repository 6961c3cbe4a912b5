#include "mapping/bounds/best_flow.hpp"
#include "mapping/bounds/bounds.hpp"
#include "mapping/bounds/cuts.hpp"
#include "mapping/bounds/exhaustive.hpp"
#include "mapping/bounds/near_slots.hpp"
#include "mapping/bounds/parity.hpp"
#include "mapping/bounds/star.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kumihimo::mapping {
namespace {

constexpr std::int32_t most_ranks_to_try = 9;
constexpr std::int64_t most_terms_to_try = 5'000'000;
constexpr std::int64_t terms_a_rank = 100'000, most_terms = 500'000'000;

class BoundSearch {
 public:
  BoundSearch(const MappingProblem& problem, std::span<const Lattice> lattices, std::int64_t terms, const Tools& tools)
      : problem_(problem), lattices_(lattices), tools_(tools), unit_(common_divisor(problem.graph)),
        terms_(std::min({terms, most_terms, terms_a_rank * problem.graph.ranks()})) {}

  std::vector<HopBound> bounds() {
    const std::vector<std::int64_t> within = slots_within(problem_.host);
    add("star", star_bound(problem_.graph, within, star_rounds(), tools_),
        "the heaviest partners of each rank are on the nearest slots");
    const auto steps = [&](auto&& step) {
      if (!tools_.stop() && terms_ > 0) step();
    };
    steps([&] { add_cuts(); });
    steps([&] { add_parity(within); });
    steps([&] { add_exhaustive(); });
    std::stable_sort(bounds_.begin(), bounds_.end(),
                     [](const HopBound& a, const HopBound& b) { return a.average_hops > b.average_hops; });
    return std::move(bounds_);
  }

 private:
  std::int64_t edges() const { return static_cast<std::int64_t>(problem_.graph.edges.size()); }
  int star_rounds() const {
    return static_cast<int>(std::min<std::int64_t>(60, terms_ / 16 / std::max<std::int64_t>(1, edges())));
  }

  // All hop-bytes are multiples of the unit.
  void add(const char* name, std::int64_t hop_bytes, std::string why) {
    hop_bytes = (hop_bytes + unit_ - 1) / unit_ * unit_;
    best_ = std::max(best_, hop_bytes);
    bounds_.push_back({name, average(hop_bytes), std::move(why)});
  }

  // A weighed graph has the bytes of the traffic over a power of two, each edge off by less than one: its bytes may be
  // one more an edge, and the hop-bytes fewer by the longest distance an edge.
  double average(std::int64_t hop_bytes) const {
    const auto bytes = static_cast<double>(problem_.graph.bytes());
    if (bytes <= 0) return 0;
    if (problem_.graph.bytes() == problem_.traffic.bytes()) return static_cast<double>(hop_bytes) / bytes;
    const double off = static_cast<double>(edges()) / 2;
    const double least = static_cast<double>(hop_bytes) - off * problem_.host.network->diameter();
    return std::max(0.0, least / (bytes + off) * (1 - 0x1p-50));
  }

  void add_exhaustive() {
    if (problem_.graph.ranks() > most_ranks_to_try) return;
    if (const auto fewest =
            fewest_by_trying(problem_.graph, problem_.host, std::min(terms_, most_terms_to_try), tools_))
      add("exhaustive", *fewest, "all placements were tried");
  }

  void add_parity(std::span<const std::int64_t> within) {
    // A cycle has three edges or more, so the extra hop-bytes are a third of all bytes or less.
    if (!is_bipartite(problem_.host) || best_ - problem_.graph.bytes() >= problem_.graph.bytes() / 3 + 1) return;
    const CyclePacking packing = pack_odd_cycles(problem_.graph, terms_ / 8, tools_);
    if (packing.extra_bytes == 0) return;
    add("parity", packing.hop_bytes + star_bound(packing.rest, within, star_rounds(), tools_),
        "the network has even cycles only, so an odd cycle of ranks has an edge of two hops");
  }

  void add_cuts() {
    const std::int64_t ranks = problem_.graph.ranks();
    const std::vector<CutFamily> families = cut_families(problem_.host, ranks);
    const double of_a_byte = fewest_hop_bytes(families, 1, ranks, 1);
    if (of_a_byte <= 0) return;
    // The rounding up to units adds less than a unit a cut.
    double cuts = 0;
    for (const CutFamily& family : families) cuts += static_cast<double>(family.cuts * family.halves) / 2;
    FlowLimits limits;
    limits.useless = (static_cast<double>(best_) - cuts * static_cast<double>(unit_)) / of_a_byte * 0.999;
    limits.terms = terms_;
    const double flow = best_flow(problem_, lattices_, limits, tools_);
    if (flow <= 0) return;
    const double units = std::ceil(fewest_hop_bytes(families, flow, ranks, unit_) / static_cast<double>(unit_));
    add("cuts", static_cast<std::int64_t>(units) * unit_,
        "distances are sums of cuts of the network, and each cut separates many bytes");
  }

  const MappingProblem& problem_;
  std::span<const Lattice> lattices_;
  const Tools& tools_;
  std::int64_t unit_;
  std::int64_t terms_;
  std::int64_t best_ = 0;
  std::vector<HopBound> bounds_;
};

} // namespace

std::vector<HopBound> hop_bounds(const MappingProblem& problem, std::span<const Lattice> lattices, std::int64_t terms,
                                 const Tools& tools) {
  return BoundSearch(problem, lattices, terms, tools).bounds();
}

} // namespace kumihimo::mapping
