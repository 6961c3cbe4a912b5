// paced, two_phase, three_phase: alltoall along one axis after the other.
//
// Idea: an array of P slots. Before the phase of an axis a slot's coordinate on it is that of the block's destination,
//   after it that of its source: at distance h a rank sends the slots of the coordinate h further, all in one message,
//   and so a block is delivered along one axis and injected again for the next. paced has a phase for each axis of a
//   torus and goes through its distances in step: all ranks send over h hops at the same time, forwards on one lane and
//   backwards on the other, so that each link carries h messages; hence a gap of h - 1 lengths after each. Rotations of
//   the axes' order share the blocks, each on links that the others do not use at that time. two_phase and three_phase
//   put the axes, or factors of P, in that many groups, and exchange within a group directly.
// Wins: paced: long blocks on a torus, where unpaced messages disturb each other; the others: short blocks, fewer
//   messages (2 sqrt P, 3 cbrt P) of more bytes.
// Special cases: equal counts alone, since ranks relay others' blocks. paced needs a torus in its own order. Which way
//   a message goes to the opposite place of an even ring is the network's choice, another one for every second rank,
//   and loads links unequally; so half of it is sent either way over L/2 - 1 hops, to a rank that sends it over the
//   last. On a virtual axis of Tofu longer than 4 messages take other ways than along the ring: some links carry fewer
//   than h messages, none more (ADR 0024). One phase alone, in place, puts the input aside first.
// Reference: systematised from the K computer's MPI (Adachi et al., 2012); Jain, Sabharwal, ICS 2010 (phases).
#include "base/int128.hpp"
#include "collectives/patterns/blocks.hpp"
#include "collectives/patterns/exchange_windows.hpp"
#include "collectives/patterns/ring_axes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kumihimo {
namespace {

struct AxisPhase {
  std::int64_t length = 1, stride = 1; // of the axis, or of several beside each other
  bool both_ways = false;              // a lane for either direction

  bool has_opposite() const { return both_ways && length % 2 == 0; } // a place as far one way as the other
};

struct PhasePlan {
  std::vector<AxisPhase> phases; // of the first rotation
  std::int64_t rotations = 1;
  ExchangeWindows windows; // of the distances of a phase
  std::optional<std::int64_t> gap;
  bool paced = false;

  const AxisPhase& phase(std::int64_t rotation, std::size_t j) const {
    return phases[(static_cast<std::size_t>(rotation) + j) % phases.size()];
  }
  LaneId lane(std::int64_t rotation, std::size_t j, int direction) const {
    return LaneId{static_cast<std::int32_t>(
        (rotation * static_cast<std::int64_t>(phases.size()) + static_cast<std::int64_t>(j)) * 2 + direction + 1)};
  }
};

class PhaseWriter {
 public:
  PhaseWriter(const PhasePlan& plan, const Collective& c, std::int64_t rank) : plan_(plan), c_(c), rank_(rank) {}

  Program write() {
    // Slots lie in the input, then in scratch, in turn, and at last in the output.
    const std::size_t n = plan_.phases.size();
    const bool aside = n == 1 && c_.in_place;
    std::vector<Slots> slots{{in, Layout::input_blocks}};
    std::vector<Slots> kept;
    for (std::size_t i = 0; i < std::min<std::size_t>(aside ? 1 : n - 1, 2); ++i)
      kept.push_back({program_.scratch(Scratch{LaneId{0}, true, Layout::output_blocks, 1, c_.ranks, 1, true, 0}),
                      Layout::output_blocks});
    if (aside) {
      LaneBuilder first(LaneId{0}, "input aside", 1);
      first.step(copy(kept[0].array[blocks(Layout::output_blocks, 0, c_.ranks)],
                      in[blocks(Layout::input_blocks, 0, c_.ranks)]));
      program_.add(std::move(first));
      slots[0] = kept[0];
    }
    add_relay();
    for (std::size_t j = 0; j + 1 < n; ++j) slots.push_back(kept[j % 2]);
    slots.push_back({out, Layout::output_blocks});
    for (std::int64_t rotation = 0; rotation < plan_.rotations; ++rotation)
      for (std::size_t j = 0; j < n; ++j)
        for (const int direction : {0, 1}) add_lane(rotation, j, direction, slots[j], slots[j + 1]);
    return program_.finish();
  }

 private:
  struct Slots {
    Array array;
    Layout layout;
  };

  // Which of equal shares of each block.
  struct Share {
    std::int64_t part = 0, parts = 1;
    Extent of(Extent e) const { return e.part = part, e.parts = parts, e; }
  };

