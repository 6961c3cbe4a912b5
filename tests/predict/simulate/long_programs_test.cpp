// Programs that are read a piece at a time take the same time as those that are held whole.
#include "random_programs.hpp"

#include <map>

namespace kumihimo::simulate_test {
namespace {

// Pieces of so many steps, whatever is asked, so that short programs have many.
ProgramSet in_pieces(ProgramSet set, std::int64_t steps) {
  const auto whole = set.program;
  set.program = [](Rank) -> Program { throw std::logic_error("a program was read whole"); };
  set.reader = RoundReader{
      [whole](Rank rank) {
        Program program = whole(rank);
        for (Lane& lane : program.lanes) lane.body.clear();
        return program;
      },
      [whole, steps](Rank rank, LaneId id, std::int64_t position, std::int64_t) {
        const Program program = whole(rank);
        RoundPiece piece;
        for (const Lane& lane : program.lanes) {
          if (lane.id != id) continue;
          std::int64_t taken = 0;
          auto at = static_cast<std::size_t>(position);
          for (; at < lane.body.size() && taken < steps; ++at) {
            piece.rounds.push_back(std::get<Round>(lane.body[at]));
            taken += static_cast<std::int64_t>(piece.rounds.back().steps.size());
          }
          if (at < lane.body.size()) piece.next = static_cast<std::int64_t>(at);
        }
        return piece;
      },
      [](Rank) { return std::int64_t{1} << 40; },
  };
  return set;
}

SchedulePrediction prediction_of(const ProgramSet& set, const Job& job, ScheduleModel model) {
  SimulateOptions options = without_exact_work(model);
  options.keep_link_bytes = true;
  const auto p = simulate(set, job, {}, options);
  EXPECT_TRUE(p.ok()) << (p ? "" : p.error().sentence());
  return p ? *p : SchedulePrediction{};
}

class LongPrograms : public BothModels {};
KUMIHIMO_IN_BOTH_MODELS(LongPrograms);

TEST_P(LongPrograms, TakeTheSameTimeAPieceAtATime) {
  RandomProgramSets sets(7);
  for (int i = 0; i < 100; ++i) {
    const RandomPrograms c = sets.next();
    const SchedulePrediction whole = prediction_of(c.set, c.job, GetParam());
    for (const std::int64_t steps : {1, 3, 1000}) {
      const SchedulePrediction pieces = prediction_of(in_pieces(c.set, steps), c.job, GetParam());
      EXPECT_EQ(pieces.seconds.value, whole.seconds.value) << c.text() << ", " << steps << " steps at a time";
      EXPECT_EQ(pieces.link_bytes, whole.link_bytes) << c.text() << ", " << steps << " steps at a time";
      EXPECT_EQ(pieces.limiting, whole.limiting) << c.text() << ", " << steps << " steps at a time";
      EXPECT_EQ(pieces.compute.value, whole.compute.value) << c.text() << ", " << steps << " steps at a time";
      EXPECT_EQ(pieces.accuracy, whole.accuracy) << c.text() << ", " << steps << " steps at a time";
    }
  }
}

// Faults are found in pieces that are read while the others run.
TEST_P(LongPrograms, FaultsAreFound) {
  constexpr std::int64_t elements = 100;
  const auto asked = [&](std::int64_t sent, std::int32_t from) {
    const ProgramSet set = by_hand(3, elements, 1, [=](std::int32_t r, ProgramBuilder& p) {
      LaneBuilder lane(LaneId{0}, "one", 1);
      for (int i = 0; i < 10; ++i) {
        if (r == 0) lane.step(send(1, out[parts(0, i < 9 ? elements : sent, elements)]));
        if (r == 1) lane.step(receive(i < 9 ? 0 : from, out[whole()]));
      }
      p.add(std::move(lane));
    });
    return simulate(in_pieces(set, 1), described("k-computer", "3"), {}, without_exact_work(GetParam()));
  };
  ASSERT_TRUE(asked(elements, 0).ok());
  const auto unequal = asked(elements - 1, 0), stuck = asked(elements, 2);
  ASSERT_FALSE(unequal.ok());
  EXPECT_NE(unequal.error().sentence().find("sends 99"), std::string::npos) << unequal.error().sentence();
  ASSERT_FALSE(stuck.ok());
  EXPECT_NE(stuck.error().sentence().find(GetParam() == ScheduleModel::exact ? "deadlock" : "has no send"),
            std::string::npos)
      << stuck.error().sentence();
}

// As of a file that is written meanwhile: the second time that a lane is read its pieces are larger.
TEST_P(LongPrograms, PiecesThatBecomeLargerHarmNothing) {
  RandomProgramSets sets(8);
  for (int i = 0; i < 50; ++i) {
    const RandomPrograms c = sets.next();
    ProgramSet set = in_pieces(c.set, 1);
    const auto small = set.reader->piece, large = in_pieces(c.set, 1000).reader->piece;
    const auto read = std::make_shared<std::map<std::pair<std::int32_t, std::int32_t>, bool>>();
    set.reader->piece = [=](Rank rank, LaneId lane, std::int64_t position, std::int64_t steps) {
      bool& again = (*read)[{rank.value, lane.value}];
      const RoundPiece piece = again ? large(rank, lane, position, steps) : small(rank, lane, position, steps);
      again = again || !piece.next;
      return piece;
    };
    const auto p = simulate(set, c.job, {}, without_exact_work(GetParam()));
    const SchedulePrediction whole = prediction_of(c.set, c.job, GetParam());
    ASSERT_TRUE(p.ok()) << c.text();
    EXPECT_EQ(p->seconds.value, whole.seconds.value) << c.text();
  }
}

} // namespace
} // namespace kumihimo::simulate_test
