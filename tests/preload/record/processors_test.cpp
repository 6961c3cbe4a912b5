#include "record/processors.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace kumihimo::record {
namespace {

TEST(Processors, TheListIsTheKernels) {
  std::ifstream status("/proc/self/status");
  std::string word, list;
  while (status >> word)
    if (word == "Cpus_allowed_list:") status >> list;
  ASSERT_FALSE(list.empty());
  EXPECT_EQ(allowed_processors(), list);
}

} // namespace
} // namespace kumihimo::record
