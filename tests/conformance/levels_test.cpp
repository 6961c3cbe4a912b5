// The combinator of levels: any algorithm within groups and any between them, on nodes of any sizes that hold any
// ranks. What fits is proved, and run for real by threads.
#include "cases.hpp"
#include "program/cursor.hpp"
#include "verify/verify.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace conformance {
namespace {

using namespace kumihimo;
using Kind = CollectiveKind;

// The collectives within groups, and the one between them, that each is made of.
struct Parts {
  CollectiveKind kind;
  std::vector<CollectiveKind> inner;
  CollectiveKind outer;
};
const std::vector<Parts> all_parts = {{Kind::bcast, {Kind::bcast}, Kind::bcast},
                                      {Kind::reduce, {Kind::reduce}, Kind::reduce},
                                      {Kind::allreduce, {Kind::reduce, Kind::bcast}, Kind::allreduce},
                                      {Kind::allgather, {Kind::gather, Kind::bcast}, Kind::allgather},
                                      {Kind::reduce_scatter, {Kind::reduce, Kind::scatter}, Kind::reduce_scatter},
                                      {Kind::alltoall, {Kind::gather, Kind::scatter}, Kind::alltoall},
                                      {Kind::gather, {Kind::gather}, Kind::gather},
                                      {Kind::scatter, {Kind::scatter}, Kind::scatter},
                                      {Kind::barrier, {Kind::reduce, Kind::bcast}, Kind::barrier}};

class Draw {
 public:
  explicit Draw(std::uint32_t seed) : random_(seed) {}

  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }

  // Two to five nodes of one to four ranks, not all of one: in order, or dealt out.
  RankSpace nodes(std::string& text) {
    std::vector<NodeId> node_of_rank;
    const std::int64_t number = 2 + below(4);
    for (std::int32_t node = 0; node < number; ++node) {
      const std::int64_t size = node == 0 ? 2 + below(3) : 1 + below(4);
      for (std::int64_t i = 0; i < size; ++i) node_of_rank.emplace_back(node);
    }
    if (below(2) == 0) std::shuffle(node_of_rank.begin(), node_of_rank.end(), random_);
    for (const NodeId node : node_of_rank) text += fmt::format(" {}", node.value);
    return RankSpace::recognise(*Shape::parse(std::to_string(number)), node_of_rank);
  }

  // One that all these collectives have.
  std::string algorithm(const std::vector<CollectiveKind>& kinds) {
    std::vector<std::string> names;
    for (const Variant* v : Registry::standard().variants(kinds[0]))
      if (v->name != "hierarchical" && std::all_of(kinds.begin(), kinds.end(), [&](CollectiveKind kind) {
            return Registry::standard().find(kind, v->name).ok();
          }))
        names.push_back(v->name);
    return names[static_cast<std::size_t>(below(static_cast<std::int64_t>(names.size())))];
  }

 private:
  std::mt19937 random_;
};

Case drawn(Draw& draw, const Parts& parts, std::int32_t ranks) {
  Case c;
  Collective& collective = c.problem.collective;
  collective = make_collective(parts.kind, ranks, draw.below(30));
  if (collective.has_root()) collective.root = Rank{static_cast<std::int32_t>(draw.below(ranks))};
  collective.in_place |= draw.below(3) == 0;
  const auto& all = all_arithmetic();
  c.problem.arithmetic = all[static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(all.size())))];
  c.problem.arithmetic.apply_to(collective);
  c.problem.seed = static_cast<std::uint64_t>(draw.below(1000));
  if (parts.kind->irregular != Counts::Known::uniform && draw.below(2) == 0) {
    const char* const spreads[] = {"zeros", "one_huge", "random:7"};
    c.spread = spreads[draw.below(3)];
    collective = *with_counts(collective, *spread_counts(c.spread, collective));
  }
  c.parameters.inner = draw.algorithm(parts.inner);
  c.parameters.outer = draw.algorithm({parts.outer});
  if (draw.below(2) == 0) c.parameters.group = 1 + draw.below(3);
  if (parts.kind != Kind::barrier)
    c.parameters.segments = 1 + draw.below(std::clamp<std::int64_t>(collective.counts.each, 1, 4));
  return c;
}

#ifdef KUMIHIMO_EVERY_SEVENTH_PLACE
constexpr int every = 7;
#else
constexpr int every = 1;
#endif

