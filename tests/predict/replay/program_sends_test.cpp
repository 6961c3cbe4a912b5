#include "replay/program_sends.hpp"

#include "recorded.hpp"
#include "replay/graphs.hpp"

#include <gtest/gtest.h>

namespace kumihimo::replay {
namespace {

using Sent = std::vector<goal::SentTo>;

std::vector<Choice> chosen(const Recording& recording, const std::vector<std::string>& algorithms) {
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < recording.calls().size(); ++i)
    choices.push_back({*Registry::standard().find(all_collectives[recording.calls()[i].collective],
                                                  algorithms[i % algorithms.size()]),
                       {}});
  return choices;
}

// Messages, cancelled receives, and collectives that block or do not, of all ranks and of some.
Recording mixed() {
  Recording recording = recording_of(std::vector<Events>(4));
  const std::uint32_t odd = recording.add_communicator({3, 1});
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    const std::int32_t after = (rank + 1) % 4, before = (rank + 3) % 4;
    Events events{compute(10), enter(), event(EventKind::start_send, after, 100 + rank, 0, 1),
                  event(EventKind::receive, before, 100 + before), event(EventKind::end_send, after, 0, 0, 1), leave()};
    for (int n = 0; n < 3; ++n)
      events.insert(events.end(), {enter(), collective(CollectiveKind::allreduce, 64), leave()});
    const Event begun = collective(CollectiveKind::allreduce, 8, -1, EventKind::start_collective, 7);
    const Event ended = collective(CollectiveKind::allreduce, 8, -1, EventKind::end_collective, 7);
    events.insert(events.end(), {enter(), begun, leave(), enter(), ended, leave()});
    if (rank % 2 == 1) events.insert(events.end(), {enter(), on(odd, collective(CollectiveKind::bcast, 8, 0)), leave()});
    recording.set(rank, std::move(events));
  }
  EXPECT_TRUE(recording.complete());
  return recording;
}

TEST(ProgramSends, AreThoseOfTheGraphs) {
  const Recording recording = mixed();
  ASSERT_EQ(recording.calls().size(), 3u);
  for (const auto& of_rings : {true, false}) {
    std::vector<Choice> choices = chosen(recording, {"recursive_doubling", "binomial", "binomial"});
    for (std::size_t i = 0; i < choices.size(); ++i)
      if (recording.calls()[i].bytes == 64 && of_rings)
        choices[i].variant = *Registry::standard().find(CollectiveKind::allreduce, "ring");
    const auto program = program_of(recording, choices);
    ASSERT_TRUE(program) << program.error().problem;
    ProgramSends sends(recording, choices, std::nullopt);
    for (std::int32_t rank = 0; rank < 4; ++rank) {
      const auto found = sends.of(rank);
      ASSERT_TRUE(found) << found.error().problem;
      EXPECT_EQ(*found, goal::sends_of(program->graphs, rank)) << rank;
      EXPECT_FALSE(found->empty());
    }
  }
}

TEST(ProgramSends, ACallWithoutAnAlgorithmSendsNothing) {
  const Recording recording = mixed();
  const std::vector<Choice> none(recording.calls().size());
  EXPECT_EQ(*ProgramSends(recording, none, std::nullopt).of(2), (Sent{{3, 102, 1}}));
}

TEST(ProgramSends, AnAlgorithmThatDoesNotFitIsNamedWithItsCollective) {
  const Events each{enter(), collective(CollectiveKind::allgather, 8), leave()};
  Recording recording = recording_of({each, each, each});
  ASSERT_TRUE(recording.complete());
  const auto found = ProgramSends(recording, chosen(recording, {"neighbour_exchange"}), std::nullopt).of(0);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().problem.find("allgather of 8 bytes a block on 3 ranks"), std::string::npos)
      << found.error().problem;
}

// 70 million operations, more than graphs may have; their memory would be 4 GB.
TEST(ProgramSends, AProgramMayBeLargerThanGraphs) {
  constexpr std::int32_t ranks = 256;
  constexpr std::uint64_t calls = 540;
  Events events;
  for (std::uint64_t n = 0; n < calls; ++n)
    events.insert(events.end(), {enter(), collective(CollectiveKind::alltoall, 8 * ranks), leave()});
  Recording recording = recording_of(std::vector<Events>(ranks, events));
  ASSERT_TRUE(recording.complete());
  ProgramSends sends(recording, chosen(recording, {"linear"}), std::nullopt);
  for (const std::int32_t rank : {0, 100, 255}) {
    Sent expected;
    for (std::int32_t to = 0; to < ranks; ++to)
      if (to != rank) expected.push_back({to, 8 * calls, calls});
    EXPECT_TRUE(*sends.of(rank) == expected) << rank;
  }
}

} // namespace
} // namespace kumihimo::replay
