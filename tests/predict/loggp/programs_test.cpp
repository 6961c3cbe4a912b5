// Program sets as graphs: when each rank is complete, against a golden copy that follows the rules of ADR 0001 on the
// programs themselves.
#include "base/hash.hpp"
#include "collectives/registry.hpp"
#include "goal/programs.hpp"
#include "loggp/engine.hpp"
#include "program/binding.hpp"
#include "program/builder.hpp"
#include "program/named_programs.hpp"
#include "program/segment_start.hpp"
#include "schedule_features/features.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <tuple>

namespace kumihimo::loggp {
namespace {

constexpr std::string_view only_latency = "L=1000,o=0,g=0,G=0,S=70368744177664";
constexpr Time latency = 1'000'000;

// Messages take one unit of time, everything else none. Evaluates all programs again and again, with the times of sends
// that the evaluation before found, until none changes.
class Golden {
 public:
  explicit Golden(const ProgramSet& set) : set_(set) {
    for (std::int32_t rank = 0; rank < set.ranks(); ++rank) {
      programs_.push_back(set.program(Rank{rank}));
      bindings_.emplace_back(set, Rank{rank});
    }
  }

  std::vector<std::int64_t> ends() {
    std::vector<std::int64_t> ends;
    do {
      before_ = sent_, ends.clear();
      for (std::int32_t rank = 0; rank < set_.ranks(); ++rank) ends.push_back(evaluate(rank));
    } while (before_ != sent_);
    return ends;
  }

 private:
  using Message = std::tuple<std::int32_t, std::int64_t, std::int32_t, std::int32_t, std::int64_t>; // lane .. to, k

  std::int64_t evaluate(std::int32_t rank) {
    rank_ = rank;
    const Program& program = programs_[static_cast<std::size_t>(rank)];
    const auto waits = waits_of(program, set_.segments);
    const std::int64_t segments = set_.segments.count;
    std::vector<std::vector<std::int64_t>> complete(program.lanes.size()), starts(program.lanes.size());
    std::int64_t end = 0;
    for (bool any = true; any;) {
      any = false;
      for (std::size_t l = 0; l < program.lanes.size(); ++l) {
        const auto s = static_cast<std::int64_t>(complete[l].size());
        std::int64_t start = starts[l].empty() ? 0 : starts[l].back();
        bool may = s < segments;
        for (const SegmentWait& wait : waits[l]) {
          const auto& other = complete[static_cast<std::size_t>(wait.lane)];
          const std::int64_t first = wait.all ? 0 : s - wait.behind, last = wait.all ? segments - 1 : s - wait.behind;
          if (last >= static_cast<std::int64_t>(other.size())) may = false;
          for (std::int64_t of = std::max<std::int64_t>(0, first); may && of <= last; ++of)
            start = std::max(start, other[static_cast<std::size_t>(of)]);
        }
        if (!may) continue;
        for (std::int64_t of = 0; of <= s - program.lanes[l].window; ++of)
          start = std::max(start, complete[l][static_cast<std::size_t>(of)]);
        lane_ = program.lanes[l].id.value, counts_.clear();
        values_ = {}, values_[0] = s;
        starts[l].push_back(start);
        complete[l].push_back(run(program.lanes[l].body, 1, start));
        end = std::max(end, complete[l].back());
        any = true;
      }
    }
    for (const auto& lane : complete) EXPECT_EQ(static_cast<std::int64_t>(lane.size()), segments);
    return end;
  }

  std::int64_t run(const Body& body, std::size_t depth, std::int64_t at) {
    for (const Node& node : body) {
      if (const Round* round = std::get_if<Round>(&node)) {
        at = run(*round, at);
        continue;
      }
      const Loop& loop = std::get<Loop>(node);
      if (loop.together) {
        std::int64_t end = at;
        for (const Node& each : loop.body) end = std::max(end, run({each}, depth + 1, at));
        at = end;
        continue;
      }
      std::vector<std::int64_t> complete{at}; // all up to iteration i - 1
      for (std::int64_t i = 0; i < loop.trip; ++i) {
        values_[depth] = i;
        const auto waits = static_cast<std::size_t>(std::max<std::int64_t>(0, i + 1 - loop.in_flight));
        complete.push_back(std::max(complete.back(), run(loop.body, depth + 1, complete[waits])));
      }
      values_[depth] = 0;
      at = complete.back();
    }
    return at;
  }

