#include "thread_samples/node_cores.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace kumihimo::thread_samples {
namespace {

namespace fs = std::filesystem;

// Files of a node in a folder that goes with the test.
class NodeFiles : public testing::Test {
 protected:
  NodeFiles() : root_(testing::TempDir() + "node-" + std::to_string(::getpid()) + "/") {}
  ~NodeFiles() override { fs::remove_all(root_); }
  void put(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text << "\n";
  }
  std::string root_;
};

TEST_F(NodeFiles, CoresHaveTheirProcessors) {
  for (int processor = 0; processor < 8; ++processor) {
    const int core = processor % 4;
    put("sys/devices/system/cpu/cpu" + std::to_string(processor) + "/topology/thread_siblings_list",
        std::to_string(core) + "," + std::to_string(core + 4));
  }
  put("sys/devices/system/node/online", "0-1");
  put("sys/devices/system/node/node0/cpulist", "0-1,4-5");
  put("sys/devices/system/node/node1/cpulist", "2-3,6-7");
  const NodeCores found = node_cores("1-2,5", root_);
  EXPECT_EQ(found.cores, (std::vector<std::string>{"1,5", "2,6"}));
  EXPECT_EQ(found.domains, (std::vector<std::string>{"0-1,4-5", "2-3,6-7"}));
  EXPECT_FALSE(found.quota);
  EXPECT_EQ(node_cores("0,3", "/nowhere/").cores, (std::vector<std::string>{"0", "3"}));
}

TEST_F(NodeFiles, TheLeastQuotaOfAllGroupsHolds) {
  put("sys/fs/cgroup/cpu.max", "max 100000");
  put("sys/fs/cgroup/job/cpu.max", "400000 100000");
  put("sys/fs/cgroup/job/step/cpu.max", "250000 100000");
  put("sys/fs/cgroup/job/step/task/cpu.max", "max 100000");
  EXPECT_EQ(processor_quota(root_, "0::/job/step/task"), 2.5);
  EXPECT_EQ(processor_quota(root_, "0::/job"), 4.0);
  EXPECT_EQ(processor_quota(root_, "0::/"), std::nullopt);
  EXPECT_EQ(processor_quota(root_, ""), std::nullopt);
}

TEST_F(NodeFiles, QuotasOfTheFirstVersionOfControlGroups) {
  put("sys/fs/cgroup/cpu,cpuacct/slurm/cpu.cfs_quota_us", "150000");
  put("sys/fs/cgroup/cpu,cpuacct/slurm/cpu.cfs_period_us", "100000");
  put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1");
  put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
  EXPECT_EQ(processor_quota(root_, "5:cpu,cpuacct:/slurm\n3:cpuset:/slurm\n"), 1.5);
  EXPECT_EQ(processor_quota(root_, "5:cpu,cpuacct:/\n"), std::nullopt);
  EXPECT_EQ(processor_quota(root_, "3:cpuset:/slurm\n"), std::nullopt);
}

} // namespace
} // namespace kumihimo::thread_samples
