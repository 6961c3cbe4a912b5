#include "recorded.hpp"
#include "replay/extrapolate.hpp"
#include "replay/graphs.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>

namespace kumihimo::replay {
namespace {

std::int32_t ranks_of(const Grid& grid) {
  std::int32_t n = 1;
  for (const std::int32_t length : grid) n *= length;
  return n;
}

// A halo exchange with one message a neighbour along each axis and one across the first two, then a reduction of all
// and one of each line along the last axis.
struct Halo {
  Grid grid;
  std::vector<bool> periodic;
  double share = 1; // of the volume of a rank

  std::vector<std::int32_t> place(std::int32_t rank) const {
    std::vector<std::int32_t> at(grid.size());
    for (std::size_t a = grid.size(); a-- > 0; rank /= grid[a]) at[a] = rank % grid[a];
    return at;
  }
  std::int32_t neighbour(std::int32_t rank, const std::vector<std::int32_t>& by) const {
    auto at = place(rank);
    for (std::size_t a = 0; a < grid.size(); ++a) {
      at[a] += by[a];
      if (at[a] < 0 || at[a] >= grid[a]) {
        if (!periodic[a]) return -1;
        at[a] = (at[a] + grid[a]) % grid[a];
      }
    }
    std::int32_t to = 0;
    for (std::size_t a = 0; a < grid.size(); ++a) to = to * grid[a] + at[a];
    return to;
  }

