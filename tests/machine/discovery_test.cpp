#include "machine/discovery.hpp"
#include "machine/job.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace kumihimo {
namespace {

Calibration calibration() {
  Calibration c;
  c.method = "a test";
  c.ranks = 4;
  c.memory_bandwidth = {20e9};
  c.copy_bandwidth = {9e9};
  c.message_latency = {300e-9};
  c.reduction_rate = {8e9};
  c.reduction_rate_scalar = {4e9};
  c.message_cost = {100e-9};
  c.relay_latency = {200e-9};
  c.segment_bytes = 64_KiB;
  return c;
}

TEST(Discovery, FindsThisHost) {
  const auto host = discover_host();
  ASSERT_TRUE(host.ok()) << host.error().sentence();
  EXPECT_GE(host->cores, 1);
  EXPECT_GE(host->hardware_threads, host->cores);
  EXPECT_GE(host->numa_nodes, 1);
  EXPECT_GT(host->memory.value, 64 << 20);
}

// Two packages of two NUMA nodes, each with one cache for its three cores, written by lstopo from a description.
TEST(Discovery, ReadsAnotherHostFromXml) {
  const auto host = read_host(std::string(KUMIHIMO_HWLOC) + "/two-packages.xml");
  ASSERT_TRUE(host.ok()) << host.error().sentence();
  EXPECT_EQ(host->cores, 12);
  EXPECT_EQ(host->hardware_threads, 24);
  EXPECT_EQ(host->numa_nodes, 4);
  EXPECT_EQ(host->levels, (std::vector<Level>{{"package", 6}, {"numa", 3}})) << "the cache has the same cores";
  EXPECT_TRUE(host->not_nested.empty());
  Calibration of_all = calibration();
  of_all.ranks = 12;
  const Machine machine = *this_machine(*host, of_all);
  EXPECT_EQ(Job(machine).rank_space().levels(), host->levels);
  EXPECT_EQ(Job::with_ranks_per_node(machine, 5)->rank_space().levels(), (std::vector<Level>{{"numa", 3}}));
  EXPECT_EQ(Job::with_ranks_per_node(machine, 24)->rank_space().levels(), std::vector<Level>{})
      << "more ranks than cores";
  for (const char* wrong : {"/no/such/file.xml", "/dev/null"})
    EXPECT_NE(read_host(wrong).error().sentence().find("lstopo --of xml"), std::string::npos);
}

// Two packages of six cores; one cache serves four of each, and each two of all share a smaller one.
TEST(Discovery, LeavesOutLevelsThatDoNotNest) {
  const auto host = read_host(std::string(KUMIHIMO_HWLOC) + "/cache-for-some-cores.xml");
  ASSERT_TRUE(host.ok()) << host.error().sentence();
  EXPECT_EQ(host->cores, 12);
  EXPECT_EQ(host->levels, (std::vector<Level>{{"package", 6}, {"l2", 2}}));
  EXPECT_EQ(host->not_nested, (std::vector<Level>{{"l3", 4}}));
  EXPECT_EQ(this_machine(*host, calibration())->levels, host->levels);
  Host wrong = *host;
  wrong.levels = {{"package", 6}, {"l3", 4}};
  EXPECT_NE(this_machine(wrong, calibration()).error().sentence().find("got \"l3 4\" after \"package 6\""),
            std::string::npos);
}

// Two packages of two dies of two groups of two cores.
TEST(Discovery, TellsOfDiesAndGroups) {
  const auto host = read_host(std::string(KUMIHIMO_HWLOC) + "/dies-and-groups.xml");
  ASSERT_TRUE(host.ok()) << host.error().sentence();
  EXPECT_EQ(host->levels, (std::vector<Level>{{"package", 8}}));
  EXPECT_EQ(host->unnamed, (std::vector<Level>{{"die", 4}, {"group", 2}}));
  EXPECT_TRUE(host->not_nested.empty());
}

TEST(Discovery, MakesOneNodeOfMeasuredNumbers) {
  const Host host{"a processor", 2, 4, 1, Bytes{8LL << 30}, Bytes{16 << 20}};
  const Machine machine = *this_machine(host, calibration());
  EXPECT_EQ(machine.name, "this-machine");
  EXPECT_EQ(machine.topology->name(), "single node");
  EXPECT_EQ(Job(machine).rank_space().name(), "node of 4 ranks");
  EXPECT_EQ(machine.node.cores.value, 2);
  EXPECT_EQ(machine.node.shared_memory_bandwidth.value.value, 9e9);
  EXPECT_EQ(machine.node.shared_memory_bandwidth.provenance, Provenance::measured);
  EXPECT_EQ(machine.node.shared_memory_bandwidth.source, "a test");
  EXPECT_EQ(machine.node.last_level_cache->value.value, 16 << 20);
  EXPECT_EQ(machine.software.segment_bytes.provenance, Provenance::assumed) << "chosen, not measured";
  EXPECT_FALSE(machine.with_shape(*Shape::parse("2x2")).ok());
}

TEST(Discovery, RefusesImpossibleFigures) {
  const Host host{"", 2, 4, 1, Bytes{8LL << 30}, std::nullopt};
  ASSERT_TRUE(this_machine(host, calibration()).ok());
  for (const double wrong :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    Calibration c = calibration();
    c.copy_bandwidth = {wrong};
    const auto machine = this_machine(host, c);
    ASSERT_FALSE(machine.ok()) << wrong;
    EXPECT_NE(machine.error().sentence().find("shared_memory_bandwidth"), std::string::npos);
  }
  Calibration c = calibration();
  c.ranks = 0;
  EXPECT_FALSE(this_machine(host, c).ok());
}

} // namespace
} // namespace kumihimo
