#include "goal/noise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>

namespace kumihimo::goal {
namespace {

TEST(Noise, IsOnRanksOfTheJob) {
  NoiseModel some;
  some.length = 100, some.interval = 1000, some.ranks = {{0, 0}, {1, 3}};
  EXPECT_TRUE(check(some, 4));
  EXPECT_EQ(check(some, 3).error().sentence(),
            "ranks with noise must be from 0 to 2, the last one of the job (got 1-3)");
}

TEST(Noise, LengthensWorkByTheDetoursThatItMeets) {
  NoiseModel trace;
  trace.kind = NoiseModel::Kind::trace;
  trace.interval = 1000, trace.detours = {{100, 50}, {500, 100}}, trace.cosched = true;
  ASSERT_TRUE(check(trace));
  // A golden copy that goes picosecond by picosecond, at whatever phase.
  std::optional<Time> phase;
  for (Time candidate = 0; candidate < 1000 && !phase; ++candidate) {
    bool fits = true;
    for (Time start = 0; start < 1000 && fits; start += 7) {
      Noise noise(trace, 2);
      Time left = 130, at = start;
      const auto busy = [&](Time time) {
        const Time place = (time + candidate) % 1000;
        return (place >= 100 && place < 150) || (place >= 500 && place < 600);
      };
      for (; left > 0; ++at) left -= !busy(at);
      fits = noise.lost(1, start, 130) == at - start - 130;
    }
    if (fits) phase = candidate;
  }
  EXPECT_TRUE(phase);
}

// Seeds that follow each other draw other phases, not the same ones for other ranks.
TEST(Noise, SeedsHaveNothingInCommon) {
  constexpr std::int32_t ranks = 10'000;
  const auto rests = [](std::uint64_t seed) { // of the detour that a rank is in at the start
    NoiseModel model;
    model.length = 500'000'000'000, model.interval = 1'000'000'000'000, model.seed = seed;
    Noise noise(model, ranks);
    std::set<Time> all;
    for (std::int32_t rank = 0; rank < ranks; ++rank) all.insert(noise.lost(rank, 0, 1));
    all.erase(0);
    return all;
  };
  const std::set<Time> first = rests(1), second = rests(2);
  EXPECT_GT(first.size(), 4500U);
  EXPECT_LT(std::count_if(second.begin(), second.end(), [&](Time each) { return first.count(each) > 0; }), 5);
}

TEST(Noise, TakesItsShareInTheLongRun) {
  for (const auto kind : {NoiseModel::Kind::periodic, NoiseModel::Kind::exponential}) {
    NoiseModel model;
    model.kind = kind, model.interval = 1'000'000, model.length = 100'000, model.every = 2;
    Noise noise(model, 3);
    Time time = 0, lost = 0, work = 0;
    for (int step = 0; step < 20000; ++step) {
      const Time here = noise.lost(2, time, 333'333);
      lost += here, work += 333'333, time += 333'333 + here;
    }
    EXPECT_NEAR(static_cast<double>(lost) / static_cast<double>(time), 0.1, 0.01);
    EXPECT_EQ(noise.lost(1, time, 333'333), 0U);
  }
}

// Of a processor and an interface, which are busy at once, each loses what it would lose alone.
TEST(Noise, TakesFromAllWorkOfARankThatOverlaps) {
  for (const auto kind : {NoiseModel::Kind::periodic, NoiseModel::Kind::exponential}) {
    NoiseModel model;
    model.kind = kind, model.interval = 1'000'000, model.length = 100'000;
    Noise both(model, 1), second(model, 1);
    EXPECT_GT(both.lost(0, 0, 20'000'000), 0U);
    const Time lost = both.lost(0, 5'000'000, 5'000'000);
    EXPECT_GT(lost, 0U);
    EXPECT_EQ(lost, second.lost(0, 5'000'000, 5'000'000));
  }
}

TEST(Noise, IsOnTheRanksNamedAlone) {
  NoiseModel model;
  model.interval = 1'000'000, model.length = 100'000, model.every = 2, model.ranks = {{1, 4}, {7, 100}};
  Noise noise(model, 10);
  for (std::int32_t rank = 0; rank < 10; ++rank)
    EXPECT_EQ(noise.lost(rank, 0, 5'000'000) > 0, rank == 2 || rank == 4 || rank == 8) << rank;
  model.ranks = {{3, 2}};
  EXPECT_FALSE(check(model));
}

TEST(Noise, WrongOnesAreRefused) {
  EXPECT_FALSE(check({NoiseModel::Kind::periodic, 0, 0, {}, false, 1, 1}));
  EXPECT_FALSE(check({NoiseModel::Kind::periodic, 100, 95, {}, false, 1, 1}));
  EXPECT_FALSE(check({NoiseModel::Kind::trace, 100, 0, {{10, 20}, {15, 5}}, false, 1, 1}));
  EXPECT_EQ(parse_noise_trace("# a\n10 5\n12 3\n", "n").error().problem,
            "n:3: each detour must begin after the end of the one before (got '12 3')");
  EXPECT_FALSE(parse_noise_trace("", "n"));
  EXPECT_FALSE(parse_noise_trace("1 2 3\n", "n"));
  const auto micro = parse_noise_trace("# start[usec] duration[usec]\n1.0 0.01\n2.0 0.02\n", "n");
  EXPECT_EQ(micro->detours, (std::vector<NoiseDetour>{{1000000, 10000}, {2000000, 20000}}));
  EXPECT_FALSE(parse_noise_trace("# start[usec]\n1e13 1\n", "n"));
  const auto trace = parse_noise_trace("1000\t10\n2000\t20\n", "n");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->interval, 2'020'000U);
}

} // namespace
} // namespace kumihimo::goal