  Recording recording(std::int64_t work, const std::vector<std::int64_t>& face) const {
    Recording made(ranks_of(grid));
    std::vector<std::uint32_t> lines;
    for (std::int32_t first = 0; first < made.ranks(); first += grid.back()) {
      std::vector<std::int32_t> members(static_cast<std::size_t>(grid.back()));
      for (std::int32_t i = 0; i < grid.back(); ++i) members[static_cast<std::size_t>(i)] = first + i;
      lines.push_back(made.add_communicator(members));
    }
    for (std::int32_t rank = 0; rank < made.ranks(); ++rank) {
      Events events{compute(work), enter()};
      for (std::size_t a = 0; a < grid.size(); ++a)
        for (const std::int32_t side : {-1, 1}) {
          std::vector<std::int32_t> by(grid.size(), 0);
          by[a] = side;
          add(events, rank, by, static_cast<std::int32_t>(2 * a + (side > 0)), face[a]);
        }
      const Event all = collective(CollectiveKind::allreduce, 16);
      const Event line = on(lines[static_cast<std::size_t>(rank / grid.back())], all);
      events.insert(events.end(), {leave(), enter(), all, leave(), enter(), line, leave()});
      made.set(rank, events);
    }
    const Status complete = made.complete();
    EXPECT_TRUE(complete) << complete.error().problem;
    return made;
  }
  void add(Events& events, std::int32_t rank, std::vector<std::int32_t> by, std::int32_t tag,
           std::int64_t bytes) const {
    for (const EventKind kind : {EventKind::send, EventKind::receive}) {
      if (const std::int32_t peer = neighbour(rank, by); peer >= 0) events.push_back(event(kind, peer, bytes, tag));
      for (std::int32_t& each : by) each = -each; // what goes one way comes from the other
    }
  }
};

TEST(Extrapolate, AHaloExchangeOfALargerGridIsThatOfTheSmallerOne) {
  std::mt19937 random(7);
  for (int n = 0; n < 60; ++n) {
    const std::size_t axes = 1 + random() % 3;
    Halo small, large;
    std::vector<std::int64_t> face(axes, 64), faces(axes, 64);
    double volume = 1;
    for (std::size_t a = 0; a < axes; ++a) {
      small.grid.push_back(3 + static_cast<std::int32_t>(random() % 3));
      const bool grows = random() % 4 != 0;
      large.grid.push_back(grows ? 2 + static_cast<std::int32_t>(random() % 7) : small.grid.back());
      small.periodic.push_back(small.grid.back() % 2 == 1 && random() % 2 == 0);
      volume *= static_cast<double>(small.grid[a]) / large.grid[a];
    }
    large.periodic = small.periodic;
    const bool strong = random() % 2 == 0;
    for (std::size_t a = 0; a < axes && strong; ++a) {
      const double share = volume / (static_cast<double>(small.grid[a]) / large.grid[a]);
      faces[a] = std::max<std::int64_t>(1, std::llround(64 * share));
    }
    const Recording recorded = small.recording(1000, face);
    const auto extrapolated = Extrapolation::make(recorded, small.grid, large.grid, strong);
    ASSERT_TRUE(extrapolated) << extrapolated.error().problem;
    const Recording golden = large.recording(strong ? std::llround(1000 * volume) : 1000, faces);
    ASSERT_EQ(extrapolated->ranks(), golden.ranks());
    for (std::int32_t rank = 0; rank < golden.ranks(); ++rank) {
      const Events events = events_of(*extrapolated, rank);
      Events wanted = events_of(golden, rank);
      ASSERT_EQ(events.size(), wanted.size()) << "rank " << rank;
      for (std::size_t i = 0; i < events.size(); ++i) {
        if (is_collective(wanted[i].kind)) { // the numbers may differ, the members not
          ASSERT_EQ(events[i].kind, wanted[i].kind);
          const std::uint32_t mine = events[i].collective().communicator;
          const std::uint32_t theirs = std::exchange(wanted[i].collective().communicator, mine);
          ASSERT_EQ(extrapolated->size_of(mine), golden.size_of(theirs));
          for (std::int32_t r = 0; r < golden.size_of(theirs); ++r)
            ASSERT_EQ(extrapolated->member(mine, r), golden.member(theirs, r));
          ASSERT_EQ(extrapolated->rank_in(mine, rank), golden.rank_in(theirs, rank));
        }
        ASSERT_EQ(events[i], wanted[i]) << "rank " << rank << ", event " << i;
      }
    }
  }
}

TEST(Extrapolate, TheGridIsTheOneOnWhichMessagesGoLeastFar) {
  const Halo halo{{3, 4, 5}, {true, false, true}};
  const auto grid = grid_of(halo.recording(1, {8, 8, 8}));
  ASSERT_TRUE(grid) << grid.error().problem;
  EXPECT_EQ(*grid, (Grid{3, 4, 5}));
  EXPECT_EQ(scaled_grid({4, 4}, 64), (Grid{8, 8}));
  EXPECT_EQ(scaled_grid({2, 4}, 32), (Grid{4, 8}));
  EXPECT_EQ(scaled_grid({5}, 35), (Grid{35}));
}

TEST(Extrapolate, RanksThatDoTheSameShareAGraphAndItsMarks) {
  const Halo halo{{5}, {true}};
  const Recording recorded = halo.recording(1000, {8});
  const auto many = Extrapolation::make(recorded, {5}, {100}, false);
  ASSERT_TRUE(many) << many.error().problem;
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < many->calls().size(); ++i)
    choices.push_back({*Registry::standard().find(CollectiveKind::allreduce, "ring"), {}});
  const auto program = program_of(*many, choices);
  ASSERT_TRUE(program) << program.error().problem;
  EXPECT_EQ(program->graphs.ranks(), 100);
  EXPECT_LE(program->graphs.different(), 8u);
  EXPECT_LE(program->different_marks.size(), 8u);
}

Recording of_collective(std::int32_t ranks, CollectiveKind kind, std::int64_t bytes, std::int32_t root = -1) {
  Recording made(ranks);
  for (std::int32_t rank = 0; rank < ranks; ++rank) made.set(rank, {enter(), collective(kind, bytes, root), leave()});
  EXPECT_TRUE(made.complete());
  return made;
}

TEST(Extrapolate, BlocksFollowTheRulesOfScaling) {
  const auto bytes_of = [](CollectiveKind kind, std::int64_t bytes, bool strong) {
    const Recording recorded = of_collective(4, kind, bytes);
    return Extrapolation::make(recorded, {4}, {16}, strong)->calls()[0].bytes;
  };
  EXPECT_EQ(bytes_of(CollectiveKind::allreduce, 800, false), 800);
  EXPECT_EQ(bytes_of(CollectiveKind::allreduce, 800, true), 800);
  EXPECT_EQ(bytes_of(CollectiveKind::allgather, 800, false), 800);
  EXPECT_EQ(bytes_of(CollectiveKind::allgather, 800, true), 200);
  EXPECT_EQ(bytes_of(CollectiveKind::alltoall, 4 * 800, false), 200);
  EXPECT_EQ(bytes_of(CollectiveKind::alltoall, 4 * 800, true), 50);
}

TEST(Extrapolate, TheLastRankAsRootStaysTheLast) {
  EXPECT_EQ(Extrapolation::make(of_collective(4, CollectiveKind::bcast, 8, 3), {4}, {9}, false)->calls()[0].root, 8);
}

// A ring on the world and one on a duplicate of it with the same tag, and a reduction on each line of a 3 x 3 grid and
// on a duplicate of it; or on the first line alone.
Recording rings(bool all_lines) {
  Recording made(9);
  const std::uint32_t dup = made.add_communicator({0, 1, 2, 3, 4, 5, 6, 7, 8});
  for (std::int32_t line = 0; line < 3; ++line)
    for (int copy = 0; copy < 2; ++copy) made.add_communicator({3 * line, 3 * line + 1, 3 * line + 2});
  for (std::int32_t rank = 0; rank < 9; ++rank) {
    Events events{enter()};
    for (const std::uint32_t communicator : {0U, dup})
      for (const EventKind kind : {EventKind::send, EventKind::receive}) {
        const std::int32_t peer = rank / 3 * 3 + (rank + (kind == EventKind::send ? 1 : 2)) % 3;
        events.push_back(on(communicator, event(kind, peer, communicator == dup ? 100 : 8)));
      }
    events.push_back(leave());
    for (std::uint32_t copy = 0; copy < 2 && (all_lines || rank < 3); ++copy) {
      const std::uint32_t line = dup + 1 + 2 * static_cast<std::uint32_t>(rank / 3) + copy;
      events.insert(events.end(), {enter(), on(line, collective(CollectiveKind::allreduce, 16)), leave()});
    }
    made.set(rank, events);
  }
  const Status complete = made.complete();
  EXPECT_TRUE(complete) << complete.error().problem;
  return made;
}

TEST(Extrapolate, ADuplicateOfACommunicatorStaysAnother) {
  const Recording recorded = rings(true);
  const auto many = Extrapolation::make(recorded, {3, 3}, {4, 5}, false);
  ASSERT_TRUE(many) << many.error().problem;
  EXPECT_EQ(many->communicators(), 2u + 2 * 4);
  const Events events = events_of(*many, 19);
  const std::uint32_t first = events[1].message().communicator, second = events[3].message().communicator;
  const std::uint32_t line = events[7].collective().communicator, copy = events[10].collective().communicator;
  EXPECT_EQ(many->size_of(first), 20);
  EXPECT_EQ(many->size_of(second), 20);
  EXPECT_NE(first, second);
  EXPECT_EQ(many->size_of(line), 5);
  EXPECT_EQ(many->member(line, 4), 19);
  EXPECT_EQ(many->member(copy, 4), 19);
  EXPECT_NE(line, copy);
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < many->calls().size(); ++i)
    choices.push_back({*Registry::standard().find(CollectiveKind::allreduce, "ring"), {}});
  EXPECT_TRUE(program_of(*many, choices));
}

