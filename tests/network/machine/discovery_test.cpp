#include "machine/discovery.hpp"
#include "machine/job.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

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

// hwloc reads the topology of this machine from the file instead.
Result<Host> discovered_in(const std::string& xml) {
  const std::string file = std::string(KUMIHIMO_HWLOC) + "/" + xml;
  setenv("HWLOC_XMLFILE", file.c_str(), 1);
  Result<Host> host = discover_host();
  unsetenv("HWLOC_XMLFILE");
  return host;
}

using Kind = NodePart::Kind;

std::vector<NodePart> units(std::int32_t count) {
  std::vector<NodePart> parts;
  for (std::int32_t unit = 0; unit < count; ++unit) parts.push_back({Kind::unit, {unit}, 0});
  return parts;
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
TEST(Discovery, FindsPackagesAndNumaNodes) {
  const auto host = discovered_in("two-packages.xml");
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
}

// Two packages of six cores; one cache serves four of each, and each two of all share a smaller one.
TEST(Discovery, LeavesOutLevelsThatDoNotNest) {
  const auto host = discovered_in("cache-for-some-cores.xml");
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
  const auto host = discovered_in("dies-and-groups.xml");
  ASSERT_TRUE(host.ok()) << host.error().sentence();
  EXPECT_EQ(host->levels, (std::vector<Level>{{"package", 8}}));
  EXPECT_EQ(host->unnamed, (std::vector<Level>{{"die", 4}, {"group", 2}}));
  EXPECT_TRUE(host->not_nested.empty());
}

TEST(Discovery, AUnitOutsideEveryCoreStandsForACore) {
  std::vector<NodePart> parts = units(4);
  parts.push_back({Kind::package, {0, 1}, 0});
  parts.push_back({Kind::package, {2, 3}, 0});
  Host host = host_of("", {}, parts);
  EXPECT_EQ(host.cores, 4);
  EXPECT_EQ(host.hardware_threads, 4);
  EXPECT_EQ(host.levels, (std::vector<Level>{{"package", 2}}));
  parts.push_back({Kind::core, {0, 1}, 0});
  host = host_of("", {}, parts);
  EXPECT_EQ(host.cores, 3) << "a core of two threads, and two units without a core";
  EXPECT_EQ(host.uneven, (std::vector<Level>{{"package", 1}, {"package", 2}}));
  EXPECT_EQ(host_of("", {}, {}).cores, 1);
}

TEST(Discovery, TellsOfPartsWithDifferentNumbersOfCores) {
  std::vector<NodePart> parts = units(7);
  parts.push_back({Kind::package, {0, 1, 2, 3}, 0});
  parts.push_back({Kind::package, {4, 5, 6}, 0});
  parts.push_back({Kind::l2, {0, 1}, 1 << 20});
  parts.push_back({Kind::l2, {2, 3}, 1 << 20});
  const Host host = host_of("", {}, parts);
  EXPECT_TRUE(host.levels.empty());
  EXPECT_EQ(host.uneven, (std::vector<Level>{{"package", 3}, {"package", 4}}));
  EXPECT_EQ(host.not_nested, (std::vector<Level>{{"l2", 2}})) << "three cores are without";
}

TEST(Discovery, MemoryWithoutCoresOrBesideTheSameCoresIsNoLevel) {
  std::vector<NodePart> parts = units(4);
  for (const std::vector<std::int32_t>& of : {std::vector{0, 1}, {0, 1}, {2, 3}, {2, 3}, {}})
    parts.push_back({Kind::numa, of, 0});
  const Host host = host_of("", {}, parts);
  EXPECT_EQ(host.numa_nodes, 5);
  EXPECT_EQ(host.levels, (std::vector<Level>{{"numa", 2}}));
  EXPECT_TRUE(host.uneven.empty());
}

TEST(Discovery, MakesOneNodeOfMeasuredNumbers) {
  const Host host{"a processor", 2, 4, 1, Bytes{8LL << 30}, Bytes{16 << 20}};
  const Machine machine = *this_machine(host, calibration());
  EXPECT_EQ(machine.name, "this-machine");
  EXPECT_EQ(machine.summary, "a processor, 2 cores, 4 hardware threads");
  EXPECT_EQ(this_machine({"", 1, 1, 1, Bytes{8LL << 30}}, calibration())->summary,
            "this host, 1 core, 1 hardware thread");
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