  // The slots whose coordinate is x.
  Chunk slab(const Slots& slots, const AxisPhase& phase, const Expression& x, const Share& share) const {
    const std::int64_t period = phase.stride * phase.length;
    Extent e = blocks(slots.layout, x * phase.stride, phase.stride);
    e.runs[0].inner = {period, c_.ranks / period};
    return slots.array[share.of(std::move(e))];
  }

  // Room for what is on its way to opposite places. All lanes share it: those of one time hold other shares of blocks.
  void add_relay() {
    std::int64_t most = 0;
    for (const AxisPhase& phase : plan_.phases)
      if (phase.has_opposite()) most = std::max(most, c_.ranks / phase.length);
    if (most > 0) relay_ = program_.scratch(Scratch{LaneId{0}, true, Layout::output_blocks, 1, most, 1, true, 0});
  }

  void add_lane(std::int64_t rotation, std::size_t j, int direction, const Slots& before, const Slots& after) {
    const AxisPhase& phase = plan_.phase(rotation, j);
    const std::int64_t L = phase.length, x = rank_ / phase.stride % L, rest = rank_ - x * phase.stride;
    const std::int64_t way = direction == 0 ? 1 : -1;
    const std::int64_t farthest = phase.both_ways ? (L - 1) / 2 : direction == 0 ? L - 1 : 0;
    if (farthest == 0) return;
    LaneBuilder lane(
        plan_.lane(rotation, j, direction),
        fmt::format("phase {}{}", j + 1, phase.both_ways ? (direction == 0 ? ", forwards" : ", backwards") : ""), 1);
    lane.after(j == 0 ? std::vector{LaneId{0}}
                      : std::vector{plan_.lane(rotation, j - 1, 0), plan_.lane(rotation, j - 1, 1)},
               Scope::segment);
    const Share mine{rotation, plan_.rotations}, half{2 * rotation + direction, 2 * plan_.rotations};
    const auto rank = [&](const Expression& at) { return at * phase.stride + rest; };
    if (direction == 0) lane.step(copy(slab(after, phase, x, mine), slab(before, phase, x, mine)));
    plan_.windows.write(lane, farthest, [&](Variable i) {
      const Expression to = mod(x + way * (Expression(i) + 1), L), from = mod(x - way * (Expression(i) + 1), L);
      return with_gap(
          exchange(rank(to), slab(before, phase, to, mine), rank(from), into(slab(after, phase, from, mine))),
          Expression(i), phase, mine);
    });
    if (phase.has_opposite()) {
      const auto at = [&](std::int64_t hops) { return mod(Expression(x + way * hops), L); };
      const Expression opposite = at(L / 2);
      const Chunk held = relay_[half.of(blocks(Layout::output_blocks, 0, c_.ranks / L))];
      lane.round(
          with_gap(exchange(rank(at(L / 2 - 1)), slab(before, phase, opposite, half), rank(at(1 - L / 2)), into(held)),
                   L / 2 - 2, phase, half));
      lane.round(with_gap(exchange(rank(at(1)), held, rank(at(-1)), into(slab(after, phase, opposite, half))), 0, phase,
                          half));
    }
    program_.add(std::move(lane));
  }

  // Adds a pause after the round: `messages` times the time of one of its messages, or the gap that was asked for.
  // paced() bounds the product.
  Round with_gap(Round round, const Expression& messages, const AxisPhase& phase, const Share& share) const {
    const std::int64_t bytes = c_.ranks / phase.length * c_.bytes().value / share.parts;
    if (plan_.paced) round.gap = plan_.gap ? Expression(*plan_.gap * bytes) : messages * bytes;
    return round;
  }

