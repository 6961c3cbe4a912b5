// direct: MPI's neighbourhood collectives by direct messages.
//
// Idea: a rank sends each destination its block (of neighbor_allgather the one that it has) and receives one of each
//   source: all at once, or on Cartesian axes up to `throttle` shifts after the others, a shift being what all ranks
//   send to the same side of the same axis. A block for the rank itself is copied.
// Wins: always where neighbours are neighbours on the network, too: no byte crosses a link that it need not.
//   A small throttle where many messages at once disturb each other.
// Special cases: messages of one rank to another are matched in their order, so both ends must have the same: the
//   sender's is that of its list, the receiver's Neighbourhood::order_of_arrival. Beyond the end of an axis there is
//   nobody: the block stays as it is. A graph's lists have no order that all ranks share, in which to throttle them.
// Reference: MPI 4.1, section 8.6; Hoefler, Träff, Sparse Collective Operations for MPI, HIPS 2009.
#include "collectives/patterns/blocks.hpp"

#include <fmt/format.h>

namespace kumihimo {
namespace {

const Formula neighbours("k", [](const CostCase& c) { return static_cast<double>(c.collective.most_blocks()); });

struct Sides {
  std::vector<Step> sends, receives; // in the order in which they are matched; of nobody a hole
};

Step hole() { return copy({}, {}); }

Sides sides_of(const Collective& c, Rank r, std::vector<Step>& copies) {
  const Neighbourhood& n = *c.neighbours;
  const bool one = !c.kind->sends_to_each();
  Sides sides;
  for (std::int64_t k = 0; const Neighbourhood::End to : n.destinations(r)) {
    const bool away = to.exists() && to.rank != r.value;
    sides.sends.push_back(away ? send(to.rank, in[in_block(one ? 0 : k)]) : hole());
    if (to.rank == r.value) copies.push_back(copy(out[out_block(to.block)], in[in_block(one ? 0 : k)]));
    ++k;
  }
  for (const std::int32_t k : n.order_of_arrival(r)) {
    const Neighbourhood::End from = n.sources(r)[static_cast<std::size_t>(k)];
    const bool away = from.exists() && from.rank != r.value;
    sides.receives.push_back(away ? receive(from.rank, out[out_block(k)]) : hole());
  }
  return sides;
}

void append_steps(std::vector<Step>& round, const std::vector<Step>& some, std::size_t first, std::size_t count) {
  for (std::size_t i = first; i < std::min(first + count, some.size()); ++i)
    if (some[i].sends() || some[i].receives()) round.push_back(some[i]);
}

void write_to_neighbours(LaneBuilder& lane, const Collective& c, Rank r, std::size_t at_once) {
  std::vector<Step> copies;
  const Sides sides = sides_of(c, r, copies);
  const std::size_t most = std::max(sides.sends.size(), sides.receives.size());
  for (std::size_t i = 0; i < most; i += at_once) {
    std::vector<Step> round;
    append_steps(round, sides.receives, i, at_once);
    append_steps(round, sides.sends, i, at_once);
    if (i == 0) round.insert(round.end(), copies.begin(), copies.end());
    if (!round.empty()) lane.round(std::move(round));
  }
}

Variant direct_to_neighbours() {
  using namespace cost;
  Variant v{.summary = "a message to each destination and from each source, all at once",
            .cost = {neighbours * (alpha + n * beta), {"equally many neighbours on each rank"}},
            .reference = "MPI 4.1, 8.6; Hoefler, Träff, HIPS 2009",
            .parameters = {{parameter::throttle, DerivedDefault{"all of them"}}}};
  v.recipe = [](const Collective& c, const RankSpace&, const Parameters& p) -> Result<Schedule> {
    if (p.throttle && !c.neighbours->is_cartesian())
      return not_applicable("--throttle works on Cartesian neighbours only, not on those of a graph", {},
                            "leave it out");
    const std::int32_t all = std::max(1, c.most_blocks());
    const std::int64_t at_once = std::min<std::int64_t>(p.throttle.value_or(all), all);
    Result<Schedule> s = one_lane(c, p, "direct", [c, at_once](ProgramBuilder&, LaneBuilder& lane, std::int64_t r) {
      write_to_neighbours(lane, c, Rank{static_cast<std::int32_t>(r)}, static_cast<std::size_t>(at_once));
    });
    if (!s) return s;
    if (p.throttle) s->parameters = fmt::format("throttle={}", at_once);
    s->claims.in_place_safe = false;
    return s;
  };
  return v;
}

} // namespace

Variant neighbor_allgather_direct::row() { return direct_to_neighbours(); }
Variant neighbor_alltoall_direct::row() { return direct_to_neighbours(); }

} // namespace kumihimo
