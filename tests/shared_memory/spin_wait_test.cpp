#include "shared_memory/affinity.hpp"
#include "shared_memory/spin_wait.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>

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