TEST(Levels, AnyAlgorithmsOnAnyNodesArePutTogether) {
  std::map<CollectiveKind, int> proved, irregular;
  for (std::uint32_t seed = 1; seed <= 2100; seed += every) {
    Draw draw(seed);
    const Parts& parts = all_parts[seed % all_parts.size()];
    std::string nodes;
    const RankSpace space = draw.nodes(nodes);
    const Case c = drawn(draw, parts, space.ranks());
    SCOPED_TRACE(fmt::format("seed {}: {} on nodes{}, {}", seed, name_of(parts.kind), nodes, c.name()));
    const Variant& v = **Registry::standard().find(parts.kind, "hierarchical");
    const Result<Schedule> schedule = v.build(c.problem.collective, space, c.parameters);
    if (!schedule) {
      EXPECT_EQ(schedule.error().kind, Error::Kind::not_applicable) << schedule.error().sentence();
      continue;
    }
    const verify::Report proof = verify::check(*schedule, space);
    EXPECT_TRUE(proof.ok()) << proof.text();
    const Result<Answer> answer = check(*schedule, c.problem);
    EXPECT_TRUE(answer.ok()) << answer.error().sentence();
    ++proved[parts.kind];
    irregular[parts.kind] += !c.spread.empty();
    if (HasFailure()) return; // one is enough to read
  }
  for (const Parts& parts : all_parts) EXPECT_GE(proved[parts.kind], 20 / every) << name_of(parts.kind);
  for (const CollectiveKind kind : {Kind::allgather, Kind::reduce_scatter, Kind::alltoall, Kind::gather, Kind::scatter})
    EXPECT_GE(irregular[kind], 8 / every) << name_of(kind);
}

// Among leaders of equal groups any alltoall of the registry that fits them serves, whether it relays blocks or not.
TEST(Levels, AnyAlltoallServesBetweenEqualGroups) {
  const Variant& v = **Registry::standard().find(Kind::alltoall, "hierarchical");
  for (const Variant* outer : Registry::standard().variants(Kind::alltoall)) {
    if (outer->name == "hierarchical") continue;
    for (const bool in_order : {true, false})
      for (const bool in_place : {false, true})
        for (const std::int64_t segments : {1, 3}) {
          std::vector<NodeId> node_of_rank; // eight nodes: a torus for paced, factors for phases
          for (std::int32_t r = 0; r < 24; ++r) node_of_rank.emplace_back(in_order ? r / 3 : r % 8);
          const RankSpace space = in_order ? RankSpace::box(*Shape::parse("4x2"), 3)
                                           : RankSpace::recognise(*Shape::parse("4x2"), node_of_rank);
          SCOPED_TRACE(
              fmt::format("{}, in order {}, in place {}, {} segments", outer->name, in_order, in_place, segments));
          Case c;
          c.problem.collective = make_collective(Kind::alltoall, 24, 7);
          c.problem.collective.in_place = in_place;
          c.parameters.outer = outer->name;
          c.parameters.segments = segments;
          const Result<Schedule> schedule = v.build(c.problem.collective, space, c.parameters);
          ASSERT_TRUE(schedule.ok()) << schedule.error().sentence();
          const verify::Report proof = verify::check(*schedule, space);
          ASSERT_TRUE(proof.ok()) << proof.text();
          const Result<Answer> answer = check(*schedule, c.problem);
          ASSERT_TRUE(answer.ok()) << answer.error().sentence();
        }
  }
}

// Leaders exchange one message a pair of groups, which lies in one piece where it is sent from.
TEST(Levels, LeadersOfAnAlltoallSendOnePieceAPair) {
  std::vector<NodeId> node_of_rank;
  for (const int node : {0, 1, 2, 0, 1, 0, 1, 0, 0}) node_of_rank.emplace_back(node); // 5, 3 and 1 of them, dealt out
  const RankSpace space = RankSpace::recognise(*Shape::parse("3"), node_of_rank);
  Parameters p;
  p.group = 2;
  const Variant& v = **Registry::standard().find(Kind::alltoall, "hierarchical");
  for (const bool irregular : {false, true}) {
    Collective c = make_collective(Kind::alltoall, 9, 5);
    if (irregular) c = *with_counts(c, *spread_counts("ramp", c));
    const Result<Schedule> s = v.build(c, space, p);
    ASSERT_TRUE(s.ok()) << s.error().sentence();
    std::map<std::int64_t, int> sent; // by leaders: ranks 0, 5, 8 of the first node, 1 and 6 of the second, 2
    for (std::int32_t r = 0; r < 9; ++r) {
      const Binding binding(*s, Rank{r});
      const Program program = s->program(Rank{r});
      for (const Lane& lane : program.lanes) {
        if (lane.role.find("alltoall between groups") == std::string::npos) continue;
        for_each_round(lane, 0, [&](const Round& round, Values values) {
          for (const Step& step : round.steps) {
            if (step.kind != StepKind::send) continue;
            std::vector<ElementRun> runs;
            binding.append_chunk(program, step.source, values, runs);
            EXPECT_LE(runs.size(), 1U) << "rank " << r;
            ++sent[r];
          }
        });
      }
    }
    EXPECT_EQ(sent, (std::map<std::int64_t, int>{{0, 5}, {1, 5}, {2, 5}, {5, 5}, {6, 5}, {8, 5}})) << irregular;
  }
}

} // namespace
} // namespace conformance