TEST(Extrapolate, OnlyLinesLikeOneWithACommunicatorHaveOne) {
  const Recording recorded = rings(false);
  const auto many = Extrapolation::make(recorded, {3, 3}, {3, 5}, false);
  ASSERT_TRUE(many) << many.error().problem;
  std::int64_t performed = 0;
  for (std::size_t i = 0; i < many->calls().size(); ++i) {
    performed += many->count_of(static_cast<std::uint32_t>(i));
    EXPECT_EQ(many->size_of(many->calls()[i].communicator), 5);
  }
  EXPECT_EQ(performed, 2);
}

// Ranks 0 and 1 of 3 change the communicators of their messages: an inner rank would send on one and not receive on it.
TEST(Extrapolate, PatternsDifferByCommunicatorToo) {
  Recording made(5);
  const std::uint32_t dup = made.add_communicator({0, 1, 2, 3, 4});
  for (std::int32_t rank = 0; rank < 5; ++rank) {
    const Event send = on(rank == 1 ? dup : 0, event(EventKind::send, (rank + 1) % 5));
    const Event receive = on(rank == 2 ? dup : 0, event(EventKind::receive, (rank + 4) % 5));
    made.set(rank, {enter(), send, receive, leave()});
  }
  ASSERT_TRUE(made.complete());
  const auto many = Extrapolation::make(made, {5}, {9}, false);
  ASSERT_FALSE(many);
  EXPECT_NE(many.error().problem.find("ranks 1 and 2 exchange with others"), std::string::npos) << many.error().problem;
}

