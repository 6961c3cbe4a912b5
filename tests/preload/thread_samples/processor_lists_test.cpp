#include "thread_samples/processor_lists.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>
#include <thread>

namespace kumihimo::thread_samples {
namespace {

TEST(ProcessorLists, TheListIsTheKernels) {
  std::ifstream status("/proc/self/status");
  std::string word, list;
  while (status >> word)
    if (word == "Cpus_allowed_list:") status >> list;
  ASSERT_FALSE(list.empty());
  EXPECT_EQ(processors_of_thread(0), list);
}

TEST(ProcessorLists, AListIsReadAsItIsWritten) {
  std::minstd_rand random(7);
  for (int run = 0; run < 200; ++run) {
    ProcessorMask mask{};
    std::vector<int> set;
    for (int processor = 0; processor < 300; ++processor)
      if (random() % 3 == 0) CPU_SET_S(processor, sizeof mask, mask.data()), set.push_back(processor);
    EXPECT_EQ(processors_in(list_of(mask)), set);
  }
  EXPECT_EQ(processors_in("0-3,8"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_TRUE(processors_in("").empty());
  EXPECT_TRUE(processors_in("none").empty());
}

// A thread that a launcher bound to one processor finds all that the control groups leave.
TEST(ProcessorLists, AWidenedThreadHasWhatTheControlGroupsAllow) {
  std::string narrow, wide;
  const std::string whole = [] {
    std::string found;
    std::thread([&] { found = widen_calling_thread(); }).join();
    return found;
  }();
  ASSERT_FALSE(whole.empty());
  std::thread([&] {
    const int processor = processors_in(whole).back();
    ProcessorMask one{};
    CPU_SET_S(processor, sizeof one, one.data());
    ASSERT_EQ(sched_setaffinity(0, sizeof one, one.data()), 0);
    narrow = processors_of_thread(0);
    wide = widen_calling_thread();
    EXPECT_EQ(narrow, std::to_string(processor));
  }).join();
  EXPECT_EQ(wide, whole);
}

} // namespace
} // namespace kumihimo::thread_samples
