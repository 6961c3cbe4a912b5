// direct: MPI's neighbourhood collectives by direct messages.
//
// Idea: a rank sends each destination its block (of neighbor_allgather the one that it has) and receives one of each
//   source: all at once, or on Cartesian axes up to `throttle` shifts after the others, a shift being what all ranks
//   send to the same side of the same axis; or sends up to `send_window` and receives up to `receive_window` shifts at
//   once, each whatever the other does. A block for the rank itself is copied.
// Wins: always where neighbours are neighbours on the network, too: no byte crosses a link that it need not.
//   A small throttle where many messages at once disturb each other.
// Special cases: messages of one rank to another are matched in their order, so both ends must have the same: the
//   sender's is that of its list, the receiver's Neighbourhood::order_of_arrival. Beyond the end of an axis there is
//   nobody: the block stays as it is. A graph's lists have no order that all ranks share, in which to throttle them.
//   Nobody waits for ever in windows: exchange_windows.hpp's reason holds for shifts in place of distances.
// Reference: MPI 4.1, section 8.6; Hoefler, Träff, Sparse Collective Operations for MPI, HIPS 2009.
#include "collectives/patterns/blocks.hpp"
#include "collectives/patterns/exchange_windows.hpp"

#include <fmt/format.h>

namespace kumihimo {
namespace {

const Formula neighbours("k", [](const CostCase& c) { return static_cast<double>(c.collective.most_blocks()); });

struct Sides {
  std::vector<Step> sends, receives; // in the order in which they are matched; of nobody a hole
};

Step hole() { return copy({}, {}); }
bool is_message(const Step& step) { return step.sends() || step.receives(); }

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

using Lists = std::vector<const std::vector<Step>*>;

std::size_t longest(const Lists& lists) {
  std::size_t most = 0;
  for (const std::vector<Step>* const list : lists) most = std::max(most, list->size());
  return most;
}

// Rounds of `at_once` steps of each list, and the copies in the first.
void write_batches(BodyBuilder& body, const Lists& lists, std::size_t at_once, const std::vector<Step>& copies) {
  for (std::size_t first = 0, most = longest(lists); first < most; first += at_once) {
    std::vector<Step> round;
    for (const std::vector<Step>* const list : lists)
      for (std::size_t i = first; i < std::min(first + at_once, list->size()); ++i)
        if (is_message((*list)[i])) round.push_back((*list)[i]);
    if (first == 0) round.insert(round.end(), copies.begin(), copies.end());
    if (!round.empty()) body.round(std::move(round));
  }
}

void write_to_neighbours(LaneBuilder& lane, const Collective& c, Rank r, const ExchangeWindows& windows) {
  std::vector<Step> copies;
  const Sides sides = sides_of(c, r, copies);
  const auto at_once = [](std::int64_t window) { return static_cast<std::size_t>(window); };
  const bool halves = windows.apart && std::min(windows.sends, windows.receives) < c.most_blocks();
  if (!halves)
    return write_batches(lane, {&sides.receives, &sides.sends},
                         at_once(windows.apart ? c.most_blocks() : windows.rounds), copies);
  const auto write_half = [](BodyBuilder& both, const std::vector<Step>& steps, std::size_t window,
                             const std::vector<Step>& beside) {
    if (beside.empty() && std::ranges::none_of(steps, is_message)) return;
    both.loop(1, [&](BodyBuilder& half, Variable) { write_batches(half, {&steps}, window, beside); });
  };
  lane.together([&](BodyBuilder& both) { // receives first, so that they are posted when the sends start
    write_half(both, sides.receives, at_once(windows.receives), copies);
    write_half(both, sides.sends, at_once(windows.sends), {});
  });
}

Variant direct_to_neighbours() {
  using namespace cost;
  Variant v{.summary = "a message to each destination and from each source, all at once",
            .cost = {neighbours * (alpha + n * beta), {"equally many neighbours on each rank"}},
            .reference = "MPI 4.1, 8.6; Hoefler, Träff, HIPS 2009",
            .parameters = window_parameters()};
  v.recipe = [](const Collective& c, const RankSpace&, const Parameters& p) -> Result<Schedule> {
    if (!c.neighbours->is_cartesian())
      for (const Variant::Parameter& each : window_parameters())
        if (each.parameter->is_given(p))
          return not_applicable(
              fmt::format("{} works on Cartesian neighbours only, not on those of a graph", each.parameter->name), {},
              "leave it out");
    const ExchangeWindows windows = ExchangeWindows::of(p, c.most_blocks());
    Result<Schedule> s = one_lane(c, p, "direct", [c, windows](ProgramBuilder&, LaneBuilder& lane, std::int64_t r) {
      write_to_neighbours(lane, c, Rank{static_cast<std::int32_t>(r)}, windows);
    });
    if (!s) return s;
    if (p.throttle || windows.apart) s->parameters = windows.text();
    s->claims.in_place_safe = false;
    return s;
  };
  return v;
}

} // namespace

Variant neighbor_allgather_direct::row() { return direct_to_neighbours(); }
Variant neighbor_alltoall_direct::row() { return direct_to_neighbours(); }

} // namespace kumihimo