std::string refused(const Result<Extrapolation>& made) { return made ? "" : made.error().problem; }

TEST(Extrapolate, WhatIsNotRegularIsRefusedWithTheReason) {
  Recording master(4); // sends to all others
  Events sends;
  sends.push_back(enter());
  for (std::int32_t rank = 1; rank < 4; ++rank) {
    sends.push_back(event(EventKind::send, rank));
    master.set(rank, {enter(), event(EventKind::receive, 0), leave()});
  }
  sends.push_back(leave());
  master.set(0, sends);
  ASSERT_TRUE(master.complete());
  EXPECT_NE(
      refused(Extrapolation::make(master, {4}, {8}, false)).find("ranks 1 and 2 exchange with others at different"),
      std::string::npos);

  const Halo pairs{{2}, {false}};
  EXPECT_NE(refused(Extrapolation::make(pairs.recording(1, {8}), {2}, {4}, false)).find("3 recorded ranks or more"),
            std::string::npos);

  Recording across(4); // half of the axis
  for (std::int32_t rank = 0; rank < 4; ++rank)
    across.set(rank,
               {enter(), event(EventKind::send, (rank + 2) % 4), event(EventKind::receive, (rank + 2) % 4), leave()});
  ASSERT_TRUE(across.complete());
  EXPECT_NE(refused(Extrapolation::make(across, {4}, {8}, false)), "");

  EXPECT_EQ(refused(Extrapolation::make(of_collective(4, CollectiveKind::bcast, 8, 2), {4}, {8}, false)),
            "the root 2 of a bcast is in the middle of the grid 4");
  EXPECT_NE(refused(Extrapolation::make(of_collective(4, CollectiveKind::bcast, 8, 0), {2, 2}, {8}, false)), "");
  EXPECT_NE(refused(Extrapolation::make(of_collective(4, CollectiveKind::bcast, 8, 0), {3}, {8}, false)), "");

  Recording some(4); // a communicator of three of four
  const std::uint32_t three = some.add_communicator({0, 1, 3});
  for (const std::int32_t rank : {0, 1, 3})
    some.set(rank, {enter(), on(three, collective(CollectiveKind::barrier, 0)), leave()});
  ASSERT_TRUE(some.complete());
  EXPECT_NE(refused(Extrapolation::make(some, {4}, {8}, false)).find("communicator 1 must be all ranks along"),
            std::string::npos);

  Recording unequal(3);
  for (std::int32_t rank = 0; rank < 3; ++rank)
    unequal.set(rank, {enter(), collective(CollectiveKind::allgather, 8 * rank), leave()});
  ASSERT_TRUE(unequal.complete());
  EXPECT_NE(refused(Extrapolation::make(unequal, {3}, {6}, false)).find("blocks of different lengths"),
            std::string::npos);
}

} // namespace
} // namespace kumihimo::replay