  const PhasePlan& plan_;
  const Collective& c_;
  std::int64_t rank_;
  ProgramBuilder program_;
  Array relay_;
};

Schedule schedule_of(const Collective& c, PhasePlan plan, std::string parameters) {
  Schedule s(c);
  s.parameters = std::move(parameters);
  s.claims.neighbours_only = false;
  s.claims.in_place_safe = plan.phases.size() > 1 || c.in_place;
  s.program = [c, plan = std::move(plan)](Rank r) { return PhaseWriter(plan, c, r.value).write(); };
  return s;
}

Result<std::vector<AxisPhase>> phases_of_axes(const RankSpace& space) {
  const RingAxes rings = TRY(ring_axes(space, RankOrder::row_major));
  const Shape& shape = space.shape();
  std::vector<AxisPhase> phases;
  for (const std::int32_t a : rings.axes)
    phases.push_back({shape.length(a), shape.stride(a), shape.axes()[static_cast<std::size_t>(a)].is_ring()});
  return phases;
}

Result<Schedule> paced(const Collective& c, const RankSpace& space, const Parameters& p) {
  std::vector<AxisPhase> phases = TRY(phases_of_axes(space));
  PhasePlan plan{std::move(phases), 1, {}, p.gap, true};
  const auto most = static_cast<std::int64_t>(plan.phases.size());
  plan.rotations = p.trees.value_or(most);
  if (plan.rotations > most)
    return not_applicable(fmt::format("trees must be at most {} on these axes", most), plan.rotations);
  for (const AxisPhase& phase : plan.phases) {
    const Wide bytes = Wide{c.ranks / phase.length} * c.bytes().value, messages = p.gap.value_or(phase.length - 1);
    if (std::max<Wide>(1, messages) * bytes > std::numeric_limits<std::int64_t>::max())
      return not_applicable("the idle time after a message must be less than 2^63 bytes",
                            fmt::format("{} messages of {} x {} bytes", static_cast<std::int64_t>(messages),
                                        c.ranks / phase.length, c.bytes().value),
                            "take a smaller gap or fewer bytes");
  }
  const std::string said = fmt::format("rotations={}{}", plan.rotations, p.gap ? fmt::format(" gap={}", *p.gap) : "");
  return schedule_of(c, std::move(plan), said);
}

// The largest divisor of n up to the root of it.
std::int64_t middle_divisor(std::int64_t n, int root) {
  auto d = static_cast<std::int64_t>(std::floor(std::pow(static_cast<double>(n), 1.0 / root) + 1e-9));
  while (n % d != 0) --d;
  return d;
}

// Axes of a torus put together from the last on, where they are more than the phases; factors of P elsewhere.
Result<std::vector<AxisPhase>> groups_of(const RankSpace& space, std::int64_t P, int phases) {
  std::vector<std::int64_t> lengths;
  if (space.has_shape() && space.row_major())
    for (const Axis& axis : space.shape().axes())
      if (axis.length > 1) lengths.push_back(axis.length);
  const auto wanted = static_cast<std::size_t>(phases);
  if (lengths.size() < wanted) {
    lengths.clear();
    std::int64_t rest = P;
    for (int left = phases; left > 1; --left) {
      lengths.push_back(middle_divisor(rest, left));
      rest /= lengths.back();
    }
    lengths.push_back(rest);
    if (std::count(lengths.begin(), lengths.end(), 1) > 0)
      return not_applicable(
          fmt::format("the algorithm needs a number of ranks that is the product of {} factors", phases), P);
  }
  for (; lengths.size() > wanted; lengths.pop_back()) lengths[lengths.size() - 2] *= lengths.back();
  std::vector<AxisPhase> groups;
  std::int64_t stride = 1;
  for (auto length = lengths.rbegin(); length != lengths.rend(); stride *= *length++)
    groups.push_back({*length, stride, false});
  return groups;
}

constexpr auto equal_blocks = "all blocks must be equally long, because ranks relay blocks of other ranks";

Variant grouped_phases(int phases, Cost cost) {
  return {.summary = fmt::format("blocks exchanged within groups of ranks, {} times", phases),
          .cost = std::move(cost),
          .reference = "Jain, Sabharwal, ICS 2010",
          .parameters = window_parameters(),
          .equal_counts = equal_blocks,
          .recipe = [phases](const Collective& c, const RankSpace& space, const Parameters& p) -> Result<Schedule> {
            std::vector<AxisPhase> groups = TRY(groups_of(space, c.ranks, phases));
            std::vector<std::int64_t> lengths;
            for (const AxisPhase& g : groups) lengths.push_back(g.length);
            const ExchangeWindows windows = ExchangeWindows::of(p, c.ranks);
            std::string said = fmt::format("groups={}", fmt::join(lengths, "x"));
            if (windows.apart) said += " " + windows.text();
            return schedule_of(c, PhasePlan{std::move(groups), 1, windows, {}, false}, std::move(said));
          }};
}

} // namespace

Variant alltoall_paced::row() {
  using namespace cost;
  return {.summary = "axis by axis on a torus; in each round all ranks send over the same distance, with pauses",
          .cost = {sum_of_lengths * alpha + n * P * longest / 8 * beta,
                   {"a torus whose links alone limit it", [](const CostCase&) { return false; }}},
          .reference = "Adachi et al., CSRD 28 (2013)",
          .parameters = {{parameter::trees, DerivedDefault{"dimensions"}},
                         {parameter::gap, DerivedDefault{"distance - 1"}}},
          .equal_counts = equal_blocks,
          .recipe = paced};
}
Variant alltoall_two_phase::row() {
  using namespace cost;
  return grouped_phases(2, {2 * (root_P - 1) * (alpha + root_P * n * beta), squares});
}
Variant alltoall_three_phase::row() {
  using namespace cost;
  return grouped_phases(3, {3 * (cube_root_P - 1) * (alpha + cube_root_P * cube_root_P * n * beta), cubes});
}

} // namespace kumihimo
