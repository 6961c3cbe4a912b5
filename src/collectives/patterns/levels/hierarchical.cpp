// The combinator of levels: the schedule of a collective as that of its stages, each of which is a schedule of the
// registry, embedded as it is. The idea, the stages of each collective and the reference are in
// families/hierarchical.cpp.
#include "collectives/patterns/levels/hierarchical.hpp"

#include "collectives/patterns/blocks.hpp"
#include "collectives/patterns/levels/composite.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>

namespace kumihimo {
namespace {

// Scratch that all lanes of a rank share, by its number; -1: none.
struct LeaderScratch {
  std::int32_t partial = -1, own_results = -1; // of leaders, beside their buffers
  std::int32_t arrived = -1;                   // of leaders, where Composite::relayed
  std::int32_t input = -1, output = -1;        // in order of the seats
};

// Where a rank's own blocks in order of the seats lie: of its input, of its output.
EmbeddedBuffer seated(const Composite& whole, Rank rank, bool input) {
  const std::int64_t seat = whole.groups.seat_of(rank), P = whole.collective.ranks;
  if (!whole.collective.kind->of_pairs()) return {{}, SeatOrders::seats, 0};
  return {{}, input ? SeatOrders::pairs_by_source : SeatOrders::pairs_by_destination, seat * P};
}

LeaderScratch declare_scratch(const Composite& whole, Rank rank, Program& program) {
  const Collective& c = whole.collective;
  const auto add = [&](Layout layout, std::int64_t units, std::int64_t first) {
    program.scratch.push_back(Scratch{LaneId{0}, true, layout, 1, units, 1, true, first});
    return static_cast<std::int32_t>(program.scratch.size()) - 1;
  };
  const std::int64_t P = c.ranks;
  const RankGroup& group = whole.groups.of(rank);
  const std::int64_t size = group.size(), first = group.first_seat;
  const bool leads = whole.groups.leads(rank), seats = whole.seats_blocks();
  LeaderScratch shared;
  const bool to_root = c.kind->output.whose == WhichRanks::root, reduces_blocks = c.reduces() && whole.of_blocks();
  if (c.kind->is_vector() && to_root && leads && rank != c.root) shared.partial = add(Layout::vector, 1, 0);
  if (c.kind->of_pairs() && leads) {
    shared.partial = add(SeatOrders::pairs_by_group, size * P, first * P);
    shared.own_results = add(SeatOrders::pairs_by_destination, size * P, first * P);
    if (whole.relayed) shared.arrived = add(SeatOrders::pairs_by_group, size * P, first * P);
  }
  const Layout inputs = seats ? SeatOrders::seats : Layout::input_blocks,
               outputs = seats ? inputs : Layout::output_blocks;
  if (reduces_blocks && leads) shared.partial = add(inputs, P, 0);
  if (whole.of_blocks() && !c.reduces() && to_root && leads) shared.partial = add(inputs, size, first);
  if (c.kind->output.part == Part::block && leads) shared.own_results = add(outputs, size, first);
  const EmbeddedBuffer in_seats = seated(whole, rank, true), out_seats = seated(whole, rank, false);
  if (whole.seats_input(rank)) shared.input = add(in_seats.layout, P, in_seats.before);
  if (whole.seats_output(rank)) shared.output = add(out_seats.layout, P, out_seats.before);
  return shared;
}

// Where a stage finds its data, or puts them.
EmbeddedBuffer spot_of(const Composite& whole, StageBuffer where, Rank rank, const LeaderScratch& shared) {
  const bool pairs = whole.collective.kind->of_pairs(), seats = whole.seats_blocks();
  const std::int64_t before = pairs ? whole.groups.seat_of(rank) * whole.collective.ranks : 0; // of all pairs
  const auto in_scratch = [](std::int32_t scratch, Layout layout) {
    return EmbeddedBuffer{{{Buffer::Kind::scratch, scratch}}, layout, 0};
  };
  const auto own_block = [&](const Array& array, Layout layout) {
    return EmbeddedBuffer{array, layout, 0, std::int64_t{rank.value}};
  };
  switch (where) {
  case StageBuffer::input:
    if (shared.input >= 0) return in_scratch(shared.input, seated(whole, rank, true).layout);
    return seats ? own_block(in, Layout::input_blocks) : EmbeddedBuffer{in, Layout::input_blocks, before};
  case StageBuffer::partial:
    if (shared.partial < 0) return {out, Layout::output_blocks, 0};
    return in_scratch(shared.partial, pairs   ? SeatOrders::pairs_by_group
                                      : seats ? SeatOrders::seats
                                              : Layout::input_blocks);
  case StageBuffer::own_results:
    return in_scratch(shared.own_results, pairs   ? SeatOrders::pairs_by_destination
                                          : seats ? SeatOrders::seats
                                                  : Layout::output_blocks);
  case StageBuffer::output: break;
  }
  if (shared.output >= 0) return in_scratch(shared.output, seated(whole, rank, false).layout);
  return seats ? own_block(out, Layout::output_blocks) : EmbeddedBuffer{out, Layout::output_blocks, before};
}

Embedding embedding_of(const Composite& whole, const Stage& stage, Rank rank, std::int32_t first_lane,
                       const LeaderScratch& shared) {
  const RankGroup& group = whole.groups.of(rank);
  Embedding e;
  e.meaning = stage.row.meaning;
  e.blocks = whole.collective.ranks;
  if (whole.collective.kind->of_pairs())
    e.scratch = stage.row.from == StageBuffer::input ? SeatOrders::pairs_by_source : SeatOrders::pairs_by_destination;
  else if (whole.seats_blocks())
    e.scratch = SeatOrders::seats;
  e.first_own = group.first_seat;
  e.own = group.size();
  e.peers = stage.row.between ? &whole.groups.leaders() : &group.ranks;
  e.begins = stage.row.between ? &whole.groups.begins() : &group.blocks;
  e.input = spot_of(whole, stage.row.from, rank, shared);
  e.output = spot_of(whole, stage.row.to, rank, shared);
  e.by_group = whole.collective.kind->of_pairs() && stage.row.to == StageBuffer::partial;
  if (whole.relayed && stage.row.between) {
    e.meaning = PartData::groups_of_blocks;
    e.begins = &*whole.relayed;
    e.blocks = e.begins->at(e.begins->size() - 1);
    e.input.before = -group.first_seat * whole.collective.ranks;
    e.output = {{{Buffer::Kind::scratch, shared.arrived}}, SeatOrders::pairs_by_group, e.input.before};
  }
  e.first_lane = first_lane;
  // In place a result that is longer than the first block lies over input of later segments.
  const bool reduced = whole.collective.reduces() && whole.of_blocks();
  if (reduced && whole.collective.counts.irregular() && stage.row.from == StageBuffer::own_results)
    e.after = Scope::all;
  e.role = fmt::format("{} {} {}{}", name_of(stage.row.kind), stage.row.between ? "between" : "within the", whole.unit,
                       stage.row.between ? "s" : "");
  return e;
}

void follow_all_below(LaneBuilder& lane, std::int32_t id) {
  std::vector<LaneId> below;
  for (std::int32_t l = 0; l < id; ++l) below.emplace_back(l);
  if (id > 0) lane.after(std::move(below), Scope::segment);
}

// All blocks of a rank's input put in order of the seats, or those of its output back.
void add_turn(const Composite& whole, Rank rank, bool input, std::int32_t scratch, std::int32_t id, Program& program) {
  LaneBuilder lane(LaneId{id}, input ? "blocks by seats" : "blocks by ranks", 1);
  follow_all_below(lane, id);
  const EmbeddedBuffer spot = seated(whole, rank, input);
  const Array array{{Buffer::Kind::scratch, scratch}};
  lane.loop(whole.collective.ranks, [&](Variable seat) {
    const Expression there = whole.groups.rank_in_seat()(Expression(seat));
    const Chunk by_seat = array[blocks(spot.layout, Expression(seat) + spot.before)];
    return Round{{input ? copy(by_seat, in[in_block(there)]) : copy(out[out_block(there)], by_seat)}, 0};
  });
  program.lanes.push_back(lane.take());
}

// Moves the blocks from each group into the rows of this one's ranks: by destination and then by source at both ends.
void add_rows(const Composite& whole, const RankGroup& group, const LeaderScratch& shared, std::int32_t id,
              Program& program) {
  LaneBuilder lane(LaneId{id}, "blocks into rows", 1);
  follow_all_below(lane, id);
  const std::int64_t P = whole.collective.ranks, size = group.size(), first = group.first_seat * P;
  const Array arrived{{Buffer::Kind::scratch, shared.arrived}}, own{{Buffer::Kind::scratch, shared.own_results}};
  lane.loop(whole.groups.number(), [&](Variable from) {
    Extent rows = blocks(SeatOrders::pairs_by_destination, whole.groups.begins()(Expression(from)) + first, size);
    rows.runs[0].inner = {P, size};
    const Expression there = (*whole.relayed)(Expression(from)) + first;
    return Round{{copy(own[rows], arrived[blocks(SeatOrders::pairs_by_group, there, size * size)])}, 0};
  });
  program.lanes.push_back(lane.take());
}

std::optional<std::string> write(const Composite& whole, Rank rank, Program& program) {
  const LeaderScratch shared = declare_scratch(whole, rank, program);
  std::int32_t first_lane = 0;
  if (shared.input >= 0) add_turn(whole, rank, true, shared.input, first_lane, program);
  first_lane += whole.seats_input(whole.collective.root); // where only the root does, others leave the number out
  for (const Stage& stage : whole.stages) {
    if (!stage.row.between || whole.groups.leads(rank)) {
      const std::int32_t group = whole.groups.group_of(rank);
      const Schedule& part = *stage.of_group[stage.row.between ? 0 : static_cast<std::size_t>(group)];
      const std::int32_t place = stage.row.between ? group : whole.groups.place_of(rank);
      const Embedding e = embedding_of(whole, stage, rank, first_lane, shared);
      if (auto obstacle = embed(part.program(Rank{place}), e, program)) return obstacle;
      if (whole.relayed && stage.row.between)
        add_rows(whole, whole.groups.of(rank), shared, first_lane + stage.lanes, program);
    }
    first_lane += stage.lanes + (whole.relayed && stage.row.between);
  }
  if (shared.output >= 0) add_turn(whole, rank, false, shared.output, first_lane, program);
  return std::nullopt;
}

// The parameters that a stage's algorithm takes of those that were asked for.
Parameters parameters_for(const Variant& v, const Parameters& p, Segments segments) {
  Parameters given;
  if (v.takes(parameter::segments)) given.segments = segments.count;
  if (v.takes(parameter::window)) given.window = p.window;
  if (v.takes(parameter::overlap) && segments.count > 1) given.overlap = true;
  return given;
}

Result<std::shared_ptr<const Schedule>> part_of(const Composite& whole, const StageRow& row, const RankGroup* group,
                                                const RankSpace& space, const std::string& name, const Parameters& p) {
  const Variant* const v = TRY(Registry::standard().find(row.kind, name));
  const Collective collective = collective_of(whole, row, group);
  const Segments segments = row.meaning == PartData::signals ? Segments{} : whole.segments;
  Schedule s = TRY(v->build(collective, space, parameters_for(*v, p, segments)));
  if (s.segments.count != 1 && s.segments != whole.segments)
    return not_applicable(fmt::format("{} {} sets its own segments, so it cannot be the --inner or --outer algorithm",
                                      name_of(row.kind), name));
  if (collective.in_place && !s.claims.in_place_safe)
    return not_applicable(fmt::format("{} {} cannot run in place, as the --inner or --outer algorithm must here",
                                      name_of(row.kind), name));
  return std::make_shared<const Schedule>(std::move(s));
}

std::int32_t lanes_of(const Schedule& s) {
  std::int32_t lanes = 0;
  for (std::int32_t r = 0; r < s.ranks(); ++r)
    for (const Lane& lane : s.program(Rank{r}).lanes) lanes = std::max(lanes, lane.id.value + 1);
  return lanes;
}

Status add_stage(Composite& whole, const StageRow& row, const RankSpace& leaders, const std::string& name,
                 const Parameters& p) {
  Stage stage{row, {}, 0};
  if (row.between) {
    const auto part = TRY(part_of(whole, row, nullptr, leaders, name, p));
    stage.of_group.push_back(part);
    stage.lanes = lanes_of(*part);
  }
  // Groups that are asked the same share the answer; those of irregular blocks are all different.
  std::map<std::tuple<std::int64_t, std::int32_t, bool>, std::shared_ptr<const Schedule>> known;
  for (const RankGroup& group : whole.groups.all()) {
    if (row.between) break;
    const Collective collective = collective_of(whole, row, &group);
    auto& part = known[{group.size(), group.leader, collective.in_place}];
    if (!part || collective.counts.irregular()) {
      const auto made =
          TRY(part_of(whole, row, &group, RankSpace::node(static_cast<std::int32_t>(group.size())), name, p));
      part = made;
      stage.lanes = std::max(stage.lanes, lanes_of(*part));
    }
    stage.of_group.push_back(part);
  }
  whole.stages.push_back(std::move(stage));
  return Nothing{};
}

// Why there are no levels to go by, if there are none.
Status check_groups(const Composite& whole, const RankSpace& space, const Parameters& p) {
  const std::int64_t most = Groups(whole.collective, space, std::nullopt).largest();
  const std::int32_t groups = whole.groups.number();
  if (p.group && *p.group > most)
    return not_applicable(fmt::format("a group must be at most the {} ranks of a node", most), *p.group);
  if (groups == 1)
    return not_applicable(fmt::format("the algorithm needs several {}s, but all ranks are in one", whole.unit), {},
                          "give a --group of fewer ranks, each with a leader of its own");
  if (groups == whole.collective.ranks)
    return not_applicable(
        fmt::format("the algorithm needs {0}s of several ranks, but each {0} has one rank", whole.unit));
  if (whole.collective.kind->of_pairs() && !pairs_fit(whole))
    return not_applicable("the blocks of all pairs of ranks must be less than 2^61 bytes together");
  return Nothing{};
}

std::optional<std::string> obstacle_to(const Composite& whole) {
  for (std::int32_t r = 0; r < whole.collective.ranks; ++r) {
    Program program;
    if (auto obstacle = write(whole, Rank{r}, program)) return obstacle;
  }
  return std::nullopt;
}

// Numbering of an alltoall's blocks; none where they are not all equally long.
std::optional<Numbering> blocks_of_equal_groups(const Composite& whole) {
  const Collective& c = whole.collective;
  const std::int64_t most = whole.groups.largest(), groups = whole.groups.number();
  if (!c.kind->of_pairs() || c.counts.irregular() || most * groups != c.ranks) return std::nullopt;
  std::vector<std::int64_t> begins;
  for (std::int64_t g = 0; g <= groups; ++g) begins.push_back(g * most * most);
  return Numbering(std::move(begins));
}

Result<Schedule> build_levels(const Levels& levels, const Collective& c, const RankSpace& space, const Parameters& p) {
  auto whole = std::make_shared<Composite>(Composite{c, {}, Groups(c, space, p.group), {}, p.group ? "group" : "node"});
  if (Status s = check_groups(*whole, space, p); !s) return s.error();
  if (c.kind->moves_data()) {
    const auto unasked = whole->of_blocks() ? Pipelining::whole_message : Pipelining::machine_segments;
    whole->segments = TRY(choose_segments(c, p, 1, unasked));
  }
  const std::string inner = p.inner.value(), outer = p.outer.value();
  const RankSpace leaders = space_of_leaders(space, whole->groups);
  for (const StageRow& row : levels.stages)
    if (Status s = add_stage(*whole, row, leaders, row.between ? outer : inner, p); !s) return s.error();
  if (auto obstacle = obstacle_to(*whole)) {
    whole->relayed = blocks_of_equal_groups(*whole);
    if (!whole->relayed || (obstacle = obstacle_to(*whole))) return not_applicable(*obstacle);
  }
  const bool ordered = c.kind->of_pairs() || whole->seats_blocks();
  Schedule s(c, ordered ? whole->groups.orders(c) : std::vector<BlockLayout>{});
  s.segments = whole->segments;
  s.parameters = fmt::format("inner={} outer={} segments={}", inner, outer, s.segments.count);
  if (p.group) s.parameters += fmt::format(" group={}", *p.group);
  s.claims.keeps_rank_order = whole->groups.in_rank_order();
  for (const Stage& stage : whole->stages)
    for (const auto& part : stage.of_group) {
      s.claims.keeps_rank_order &= part->claims.keeps_rank_order || !part->collective().reduces();
      s.claims.offloads |= part->claims.offloads;
      if (stage.row.from_input_to_output()) s.claims.in_place_safe &= part->claims.in_place_safe;
    }
  // In place what a rank sends to another is as long as what it gets, so that both lie in the same bytes; else not.
  if (c.kind->of_pairs() && c.counts.irregular()) s.claims.in_place_safe = c.in_place;
  s.shared_bytes = static_cast<std::int64_t>(c.ranks) * 4 * static_cast<std::int64_t>(sizeof(std::int64_t));
  for (const BlockLayout& layout : s.data->blocks)
    if (ordered && layout.begins)
      s.shared_bytes += static_cast<std::int64_t>(layout.begins->size() * sizeof(std::int64_t));
  s.program = [whole = std::shared_ptr<const Composite>(std::move(whole))](Rank rank) {
    Program program;
    write(*whole, rank, program);
    return program;
  };
  return s;
}

struct TimeOfParts {
  double seconds = 0;
  bool holds = true;
};

// The parts' closed forms added up, of groups as large as the largest; not a number where a part has none.
TimeOfParts time_of_parts(const std::vector<StageRow>& stages, const CostCase& at) {
  const Composite whole{at.collective, {}, Groups(at.collective, at.space, at.parameters.group), {}, ""};
  const std::int64_t size = whole.groups.largest();
  const RankSpace leaders = space_of_leaders(at.space, whole.groups);
  const RankSpace members = RankSpace::node(static_cast<std::int32_t>(size));
  const RankGroup& of_root = whole.groups.all()[static_cast<std::size_t>(whole.root_group())];
  TimeOfParts sum;
  sum.holds = size * whole.groups.number() == at.collective.ranks && !at.collective.counts.irregular();
  for (const StageRow& row : stages) {
    const auto v =
        Registry::standard().find(row.kind, (row.between ? at.parameters.outer : at.parameters.inner).value());
    if (!v || !(*v)->cost.time) return {std::numeric_limits<double>::quiet_NaN(), false};
    Collective collective = collective_of(whole, row, row.between ? nullptr : &of_root);
    if (row.meaning == PartData::signals) collective.counts.each = 0;
    const Parameters p = (*v)->with_defaults({});
    const CostCase part{collective, row.between ? leaders : members, p, 1, at.rates};
    sum.seconds += (*v)->cost.seconds(part);
    sum.holds &= (*v)->cost.holds(part);
  }
  return sum;
}

Cost cost_of_parts(const std::vector<StageRow>& stages) {
  const Condition all_hold{"groups are equally large and the parts' forms hold",
                           [=](const CostCase& at) { return time_of_parts(stages, at).holds; }};
  return {Formula("Σ of its parts", [=](const CostCase& at) { return time_of_parts(stages, at).seconds; }),
          cost::whole_messages && all_hold};
}

} // namespace

Variant hierarchical(CollectiveKind kind, Levels levels) {
  Variant v{.summary = "any algorithm within nodes, or within groups of their ranks, and any between the leaders",
            .cost = cost_of_parts(levels.stages),
            .reference = "Karonis et al., IPDPS 2000; Träff, Rougier, EuroMPI/ASIA 2014",
            .parameters = {{parameter::inner, levels.inner},
                           {parameter::outer, levels.outer},
                           {parameter::group, DerivedDefault{"all of a node"}}}};
  if (kind->moves_data())
    v.parameters.insert(v.parameters.end(), {{parameter::segment_bytes,
                                              DerivedDefault{kind->is_vector() ? "the machine's" : "the whole block"}},
                                             {parameter::window, DerivedDefault{"that of the stages"}}});
  for (const StageRow& row : levels.stages) v.parameters[row.between].parts.push_back(row.kind);
  if (levels.relays_blocks)
    v.all_counts = "every rank must know all counts, because leaders relay blocks of other ranks";
  v.recipe = [levels = std::move(levels)](const Collective& c, const RankSpace& space, const Parameters& p) {
    return build_levels(levels, c, space, p);
  };
  return v;
}

} // namespace kumihimo
