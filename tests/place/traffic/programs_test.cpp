#include "halo/halo.hpp"
#include "program/binding.hpp"
#include "program/builder.hpp"
#include "program/cursor.hpp"
#include "random_traffic.hpp"
#include "traffic/pattern.hpp"
#include "traffic/programs.hpp"
#include "verify/verify.hpp"

#include <cmath>
#include <map>

namespace kumihimo {
namespace {

using Flows = std::map<std::pair<std::int32_t, std::int32_t>, std::pair<std::int64_t, std::int64_t>>;

Flows flows_of(const Traffic& traffic) {
  Flows flows;
  for (std::int32_t r = 0; r < traffic.ranks(); ++r)
    for (const auto& flow : traffic.from(Rank{r})) flows[{r, flow.to.value}] = {flow.bytes, flow.messages};
  return flows;
}

// The slow reference: every step of every segment and turn.
Flows every_send(const ProgramSet& set) {
  Flows flows;
  for (std::int32_t r = 0; r < set.ranks(); ++r) {
    const Binding binding(set, Rank{r});
    const Program program = set.program(Rank{r});
    for (const Lane& lane : program.lanes)
      for (std::int64_t segment = 0; segment < set.segments.count; ++segment)
        for_each_round(lane, segment, [&](const Round& round, Values values) {
          for (const Step& step : round.steps) {
            const auto to = static_cast<std::int32_t>(step.peer.evaluate(values));
            if (!step.sends() || to == r) continue;
            const std::int64_t elements = step.is_signal() ? 0 : binding.length(step.extent(), values);
            if (elements == 0 && !step.is_signal()) continue;
            auto& [bytes, messages] = flows[{r, to}];
            bytes += elements * set.data->type_bytes;
            ++messages;
          }
        });
  }
  return flows;
}

std::string refused_programs(const ProgramSet& set) {
  const auto traffic = traffic_of(set);
  return traffic ? "" : traffic.error().sentence();
}

// Programs of two ranks over a vector of 10 elements of 8 bytes; rank 1 does nothing.
ProgramSet of_rank_0(Body body, std::int64_t segments = 1) {
  ProgramSet set;
  set.data = one_buffer(2, 10);
  set.segments = {segments};
  set.program = [body = std::move(body)](Rank rank) {
    Program program;
    program.lanes.push_back({LaneId{0}});
    if (rank.value == 0) program.lanes[0].body = body;
    return program;
  };
  return set;
}

TEST(TrafficOfPrograms, CountsRoundsTimesTurnsTimesSegments) {
  BodyBuilder body(1);
  body.step(send(1, in[part(0, 2)]));
  body.loop(3, [](BodyBuilder& b, Variable) {
    b.loop(4, [](Variable) { return Round{{send(1, in[whole()]), signal(1)}}; });
  });
  body.step(copy(out[whole()], in[whole()]));
  body.step(send(0, in[whole()]));
  const Traffic traffic = *traffic_of(of_rank_0(body.take(), 2));
  // A segment has 5 elements; its first half 2, in both segments.
  EXPECT_EQ(flows_of(traffic), (Flows{{{0, 1}, {2 * 8 * (2 + 12 * 5), 2 * (1 + 12 + 12)}}}));
  EXPECT_EQ(traffic.self_bytes(), 2 * 8 * 5);
}

TEST(TrafficOfPrograms, TakesNoLongerForMoreTurnsThatAreTheSame) {
  constexpr std::int64_t trip = std::int64_t{1} << 50;
  BodyBuilder body(1);
  body.loop(trip, [](Variable) { return Round{{send(1, in[part(1, 5)])}}; });
  EXPECT_EQ(flows_of(*traffic_of(of_rank_0(body.take()))), (Flows{{{0, 1}, {trip * 16, trip}}}));
}

TEST(TrafficOfPrograms, RefusesMoreThanItCanCount) {
  BodyBuilder body(1);
  constexpr std::int64_t trip = std::numeric_limits<std::int64_t>::max();
  body.loop(trip,
            [](BodyBuilder& b, Variable) { b.loop(trip, [](Variable) { return Round{{send(1, in[whole()])}}; }); });
  EXPECT_EQ(refused_programs(of_rank_0(body.take())),
            "all lines together must have at most 2^62 bytes (got 9223372036854775807 more)");
}

TEST(TrafficOfPrograms, IsThatOfEachSendOfRandomPrograms) {
  std::mt19937 random(41);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  int compared = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const auto ranks = static_cast<std::int32_t>(below(5) + 2);
    DataLayout data;
    data.ranks = ranks;
    data.type_bytes = below(2) == 0 ? 4 : 8;
    data.vector = true;
    data.elements = below(40);
    BlockLayout blocks{"input_blocks", "block", ranks, below(9)};
    if (below(2) == 0) {
      auto begins = std::make_shared<std::vector<std::int64_t>>(1, 0);
      for (std::int32_t b = 0; b < ranks; ++b) begins->push_back(begins->back() + below(9));
      blocks.begins = std::move(begins);
    } else if (below(2) == 0) {
      blocks.elements_at = [](Rank r, std::int64_t block) { return (r.value * 5 + block * 3) % 7; };
    }
    data.blocks = {blocks};
    ProgramSet set;
    set.data = std::make_shared<const DataLayout>(std::move(data));
    set.segments = {below(3) + 1};

    // What may depend on the variables of the loops around it, and often does not.
    const auto index = [&](std::int32_t depth) {
      Expression e = below(4);
      for (std::int32_t d = 0; d < depth; ++d)
        if (below(3) == 0) e += Expression(Variable{d}) * (below(3) + 1);
      return e;
    };
    const auto step = [&](std::int32_t depth) {
      const Expression peer = mod(index(depth), ranks);
      if (below(6) == 0) return signal(peer);
      if (below(6) == 0) return receive(peer, out[whole()]);
      if (below(2) == 0) {
        const std::int64_t m = below(4) + 1;
        const Expression count = below(2) == 0 ? Expression(below(2)) : mod(index(depth), 2);
        return send(peer, in[parts(mod(index(depth), m), count, m)]);
      }
      Extent extent = kumihimo::blocks(Layout::input_blocks, mod(index(depth), ranks));
      extent.parts = below(3) + 1;
      extent.part = mod(index(depth), extent.parts);
      return send(peer, in[extent]);
    };
    std::function<Body(std::int32_t)> body = [&](std::int32_t depth) {
      Body nodes;
      for (std::int64_t n = below(3) + 1; n > 0; --n) {
        if (depth < 4 && below(2) == 0) {
          Body inner = body(depth + 1);
          nodes.emplace_back(Loop{below(4), 1, std::move(inner)});
        } else {
          nodes.emplace_back(Round{{step(depth), step(depth)}});
        }
      }
      return nodes;
    };
    std::vector<Program> programs(static_cast<std::size_t>(ranks));
    for (Program& program : programs)
      for (std::int32_t lane = 0; lane < 2; ++lane) {
        program.lanes.push_back({LaneId{lane}});
        program.lanes.back().body = body(1);
      }
    set.program = [programs](Rank rank) { return programs[static_cast<std::size_t>(rank.value)]; };
    const Flows wanted = every_send(set);
    const auto traffic = traffic_of(set);
    if (!traffic) {
      for (const auto& [pair, amount] : wanted) EXPECT_EQ(amount.first, 0);
      continue;
    }
    ++compared;
    EXPECT_EQ(flows_of(*traffic), wanted);
  }
  EXPECT_GT(compared, 300);
}

TEST(TrafficOfPrograms, OfAHaloExchangeIsThatOfItsMessages) {
  using Lengths = std::array<std::int32_t, 3>;
  for (const char* text : {"4x3x2,points=27,fields=2", "5x5x5,mesh", "2x3x4,points=27,mesh"})
    for (const Lengths& ranks : {Lengths{4, 3, 2}, Lengths{1, 3, 2}}) {
      Halo halo = *Halo::parse(text);
      halo.ranks = ranks;
      Flows wanted;
      for (std::int32_t r = 0; r < halo.rank_count(); ++r)
        for (const HaloMessage& m : messages_of(halo, Rank{r})) {
          if (m.to < 0 || m.to == r) continue; // no message: a copy around an axis of one rank
          auto& [bytes, messages] = wanted[{r, m.to}];
          bytes += 8 * halo.fields * m.sent.length(0) * m.sent.length(1) * m.sent.length(2);
          ++messages;
        }
      const Traffic traffic = *traffic_of(programs_of(halo).set);
      EXPECT_EQ(flows_of(traffic), wanted) << text << " on " << ranks[0];
      EXPECT_EQ(traffic.self_bytes(), 0);
    }
}

TEST(TrafficOfPrograms, ReadsLongProgramsPieceByPiece) {
  static constexpr std::int64_t rounds = 100'000;
  std::int64_t longest = 0;
  ProgramSet set = of_rank_0({});
  set.program = [](Rank) -> Program { throw std::logic_error("the whole program is too long"); };
  set.reader = RoundReader{[](Rank) {
                             Program outline;
                             outline.lanes.push_back({LaneId{0}});
                             return outline;
                           },
                           [&longest](Rank rank, LaneId, std::int64_t position, std::int64_t steps) {
                             RoundPiece piece;
                             const std::int64_t end = rank.value == 0 ? std::min(position + steps, rounds) : position;
                             longest = std::max(longest, end - position);
                             for (std::int64_t i = position; i < end; ++i)
                               piece.rounds.push_back(Round{{send(1, in[part(i % 5, 5)])}});
                             if (rank.value == 0 && end < rounds) piece.next = end;
                             return piece;
                           },
                           [](Rank) { return rounds; }};
  EXPECT_EQ(flows_of(*traffic_of(set)), (Flows{{{0, 1}, {rounds * 16, rounds}}}));
  EXPECT_LT(longest, rounds / 10);
}

TEST(TrafficOfPrograms, RefusesWhatHasNoTraffic) {
  const auto one = [](Step step) { return Body{Round{{std::move(step)}}}; };
  EXPECT_EQ(refused_programs(of_rank_0(one(send(2, in[whole()])))), "rank 0 must send to a rank from 0 to 1 (got 2)");
  EXPECT_EQ(refused_programs(of_rank_0(one(send(-1, in[whole()])))), "rank 0 must send to a rank from 0 to 1 (got -1)");
  EXPECT_EQ(
      refused_programs(of_rank_0(one(offload(out[whole()], in[whole()])))),
      "traffic between ranks needs programs that send messages (got an offload to the network's engine on rank 0)");
  EXPECT_EQ(refused_programs(of_rank_0(one(send(0, in[whole()])))),
            "the traffic must have a line with bytes between two ranks (got 1 messages of ranks to themselves)");
  EXPECT_EQ(refused_programs(of_rank_0(one(signal(1)))),
            "the traffic must have a line with bytes between two ranks (got 1 messages without bytes)");
  ProgramSet own = of_rank_0(one(send(1, in[whole()])));
  DataLayout data = *own.data;
  data.own = std::make_shared<const OwnBlocks>();
  own.data = std::make_shared<const DataLayout>(std::move(data));
  EXPECT_EQ(refused_programs(own),
            "traffic needs the blocks of all ranks; take programs that know those of every rank");
}

// Where each received byte comes from, by the flows alone: data lies without gaps in the order of peers.
NamedPrograms named(const Traffic& traffic, double share) {
  return {"traffic", programs_of(traffic, share),
          [traffic](Rank rank) {
            std::vector<ElementOrigin> origins;
            std::int64_t first = 0;
            for (std::int32_t from = 0; from < traffic.ranks(); ++from) {
              std::int64_t position = 0;
              for (const auto& flow : traffic.from(Rank{from})) {
                if (flow.to == rank && flow.bytes > 0) {
                  origins.push_back({first, flow.bytes, from, position});
                  first += flow.bytes;
                }
                position += flow.bytes;
              }
            }
            return origins;
          },
          true};
}

TEST(ProgramsOfTraffic, AreProvedAndHaveTheSameTraffic) {
  std::mt19937 random(43);
  for (int trial = 0; trial < 40; ++trial) {
    const Traffic traffic = random_traffic(random, {8});
    Flows wanted = flows_of(traffic);
    for (auto& [pair, amount] : wanted) amount.second = 1;
    const NamedPrograms programs = named(traffic, 1);
    EXPECT_EQ(flows_of(*traffic_of(programs.set)), wanted);
    const verify::Report report = verify::check(verify::Subject(programs));
    EXPECT_TRUE(report.ok()) << report.text();
  }
}

TEST(ProgramsOfTraffic, SabotageIsFound) {
  const Traffic traffic = traffic_of(*GridPattern::parse("3x3:9,face=40,edge=3"));
  ASSERT_TRUE(verify::check(verify::Subject(named(traffic, 1))).ok());
  NamedPrograms programs = named(traffic, 1);
  programs.set.program = [right = programs.set.program](Rank rank) {
    Program program = right(rank);
    if (rank.value == 4) std::get<Round>(program.lanes[0].body[0]).steps.pop_back();
    return program;
  };
  EXPECT_FALSE(verify::check(verify::Subject(programs)).ok());
  EXPECT_NE(traffic_of(programs.set)->bytes(), traffic.bytes());
}

TEST(ProgramsOfTraffic, SendAShareOfTheBytesAndAtLeastOne) {
  TrafficBuilder builder = *TrafficBuilder::make(3);
  ASSERT_TRUE(builder.add(Rank{0}, Rank{1}, 1000, 7).ok());
  ASSERT_TRUE(builder.add(Rank{1}, Rank{0}, 3, 1).ok());
  ASSERT_TRUE(builder.add(Rank{2}, Rank{0}, 0, 5).ok());
  ASSERT_TRUE(builder.add(Rank{2}, Rank{1}, most_traffic / 2, 5).ok());
  const Traffic traffic = *std::move(builder).build();
  EXPECT_EQ(flows_of(*traffic_of(programs_of(traffic, 0.25))),
            (Flows{{{0, 1}, {250, 1}}, {{1, 0}, {1, 1}}, {{2, 1}, {most_traffic / 8, 1}}}));
  EXPECT_EQ(flows_of(*traffic_of(programs_of(traffic, 1))),
            (Flows{{{0, 1}, {1000, 1}}, {{1, 0}, {3, 1}}, {{2, 1}, {most_traffic / 2, 1}}}));
}

} // namespace
} // namespace kumihimo
