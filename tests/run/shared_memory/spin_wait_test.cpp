#include "shared_memory/affinity.hpp"
#include "shared_memory/spin_wait.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

namespace kumihimo::shared_memory {
namespace {

TEST(SpinWait, Spins_a_while_then_yields_for_good_and_drives_at_equal_distances) {
  for (const bool crowded : {false, true}) {
    SpinWait waiting(crowded);
    EXPECT_TRUE(waiting.spins());
    while (waiting.spins()) waiting.turn();
    waiting.reset();
    std::int32_t since = 0, spun = 0;
    for (int turn = 0; turn < 100'000; ++turn) {
      spun += waiting.spins();
      ++since;
      const bool drives = waiting.turn();
      ASSERT_EQ(drives, since == turns_between_polls) << turn;
      if (drives) since = 0;
    }
    EXPECT_EQ(spun, crowded ? 4 : 50);
    EXPECT_FALSE(waiting.spins());
    waiting.reset();
    EXPECT_TRUE(waiting.spins());
  }
}

TEST(SpinWait, Spins_as_long_as_the_last_yield_that_gave_the_processor_away) {
  SpinWait waiting;
  EXPECT_EQ(waiting.patience_ns(), 0);
  waiting.note_yield(400);
  EXPECT_EQ(waiting.patience_ns(), 0);
  waiting.note_yield(2'000'000);
  EXPECT_EQ(waiting.patience_ns(), 2'000'000);
  waiting.note_yield(60'000'000'000);
  EXPECT_LE(waiting.patience_ns(), 4'000'000) << "the program may have been stopped";
  waiting.note_yield(400);
  EXPECT_GT(waiting.patience_ns(), 3'000'000) << "one short yield says little";
  for (int i = 0; i < 100; ++i) waiting.note_yield(400);
  EXPECT_EQ(waiting.patience_ns(), 0) << "the processor is free again";
}

TEST(SpinWait, Yields_once_its_patience_is_over) {
  SpinWait waiting;
  while (waiting.spins()) waiting.turn();
  waiting.note_yield(1'000'000);
  const auto begun = std::chrono::steady_clock::now();
  while (waiting.patience_ns() == 1'000'000) waiting.turn(); // it changes with the next yield
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::nanoseconds(1'000'000));
}

TEST(Processors, Are_those_that_the_system_names) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) GTEST_SKIP() << "a machine of more than 1024 processors";
  const std::vector<std::int32_t> allowed = allowed_processors();
  EXPECT_EQ(static_cast<int>(allowed.size()), CPU_COUNT(&set));
  for (const std::int32_t processor : allowed) EXPECT_TRUE(CPU_ISSET(processor, &set)) << processor;
}

TEST(Processors, A_bound_process_has_the_one_that_it_was_bound_to) {
  cpu_set_t before;
  if (sched_getaffinity(0, sizeof before, &before) != 0) GTEST_SKIP() << "a machine of more than 1024 processors";
  const std::int32_t last = allowed_processors().back();
  ASSERT_TRUE(bind_to(last));
  EXPECT_EQ(allowed_processors(), std::vector<std::int32_t>{last});
  EXPECT_FALSE(bind_to(1'000'000)) << "no machine has it";
  EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(Processors, OfOnePackageNameItAndOthersDoNot) {
  const std::filesystem::path system = std::filesystem::path(::testing::TempDir()) / "packages";
  for (const auto& [processor, package] : {std::pair{0, "0"}, {1, "0"}, {2, "36"}, {3, "-1"}}) {
    const auto folder = system / ("cpu" + std::to_string(processor)) / "topology";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "physical_package_id") << package << '\n';
  }
  using Numbers = std::vector<std::int32_t>;
  EXPECT_EQ(package_of(Numbers{0, 1}, system), 0);
  EXPECT_EQ(package_of(Numbers{2}, system), 36);
  EXPECT_EQ(package_of(Numbers{1, 2}, system), -1);
  EXPECT_EQ(package_of(Numbers{3}, system), -1) << "some systems do not know";
  EXPECT_EQ(package_of(Numbers{1, 4}, system), -1) << "nothing is said of it";
  EXPECT_EQ(package_of({}, system), -1);
}

TEST(Processors, Of_several_ranks_are_counted_once_beyond_1024_too) {
  const std::int32_t first[] = {0, 1, 63}, second[] = {1, 64, 2047};
  ProcessorMask masks = mask_of(first);
  const ProcessorMask other = mask_of(second);
  EXPECT_EQ(other.size(), 32u);
  masks.resize(other.size());
  masks.insert(masks.end(), other.begin(), other.end());
  EXPECT_EQ(processors_in(masks, other.size()), 5);
  EXPECT_EQ(processors_in({}, 0), 1) << "where the system says nothing";
}

} // namespace
} // namespace kumihimo::shared_memory
