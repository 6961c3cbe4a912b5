// A schedule on groups: each group does what the schedule does, and no message leaves it.
#include "program/cursor.hpp"
#include "schedule/on_groups.hpp"

#include <gtest/gtest.h>

#include <map>

namespace kumihimo {
namespace {

// Each rank sends its whole vector to the next one of a ring.
Schedule ring(std::int32_t ranks) {
  Schedule made(make_collective(CollectiveKind::bcast, ranks, 4));
  made.algorithm = "ring";
  made.program = [ranks](Rank rank) {
    Chunk whole;
    whole.buffer = {Buffer::Kind::output, 0};
    whole.extent.runs = {RunList{0, 1, {}, {}}};
    Step send, receive;
    send.kind = StepKind::send, receive.kind = StepKind::receive;
    send.peer = (rank.value + 1) % ranks, receive.peer = (rank.value + ranks - 1) % ranks;
    send.source = receive.target = whole;
    Lane lane;
    lane.body = {Loop{2, 1, {Round{{send, receive}, 0}}}};
    Program program;
    program.lanes = {lane};
    return program;
  };
  return made;
}

TEST(OnGroups, MessagesStayInTheGroupAndMeet) {
  for (const std::int32_t stride : {1, 2, 4}) {
    const std::int32_t members = 3, ranks = 24;
    const Result<NamedPrograms> all = on_groups(ring(members), ranks, stride);
    ASSERT_TRUE(all.ok()) << all.error().sentence();
    EXPECT_EQ(all->set.ranks(), ranks);
    std::map<std::pair<std::int64_t, std::int64_t>, int> open; // from, to
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      const Program program = all->set.program(Rank{rank});
      for_each_round(program.lanes[0], 0, [&](const Round& round, Values values) {
        for (const Step& step : round.steps) {
          const std::int64_t peer = step.peer.evaluate(values);
          EXPECT_EQ(peer % stride, rank % stride);
          EXPECT_EQ(peer / (stride * members), rank / (stride * members));
          if (step.sends()) ++open[{rank, peer}];
          if (step.receives()) --open[{peer, rank}];
        }
      });
    }
    EXPECT_EQ(open.size(), static_cast<std::size_t>(ranks));
    for (const auto& [pair, count] : open) EXPECT_EQ(count, 0);
  }
}

TEST(OnGroups, WhatFitsNoGroupsIsOneSentence) {
  EXPECT_EQ(on_groups(ring(3), 8, 1).error().sentence(),
            "groups of 3 members, 1 apart, must make up all ranks (got 8)");
  Schedule offloaded = ring(2);
  offloaded.claims.offloads = true;
  EXPECT_EQ(on_groups(offloaded, 4, 1).error().sentence(),
            "groups take no schedule that the network's engine performs (got ring)");
}

} // namespace
} // namespace kumihimo