  std::int64_t run(const Round& round, std::int64_t at) {
    std::int64_t end = at;
    for (const Step& step : round.steps) {
      if (!step.sends() && !step.receives()) continue;
      if (step.has_data() && bindings_[static_cast<std::size_t>(rank_)].length(step.extent(), values_) == 0) continue;
      const auto peer = static_cast<std::int32_t>(step.peer.evaluate(values_));
      const std::int64_t k = counts_[{step.sends(), peer}]++;
      if (step.sends())
        sent_[{lane_, values_[0], rank_, peer, k}] = at;
      else
        end = std::max(end, before_[{lane_, values_[0], peer, rank_, k}] + 1);
    }
    return end;
  }

  const ProgramSet& set_;
  std::vector<Program> programs_;
  std::vector<Binding> bindings_;
  std::map<Message, std::int64_t> sent_, before_;
  std::map<std::pair<bool, std::int32_t>, std::int64_t> counts_; // of the segment, by direction and peer
  LoopValues values_{};
  std::int32_t rank_ = 0, lane_ = 0;
};

// Behind the program of each rank stands a calc of a picosecond. Whether the set fits this model.
bool check(const ProgramSet& set, const std::string& name) {
  goal::Graphs graphs(set.ranks());
  goal::ProgramOperations operations(set, {});
  for (std::int32_t rank = 0; rank < set.ranks(); ++rank) {
    goal::GraphBuilder builder;
    const auto distance = [&](std::int32_t peer) { return graphs.distance(rank, peer); };
    const auto end = operations.append(builder, Rank{rank}, {}, distance);
    if (!end) {
      EXPECT_EQ(end.error().kind, Error::Kind::not_applicable) << name << ": " << end.error().sentence();
      return false;
    }
    goal::GraphOperation last;
    last.kind = goal::Kind::calc, last.size = 1;
    const std::uint32_t behind = builder.add(last);
    for (const std::uint32_t on : *end) builder.after_end(behind, on);
    graphs.set(rank, builder.finish());
    EXPECT_FALSE(goal::in_cycle(graphs.of(rank))) << name;
  }
  const auto outcome = run(graphs, *parse_parameters(only_latency, {}));
  EXPECT_TRUE(outcome) << name << ": " << outcome.error().sentence();
  if (!outcome) return true;
  std::vector<Time> golden;
  for (const std::int64_t end : Golden(set).ends()) golden.push_back(static_cast<Time>(end) * latency + 1);
  EXPECT_EQ(outcome->end, golden) << name;
  return true;
}

TEST(ProgramsAgainstGolden, EveryFeature) {
  int checked = 0;
  for (const features::Feature& feature : features::all()) checked += check(feature.schedule, feature.name);
  EXPECT_GT(checked, 15); // the others use an engine of the network
}

TEST(ProgramsAgainstGolden, EveryAlgorithm) {
  int checked = 0;
  for (const char* shape : {"3x3x2", "8", "4x2"})
    for (const Variant& variant : Registry::standard().variants())
      for (const std::int64_t segment_bytes : {1 << 20, 64}) {
        const RankSpace space = RankSpace::box(*Shape::parse(shape));
        const Collective collective = make_collective(variant.kind, space.ranks(), 50);
        kumihimo::Parameters parameters;
        parameters.default_segment_bytes = segment_bytes;
        const auto schedule = variant.build(collective, space, parameters);
        if (!schedule) continue;
        checked += check(*schedule, fmt::format("{} {} on {}", name_of(variant.kind), variant.name, shape));
      }
  EXPECT_GT(checked, 300);
}

// All ranks have the same lanes and rounds, in which each message is there or not: no rank waits for ever.
ProgramSet random_set(std::uint64_t seed) {
  ProgramSet set;
  const std::int32_t ranks = 2 + static_cast<std::int32_t>(mixed(seed, 1) % 6);
  const auto segments = static_cast<std::int64_t>(1 + mixed(seed, 2) % 5);
  set.data = one_buffer(ranks, static_cast<std::int64_t>(1 + mixed(seed, 3) % 12)); // some segments have none
  set.segments = {segments};
  set.program = [=](Rank rank) {
    ProgramBuilder program(Segments{segments});
    std::uint64_t drawn = 0, rounds = 0; // the same on all ranks
    const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(mixed(seed, 1000 + ++drawn) % n); };
    const auto round = [&] {
      Round made;
      const auto shift = static_cast<std::int32_t>(below(static_cast<std::uint64_t>(ranks)));
      const std::uint64_t number = ++rounds;
      const auto exists = [&](std::int32_t from) {
        return mixed(mixed(seed, number), static_cast<std::uint64_t>(from)) % 3 > 0;
      };
      const std::int32_t to = (rank.value + shift) % ranks, from = (rank.value + ranks - shift) % ranks;
      if (exists(rank.value)) made.steps.push_back(send(to, in[whole()]));
      if (exists(from)) made.steps.push_back(receive(from, in[whole()]));
      return made;
    };
    for (std::int32_t l = 0, lanes = 1 + static_cast<std::int32_t>(below(4)); l < lanes; ++l) {
      LaneBuilder lane(LaneId{l}, "", 1 + below(3));
      for (std::int32_t other = 0; other < l; ++other)
        if (below(2) == 0) lane.after({LaneId{other}}, below(3) == 0 ? Scope::all : Scope::segment);
      for (std::int64_t n = below(3); n > 0; --n) lane.round(round());
      const std::int64_t trip = below(4), in_flight = 1 + below(3);
      lane.loop(
          trip,
          [&](BodyBuilder& body, Variable) {
            for (std::int64_t n = 1 + below(2); n > 0; --n) body.round(round());
          },
          in_flight);
      if (below(2) == 0) {
        Round sends = round(), receives = sends;
        std::erase_if(sends.steps, [](const Step& step) { return step.receives(); });
        std::erase_if(receives.steps, [](const Step& step) { return step.sends(); });
        const std::int64_t many = 1 + below(3), at_once = 1 + below(3);
        lane.together([&](BodyBuilder& both) {
          both.loop(
              many, [&](Variable) { return receives; }, at_once);
          both.loop(many, [&](Variable) { return sends; });
        });
      }
      lane.round(round());
      program.add(std::move(lane));
    }
    return program.finish();
  };
  return set;
}

TEST(ProgramsAgainstGolden, RandomLanes) {
  for (std::uint64_t seed = 0; seed < 2000 && !::testing::Test::HasFailure(); ++seed)
    EXPECT_TRUE(check(random_set(seed), fmt::format("seed {}", seed)));
}

LogGopsOutcome outcome_of(CollectiveKind kind, std::string_view algorithm, std::int32_t ranks, std::int64_t doubles,
                          std::string_view p, const goal::WorkRates& rates = {}) {
  kumihimo::Parameters one;
  const Variant& variant = **Registry::standard().find(kind, algorithm);
  if (kind == CollectiveKind::allreduce) one.segments = 1;
  const auto schedule = variant.build(make_collective(kind, ranks, doubles), RankSpace::row(ranks), one);
  EXPECT_TRUE(schedule) << schedule.error().sentence();
  const auto graphs = goal::graphs_of(*schedule, rates);
  EXPECT_TRUE(graphs) << graphs.error().sentence();
  const auto outcome = run(*graphs, *parse_parameters(p, {}));
  EXPECT_TRUE(outcome) << outcome.error().sentence();
  return *outcome;
}

constexpr std::string_view round_numbers = "L=2500,o=1500,g=1000,G=6,S=70368744177664";

// Each round takes 2 o + L.
TEST(ProgramsByHand, ADisseminationBarrier) {
  for (const auto& [ranks, rounds] : {std::pair(2, 1), {3, 2}, {8, 3}, {1000, 10}})
    EXPECT_EQ(outcome_of(CollectiveKind::barrier, "dissemination", ranks, 0, round_numbers).last, rounds * 5'500'000U);
}

// 101 bytes to 4 ranks by a binomial tree: the root sends to 2 and 1. A message takes the receiver 1,500 + 6 (104 - 1)
// ns of 104 bytes. Rank 2 has it at 1,500 + 2,500 + 2,118 = 6,118, rank 3 from it 6,118 later. The root's second send
// starts at 1,618: its interface is busy for g + 103 G.
TEST(ProgramsByHand, ABinomialBroadcast) {
  const LogGopsOutcome outcome = outcome_of(CollectiveKind::bcast, "binomial", 4, 13, round_numbers);
  EXPECT_EQ(outcome.last, 12'236'000U);
  EXPECT_EQ(outcome.last_rank, 3);
  EXPECT_EQ(outcome.messages, 3U);
  EXPECT_EQ(outcome.bytes, 312U);
  EXPECT_EQ(outcome.end, (std::vector<Time>{3'118'000, 7'736'000, 7'618'000, 12'236'000}));
}

// Rings: P - 1 rounds that sum, P - 1 that do not. A round of 800 bytes: o for the send, L, then o + 799 G for the
// arrival, and the sum of 800 bytes at 1 GB/s.
TEST(ProgramsByHand, ARingAllreduce) {
  goal::WorkRates rates;
  rates.reduced = 1e9;
  const LogGopsOutcome outcome = outcome_of(CollectiveKind::allreduce, "ring", 5, 500, round_numbers, rates);
  const Time round = 1500 + 2500 + 1500 + 799 * 6;
  EXPECT_EQ(outcome.last, (8 * round + 4 * 800) * 1000);
  EXPECT_EQ(outcome.messages, 5U * 8);
  EXPECT_EQ(outcome.operations, 5U * (16 + 4));
}

} // namespace
} // namespace kumihimo::loggp
