// The check of the conformance tests, given schedules that are wrong on purpose.
#include "check.hpp"
#include "program/builder.hpp"

#include <gtest/gtest.h>

namespace conformance {
namespace {

using namespace kumihimo;

constexpr std::int32_t ranks = 4;

enum class Fault { none, missing, doubled, swapped, last_segment, different_bits, writes_input };

// All inputs to rank 0 in rank order, the result to all: with one thing wrong.
Schedule gather_and_spread(const Collective& c, Fault fault) {
  Schedule s(c);
  s.segments = {3};
  s.program = [fault](Rank rank) {
    ProgramBuilder program(Segments{3});
    LaneBuilder lane(LaneId{0}, "", 1);
    const std::int64_t r = rank.value;
    if (r == 0) {
      const std::int64_t second = fault == Fault::swapped ? 2 : 1;
      const std::int64_t order[] = {second, 3 - second, 3};
      Chunk own = in[whole()];
      for (const std::int64_t peer : order) {
        if (fault == Fault::missing && peer == 3) {
          const Array aside = program.scratch(LaneId{0}, 1, 1);
          lane.step(receive(peer, aside[whole()]));
          continue;
        }
        lane.step(receive_reduce(peer, own, out[whole()]));
        own = out[whole()];
      }
      if (fault == Fault::doubled) lane.step(reduce(out[whole()], out[whole()], in[whole()]));
      Chunk for_last = out[whole()];
      if (fault == Fault::different_bits) { // the sum of the same terms in another order, for rank 3 alone
        for_last = program.scratch(LaneId{0}, 1, 1)[whole()];
        own = in[whole()];
        for (const std::int64_t peer : {3, 2, 1}) {
          lane.step(receive_reduce(peer, own, for_last));
          own = for_last;
        }
      }
      for (const std::int64_t peer : {1, 2}) lane.step(send(peer, out[whole()]));
      lane.step(send(3, for_last));
    } else {
      lane.step(send(0, in[whole()]));
      if (fault == Fault::different_bits) lane.step(send(0, in[whole()]));
      Chunk target = out[whole()];
      if (fault == Fault::writes_input) target = in[whole()];
      if (fault == Fault::last_segment && r == 2) // one part too early, in the last segment
        target = out[parts(Expression::look_up(std::make_shared<const Table>(Table{0, 0, -1}), Variable{0}), 1, 1)];
      lane.step(receive(0, target));
      if (fault == Fault::writes_input) lane.step(copy(out[whole()], in[whole()]));
    }
    program.add(std::move(lane));
    return program.finish();
  };
  return s;
}

Result<Answer> judged(Fault fault, std::size_t arithmetic) {
  Problem q;
  q.collective = make_collective(CollectiveKind::allreduce, ranks, 30);
  q.arithmetic = all_arithmetic()[arithmetic];
  q.arithmetic.apply_to(q.collective);
  return check(gather_and_spread(q.collective, fault), q);
}

TEST(Sabotage, TheSoundScheduleIsAccepted) {
  for (std::size_t a = 0; a < all_arithmetic().size(); ++a) EXPECT_TRUE(judged(Fault::none, a).ok());
}

TEST(Sabotage, FaultsAreFound) {
  for (const Fault fault : {Fault::missing, Fault::doubled, Fault::last_segment, Fault::writes_input})
    EXPECT_FALSE(judged(fault, 0).ok()) << static_cast<int>(fault);
}

TEST(Sabotage, RightWithinRoundingIsNotEnough) {
  const Result<Answer> answer = judged(Fault::different_bits, 0);
  ASSERT_FALSE(answer.ok());
  EXPECT_TRUE(answer.error().problem.starts_with("all ranks must get the same bits")) << answer.error().problem;
}

TEST(Sabotage, RankOrderMattersToMatricesAlone) {
  EXPECT_TRUE(judged(Fault::swapped, 0).ok()); // a sum may be taken in any order
  EXPECT_FALSE(judged(Fault::swapped, 2).ok());
}

} // namespace
} // namespace conformance
