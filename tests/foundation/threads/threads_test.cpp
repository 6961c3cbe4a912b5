#include "threads/array.hpp"
#include "threads/partition.hpp"
#include "threads/pipeline.hpp"
#include "threads/team.hpp"

#include <gtest/gtest.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace kumihimo::threads {
namespace {

TEST(Part, PartsCoverTheRangeInOrder) {
  for (const std::int64_t n : {0, 1, 7, 64, 1000}) {
    for (const std::int64_t m : {1, 2, 3, 64}) {
      std::int64_t end = 0;
      for (std::int64_t i = 0; i < m; ++i) {
        const IndexRange range = part(n, i, m);
        EXPECT_EQ(range.begin, end);
        EXPECT_LE(range.size(), n / m + 1);
        end = range.end;
      }
      EXPECT_EQ(end, n);
    }
  }
}

TEST(ThreadedArray, HoldsZerosAlignedToAPage) {
  for (const int team : {1, 2, 5}) {
    ASSERT_TRUE(use(team).ok());
    for (const std::int64_t size : {1, 511, 512, 513, 100000}) {
      const Result<ThreadedArray<double>> made = ThreadedArray<double>::zeros(size);
      ASSERT_TRUE(made);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(made->data()) % 4096, 0u);
      EXPECT_TRUE(std::all_of(made->begin(), made->end(), [](double x) { return x == 0; }));
    }
  }
  ASSERT_TRUE(use(1).ok());
}

TEST(ThreadedArray, SaysThatMemoryIsMissing) {
  const auto made = ThreadedArray<double>::zeros(std::numeric_limits<std::int64_t>::max() / 16);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().sentence().find("memory"), std::string::npos) << made.error().sentence();
}

TEST(Team, HasTheNumberOfThreadsThatIsAskedFor) {
  ASSERT_TRUE(use(3).ok());
  EXPECT_EQ(count(), 3);
  int seen = 0;
#pragma omp parallel reduction(+ : seen)
  ++seen;
  EXPECT_EQ(seen, 3);
  EXPECT_FALSE(use(0).ok());
  EXPECT_FALSE(use(-1).ok());
  EXPECT_FALSE(use(2000000000).ok());
  ASSERT_TRUE(use(1).ok());
}

// In a thread of its own, whose team and processors end with it.
std::string bound_apart(int team, int local_rank, int times = 1) {
  std::string text;
  std::thread([&] {
    if (!use(team).ok()) return;
    for (int i = 0; i < times; ++i) text = bind(local_rank);
  }).join();
  return text;
}

// A smaller team in between must not cost the threads their processors.
TEST(Team, KeepsItsProcessorsBesideASmallerOne) {
  ::unsetenv("OMP_PROC_BIND");
  ::unsetenv("OMP_PLACES");
  int inside = 0;
  ASSERT_TRUE(use(3).ok());
  run_apart(2, [&] { inside = count(); });
  EXPECT_EQ(inside, 2);
  EXPECT_EQ(count(), 3);
  std::vector<pid_t> before(3), after(3);
  std::thread([&] {
    ASSERT_TRUE(use(3).ok());
    bind();
#pragma omp parallel num_threads(3)
    before[static_cast<std::size_t>(omp_get_thread_num())] = ::gettid();
    run_apart(2, [] {
      int seen = 0;
#pragma omp parallel reduction(+ : seen)
      ++seen;
      EXPECT_EQ(seen, 2);
    });
#pragma omp parallel num_threads(3)
    after[static_cast<std::size_t>(omp_get_thread_num())] = ::gettid();
  }).join();
  EXPECT_EQ(before, after) << "the threads of the team are others";
  EXPECT_THROW(run_apart(1, [] { throw std::runtime_error("kept"); }), std::runtime_error);
  ASSERT_TRUE(use(1).ok());
}

// Within a parallel region OpenMP gives one thread, whatever is asked for. It must not wait for tiles of others.
TEST(Pipeline, EndsWithFewerThreadsThanAskedFor) {
  ASSERT_TRUE(use(2).ok());
  std::vector<std::int64_t> tiles;
#pragma omp parallel num_threads(2)
  {
#pragma omp single
    run_pipeline(5, 3, 1, [&](std::int64_t tile, std::int64_t) { tiles.push_back(tile); });
  }
  EXPECT_EQ(tiles, (std::vector<std::int64_t>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}));
}

// A step finds that step of the tile before it done, and a tile begins as far behind as it was told, or when that one
// is done.
TEST(Pipeline, KeepsTheOrderOfTiles) {
  ASSERT_TRUE(use(3).ok());
  constexpr std::int64_t tiles = 7, steps = 40;
  for (const std::int64_t ahead : {1, 4, 100}) {
    std::vector<std::atomic<std::int64_t>> done(tiles);
    std::atomic<int> wrong = 0;
    run_pipeline(tiles, steps, ahead, [&](std::int64_t tile, std::int64_t step) {
      const std::int64_t before = tile > 0 ? done[static_cast<std::size_t>(tile) - 1].load() : steps;
      if (before <= step) ++wrong;
      if (step == 0 && before < std::min(ahead, steps)) ++wrong; // every tile waits for its first step
      if (done[static_cast<std::size_t>(tile)]++ != step) ++wrong;
      if (step % 8 == tile) std::this_thread::yield();
    });
    EXPECT_EQ(wrong, 0) << ahead;
    for (const auto& each : done) EXPECT_EQ(each, steps);
  }
  ASSERT_TRUE(use(1).ok());
}

TEST(Team, IsBoundAfterThatOfTheRankBefore) {
  ::unsetenv("OMP_PROC_BIND");
  ::unsetenv("OMP_PLACES");
  const std::vector<int> processors = allowed_processors();
  ASSERT_FALSE(processors.empty());
  for (int rank = 0; rank < 5; ++rank) {
    const int first = processors[static_cast<std::size_t>(rank) % processors.size()];
    EXPECT_EQ(bound_apart(1, rank), "1 thread on processor " + std::to_string(first)) << "ranks take turns";
  }
  const std::string two = bound_apart(2, 0);
  EXPECT_EQ(bound_apart(2, 0, 3), two) << "the third binding is that of the first";
  ::setenv("OMP_PROC_BIND", "true", 1);
  EXPECT_EQ(bound_apart(1, 0), "bound by OMP_PROC_BIND");
  ::unsetenv("OMP_PROC_BIND");
}

} // namespace
} // namespace kumihimo::threads
