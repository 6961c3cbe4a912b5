// Programs read like the paper and come out plain: accumulators are input before the first write and output after.
#include "program/accumulators.hpp"
#include "program/builder.hpp"
#include "program/cursor.hpp"

#include <gtest/gtest.h>

namespace kumihimo {
namespace {

Program ring(std::int64_t r, std::int64_t P) {
  const auto B = [P](Expression i) { return part(mod(std::move(i), P), P); };
  ProgramBuilder program;
  LaneBuilder lane(LaneId{0}, "ring", 1);
  lane.loop(P - 1, [&](Variable i) {
    return exchange((r + 1) % P, acc[B(r - i)], (r + P - 1) % P, reduce_into(acc[B(r - i - 1)]));
  });
  program.add(std::move(lane));
  return program.finish();
}

bool has(const Body& body, Buffer::Kind kind) {
  bool found = false;
  std::vector<std::int64_t> trips{1};
  for_each_round_as_written(body, trips, [&](const Round& round, Values) {
    for (const Step& s : round.steps)
      for (const Chunk* c : {&s.source, &s.right, &s.target}) found |= c->buffer.kind == kind;
  });
  return found;
}

TEST(Accumulators, ARingSendsItsInputFirstAndSumsAfterwards) {
  for (std::int64_t P = 2; P <= 6; ++P) {
    const Program p = ring(0, P);
    const Body& body = p.lanes[0].body;
    EXPECT_FALSE(has(body, Buffer::Kind::accumulator));
    ASSERT_EQ(body.size(), P == 2 ? 1u : 2u); // the first iteration apart
    const Round& first = std::get<Round>(body[0]);
    EXPECT_EQ(first.steps[0].source.buffer.kind, Buffer::Kind::input);
    EXPECT_EQ(first.steps[1].source.buffer.kind, Buffer::Kind::input);
    EXPECT_EQ(first.steps[1].target.buffer.kind, Buffer::Kind::output);
    if (P == 2) continue;
    const Loop& rest = std::get<Loop>(body[1]);
    EXPECT_EQ(rest.trip, P - 2);
    const Round& later = std::get<Round>(rest.body[0]);
    EXPECT_EQ(later.steps[0].source.buffer.kind, Buffer::Kind::output); // what the iteration before has summed
    EXPECT_EQ(later.steps[1].source.buffer.kind, Buffer::Kind::input);  // a part not touched before
  }
}

// Whatever was peeled, the iterations are those of the loop as written.
TEST(Accumulators, PeelingKeepsTheIterations) {
  const std::int64_t P = 7, r = 3;
  const Program p = ring(r, P);
  std::int64_t i = 0;
  for_each_round(p.lanes[0], 0, [&](const Round& round, Values values) {
    EXPECT_EQ(round.steps[0].source.extent.runs[0].first.evaluate(values), floor_mod(r - i, P));
    EXPECT_EQ(round.steps[1].target.extent.runs[0].first.evaluate(values), floor_mod(r - i - 1, P));
    ++i;
  });
  EXPECT_EQ(i, P - 1);
}

TEST(Accumulators, InScratchTheyStayInTheirCell) {
  ProgramBuilder program;
  const Array sum = accumulate_in(program.scratch(LaneId{0}, 1, 1));
  LaneBuilder lane(LaneId{0}, "", 1);
  lane.step(receive_reduce(1, sum[whole()]));
  lane.step(receive_reduce(2, sum[whole()]));
  lane.step(send(3, sum[whole()]));
  program.add(std::move(lane));
  const Program p = program.finish();
  const auto step = [&](std::size_t i) { return std::get<Round>(p.lanes[0].body[i]).steps[0]; };
  EXPECT_EQ(step(0).source.buffer.kind, Buffer::Kind::input);
  EXPECT_EQ(step(0).target.buffer.kind, Buffer::Kind::scratch);
  EXPECT_EQ(step(1).source.buffer.kind, Buffer::Kind::scratch);
  EXPECT_EQ(step(2).source.buffer.kind, Buffer::Kind::scratch);
}

bool stays_unresolved(const std::function<void(LaneBuilder&)>& body) {
  ProgramBuilder program;
  LaneBuilder lane(LaneId{0}, "", 1);
  body(lane);
  program.add(std::move(lane));
  return has(program.finish().lanes[0].body, Buffer::Kind::accumulator);
}

// Half of what is read was summed before: neither the input nor the output holds it all.
TEST(Accumulators, WhatIsPartlyWrittenIsNotGuessed) {
  EXPECT_TRUE(stays_unresolved([](LaneBuilder& lane) {
    lane.step(receive_reduce(1, acc[part(0, 2)]));
    lane.step(send(1, acc[whole()]));
  }));
  EXPECT_FALSE(stays_unresolved([](LaneBuilder& lane) {
    lane.step(receive_reduce(1, acc[part(0, 2)]));
    lane.step(send(1, acc[part(1, 2)]));
  }));
}

TEST(Accumulators, WhatStartsTogetherIsNotGuessed) {
  EXPECT_TRUE(stays_unresolved([](LaneBuilder& lane) {
    lane.together([](BodyBuilder& both) {
      both.step(receive_reduce(1, acc[whole()]));
      both.step(send(1, in[whole()]));
    });
  }));
}

// The first iteration's part, not the last one's.
TEST(Accumulators, WhatAnEarlierIterationWroteIsNotTakenAsInput) {
  const auto after = [](Extent read) {
    return [read](LaneBuilder& lane) {
      lane.loop(3, [](Variable i) { return Round{{receive_reduce(1, acc[part(i, 4)])}, 0}; });
      lane.step(send(1, acc[read]));
    };
  };
  EXPECT_TRUE(stays_unresolved(after(part(0, 4))));
  EXPECT_FALSE(stays_unresolved(after(part(2, 4))));
  EXPECT_FALSE(stays_unresolved(after(part(3, 4))));
  EXPECT_TRUE(stays_unresolved([](LaneBuilder& lane) { // two iterations ago
    lane.loop(3, [](Variable i) {
      return Round{{receive_reduce(1, acc[part(i, 4)]), send(1, acc[part(mod(Expression(i) + 2, 4), 4)])}, 0};
    });
  }));
}

TEST(Accumulators, DisjointIsSound) {
  const std::vector<std::int64_t> trips{1, 3};
  const Variable i{1};
  EXPECT_TRUE(disjoint(part(0, 4), part(1, 2), trips));
  EXPECT_FALSE(disjoint(part(1, 4), part(0, 2), trips));
  EXPECT_TRUE(disjoint(part(i, 4), part(3, 4), trips));
  EXPECT_FALSE(disjoint(part(i, 4), part(2, 4), trips));
  EXPECT_TRUE(disjoint(part(mod(i + 1, 4), 4), part(mod(2 * i + 2, 4), 4), std::vector<std::int64_t>{1, 3}));
  EXPECT_FALSE(disjoint(part(mod(i + 1, 4), 4), part(mod(2 * i + 2, 4), 4), std::vector<std::int64_t>{1, 4}));
}

TEST(Accumulators, CoversIsSound) {
  const std::vector<std::int64_t> trips{1, 4};
  EXPECT_TRUE(covers(parts(0, 2, 4), part(0, 2), trips));
  EXPECT_TRUE(covers(whole(), part(Variable{1}, 4), trips));
  EXPECT_FALSE(covers(part(0, 4), part(Variable{1}, 4), trips));
  EXPECT_FALSE(covers(part(1, 4), part(0, 2), trips));
}

TEST(Builder, LanesComeOutInOrderAndEmptyLoopsNotAtAll) {
  ProgramBuilder program;
  LaneBuilder second(LaneId{5}, "", 1), first(LaneId{2}, "", 1);
  second.loop(0, [](Variable) { return Round{}; });
  program.add(std::move(second));
  program.add(std::move(first));
  const Program p = program.finish();
  EXPECT_EQ(p.lanes[0].id, LaneId{2});
  EXPECT_TRUE(p.lanes[1].body.empty());
}

TEST(Builder, NestedLoopsUseOneVariableEach) {
  LaneBuilder lane(LaneId{0}, "", 1);
  lane.loop(3, [](BodyBuilder& outer, Variable i) {
    outer.loop(2, [&](BodyBuilder& inner, Variable j) { inner.step(signal(2 * Expression(i) + j)); });
  });
  std::vector<std::int64_t> peers;
  for_each_round(lane.take(), 0,
                 [&](const Round& round, Values v) { peers.push_back(round.steps[0].peer.evaluate(v)); });
  EXPECT_EQ(peers, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
}

TEST(Instantiate, MovesInnerLoopsUp) {
  LaneBuilder lane(LaneId{0}, "", 1);
  lane.loop(3, [](BodyBuilder& outer, Variable i) {
    outer.loop(2, [&](BodyBuilder& inner, Variable j) { inner.step(signal(10 * Expression(i) + j)); });
  });
  const Lane whole_lane = lane.take();
  const Body second = instantiate(std::get<Loop>(whole_lane.body[0]).body, 1, 2);
  EXPECT_EQ(std::get<Round>(std::get<Loop>(second[0]).body[0]).steps[0].peer, Variable{1} + 20);
}

} // namespace
} // namespace kumihimo
