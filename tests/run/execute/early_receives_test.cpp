// Which receives may be written before they are started. The loopback of all other tests writes wrong bytes into every
// one at the start of a run, so they show that none is missing a condition; here is what each condition is about.
#include "execute/early_receives.hpp"
#include "loopback/loopback.hpp"
#include "program/builder.hpp"
#include "schedule/schedule.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <span>

namespace kumihimo::execute {
namespace {

using Steps = std::function<void(LaneBuilder& lane, ProgramBuilder& program)>;

// The early receives of rank 1 of three, from rank 0 and 2, with 30 elements of 8 bytes.
std::vector<EarlyOp> found(CollectiveKind kind, const Steps& steps, std::int64_t least_bytes = 1,
                           std::int64_t segments = 3, bool in_place = false) {
  Collective collective = make_collective(kind, 3, 30);
  collective.in_place = in_place;
  Schedule schedule(collective);
  schedule.segments = {segments};
  schedule.program = [&](Rank) {
    ProgramBuilder program(Segments{segments});
    LaneBuilder lane(LaneId{0}, "", 1);
    steps(lane, program);
    program.add(std::move(lane));
    return program.finish();
  };
  const Result<CompiledProgram> program = compile(schedule, Rank{1});
  EXPECT_TRUE(program.ok());
  return program ? early_receives(*program, least_bytes) : std::vector<EarlyOp>{};
}

TEST(EarlyReceives, A_target_that_nothing_else_writes_is_early_in_every_segment) {
  const auto steps = [](LaneBuilder& lane, ProgramBuilder&) {
    lane.step(receive(0, out[whole()]));
    lane.step(send(2, out[whole()]));
  };
  const std::vector<EarlyOp> early = found(CollectiveKind::allreduce, steps);
  ASSERT_EQ(early.size(), 3u);
  for (const EarlyOp& op : early) {
    EXPECT_EQ(op.peer, Rank{0});
    EXPECT_EQ(op.area, Area::output);
    EXPECT_EQ(op.bytes, 80);
    EXPECT_EQ(op.first, op.segment * 80);
  }
  EXPECT_EQ(found(CollectiveKind::allreduce, steps, 80).size(), 3u);
  EXPECT_TRUE(found(CollectiveKind::allreduce, steps, 81).empty());
  EXPECT_EQ(found(CollectiveKind::bcast, steps).size(), 3u) << "read in a later round of the same segment";
}

TEST(EarlyReceives, A_target_that_is_written_twice_is_not) {
  EXPECT_TRUE(found(CollectiveKind::allreduce, [](LaneBuilder& lane, ProgramBuilder&) {
                lane.step(receive(0, out[whole()]));
                lane.step(receive(2, out[whole()]));
              }).empty());
  EXPECT_TRUE(found(CollectiveKind::allreduce, [](LaneBuilder& lane, ProgramBuilder&) {
                lane.step(copy(out[whole()], in[whole()]));
                lane.step(receive(2, out[whole()]));
              }).empty());
}

TEST(EarlyReceives, Memory_that_has_a_content_is_read_first) {
  const auto steps = [](LaneBuilder& lane, ProgramBuilder&) {
    lane.step(send(2, in[whole()]));
    lane.step(receive(0, out[whole()]));
  };
  EXPECT_EQ(found(CollectiveKind::allreduce, steps).size(), 3u);
  EXPECT_TRUE(found(CollectiveKind::allreduce, steps, 1, 3, true).empty()) << "in place";
}

TEST(EarlyReceives, A_scratch_cell_of_the_window_is_written_by_several_segments) {
  const auto steps = [](LaneBuilder& lane, ProgramBuilder& program) {
    const Array aside = program.scratch(LaneId{0}, 1, 1);
    lane.step(receive(0, aside[whole()]));
    lane.step(copy(out[whole()], aside[whole()]));
  };
  EXPECT_TRUE(found(CollectiveKind::allreduce, steps).empty());
  const std::vector<EarlyOp> one = found(CollectiveKind::allreduce, steps, 1, 1);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].area, Area::scratch);
}

TEST(EarlyReceives, What_is_reduced_waits_in_memory_of_the_transport) {
  const std::vector<EarlyOp> early = found(CollectiveKind::allreduce, [](LaneBuilder& lane, ProgramBuilder&) {
    lane.step(receive_reduce(0, in[whole()], out[whole()]));
    lane.step(receive_reduce(2, out[whole()], out[whole()]));
  });
  ASSERT_EQ(early.size(), 6u);
  for (const EarlyOp& op : early) EXPECT_EQ(op.area, Area::none);
}

// The check in the loopback: a program that writes a target which it has named as early is found.
TEST(EarlyReceivesSabotage, The_loopback_finds_a_target_that_is_written_before_its_receive) {
  for (const bool writes : {false, true}) {
    transport::LoopbackOptions options;
    options.by_turns = true;
    transport::Loopback loopback(2, options);
    transport::Transport& transport = loopback.transport(Rank{0});
    std::int32_t open = 1;
    std::array<std::byte, 8> target{};
    transport::ReceiveRequest receive;
    receive.key = {transport.begin(transport::Stream::blocking), Rank{1}, LaneId{0}, 0, 0, false};
    receive.bytes = 8;
    receive.open = &open;
    receive.copy_into({target.data(), nullptr, 0}, 1);
    const transport::EarlyReceive early{receive.key, target.data(), 8, 1};
    transport.expect(std::span(&early, 1));
    EXPECT_NE(target[0], std::byte{0}) << "wrong bytes come at once";
    if (writes) target[3] = std::byte{0};
    transport.receive(receive);
    EXPECT_EQ(transport.has_failed(), writes);
  }
}

} // namespace
} // namespace kumihimo::execute
