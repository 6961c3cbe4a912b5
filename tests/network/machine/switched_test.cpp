// Machines whose nodes hang on switches: their files, jobs, routing, link classes.
#include "machine/families.hpp"
#include "machine/job.hpp"
#include "parsed.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kumihimo {
namespace {

Sample on(const std::string& family, const std::vector<std::string>& keys) {
  Sample sample;
  sample.replace("family", "family = \"" + family + "\"").remove("shape");
  for (auto key = keys.rbegin(); key != keys.rend(); ++key) sample.insert_after("family", *key);
  return sample;
}
Sample fat_tree() { return on("fat_tree", {"arity = \"4x3\"", "parents = \"1x2\"", "cables = \"1x2\"", "nodes = 10"}); }
Sample dragonfly() { return on("dragonfly", {"groups = 5", "routers_per_group = 2", "nodes_per_router = 3"}); }
Sample dragonfly_plus() {
  return on("dragonfly_plus", {"groups = 3", "leaves_per_group = 2", "spines_per_group = 2", "nodes_per_leaf = 4",
                               "global_cables = 2", "routing = \"valiant\""});
}
Machine machine_of(const Sample& sample) {
  const auto machine = parsed(sample);
  EXPECT_TRUE(machine.ok()) << (machine.ok() ? "" : machine.error().sentence());
  return machine.ok() ? *machine : Machine{};
}

TEST(SwitchedMachine, IsReadFromAFile) {
  EXPECT_EQ(machine_of(fat_tree()).topology->name(), "fat tree 4x3 of 10 nodes, d_mod_k");
  EXPECT_EQ(Job(machine_of(fat_tree())).rank_space().name(), "row of 20 ranks, 8 a switch, 2 a node");
  EXPECT_EQ(machine_of(dragonfly()).topology->name(), "dragonfly of 30 nodes, 5 groups of 2 routers, minimal");
  EXPECT_EQ(Job(machine_of(dragonfly())).rank_space().name(), "row of 60 ranks, 12 a group, 6 a switch, 2 a node");
  EXPECT_EQ(machine_of(dragonfly_plus()).topology->name(),
            "dragonfly+ of 24 nodes, 3 groups of 2 leaves and 2 spines, valiant");
  const auto json = nlohmann::json::parse(to_json(machine_of(dragonfly_plus())));
  EXPECT_EQ(json["topology"]["family"], "dragonfly_plus");
  EXPECT_EQ(json["topology"]["shape"], "");
  EXPECT_EQ(json["topology"]["routing"], "valiant");
  EXPECT_EQ(json["topology"]["switches"], 12);
  EXPECT_EQ(json["topology"]["levels"].size(), 2U);
  EXPECT_NE(to_text(machine_of(fat_tree())).find("5, 4 nodes a switch"), std::string::npos);
}

TEST(SwitchedMachine, WrongFilesAreOneSentence) {
  expect_error(on("fat_tree", {"arity = \"4x3\""}), "t.toml:3: topology.parents", "topology.parents is missing");
  expect_error(fat_tree().replace("arity", "arity = \"4x3m\""), "t.toml:5: topology.arity", "joined by x");
  expect_error(fat_tree().replace("arity", "arity = 12"), "t.toml:5: topology.arity", "12");
  expect_error(fat_tree().replace("parents", "parents = \"1\""), "t.toml:3: topology", "as the tree has levels");
  expect_error(fat_tree().replace("nodes", "nodes = 13"), "t.toml:3: topology", "1 to 12 nodes");
  expect_error(fat_tree().replace("nodes", "nodes = 0"), "t.toml:8: topology.nodes", "from 1");
  expect_error(fat_tree().insert_after("nodes", "routing = \"minimal\""), "t.toml:3: topology",
               "\"d_mod_k\" or \"ecmp\"");
  expect_error(fat_tree().insert_after("nodes", "shape = \"4x3\""), "t.toml:9", "'shape'");
  expect_error(dragonfly().insert_after("groups", "spines_per_group = 2"), "t.toml:6", "'spines_per_group'");
  expect_error(dragonfly().append("[[slow_link]]\nfrom = 0\nto = 1\nfactor = 0.5"), "t.toml:", "'slow_link'");
  expect_error(
      dragonfly().insert_after("link_bandwidth", "link_bandwidth_up = { value = \"1 GB/s\", assumed = \"a guess\" }"),
      "t.toml:10", "'link_bandwidth_up'");
}

TEST(SwitchedMachine, ClassesOfLinksHaveTheirBandwidth) {
  const Machine machine = machine_of(dragonfly().insert_after(
      "link_bandwidth", "link_bandwidth_global = { value = \"1 GB/s\", assumed = \"a guess\" }"));
  EXPECT_EQ(machine.link_bandwidth(0).value, 4e9);
  EXPECT_EQ(machine.link_bandwidth(2).value, 1e9);
  EXPECT_EQ(machine.with_shape(shape("7"))->link_bandwidth(2).value, 1e9);
  EXPECT_EQ(machine.with_routing("valiant")->link_bandwidth(2).value, 1e9);
  const auto json = nlohmann::json::parse(to_json(machine));
  EXPECT_EQ(json["network"]["link_bandwidth_global_bytes_per_second"]["value"], 1e9);
  EXPECT_FALSE(json["network"].contains("link_bandwidth_local_bytes_per_second"));
}

TEST(SwitchedMachine, AxesOfATorusHaveTheirBandwidth) {
  const Machine machine = machine_of(
      Sample().insert_after("link_bandwidth", "link_bandwidth_y = { value = \"1 GB/s\", assumed = \"a guess\" }"));
  EXPECT_EQ(machine.link_bandwidth(0).value, 4e9);
  EXPECT_EQ(machine.link_bandwidth(1).value, 1e9);
  EXPECT_EQ(machine.with_shape(shape("2x3"))->link_bandwidth(1).value, 1e9);
}

TEST(SwitchedMachine, JobsAreNumbersOfNodes) {
  const Machine machine = machine_of(dragonfly());
  const Machine job = *machine.with_shape(shape("7"));
  EXPECT_EQ(job.topology->nodes(), 7);
  EXPECT_EQ(Job(job).rank_space().name(), "row of 14 ranks, 12 a group, 6 a switch, 2 a node");
  EXPECT_NE(machine.with_shape(shape("31")).error().sentence().find("at most 30 nodes"), std::string::npos);
  EXPECT_NE(machine.with_shape(shape("3x4")).error().sentence().find("their number: 12"), std::string::npos);
  EXPECT_FALSE(machine.with_box("2x2x2x2x3x2", std::nullopt).ok());
  EXPECT_EQ(Job::with_ranks_per_node(machine, 1)->rank_space().name(), "row of 30 ranks, 6 a group, 3 a switch");
}

TEST(SwitchedMachine, RoutingIsOneOfTheFamilys) {
  EXPECT_EQ(machine_of(dragonfly()).with_routing("valiant")->topology->name(),
            "dragonfly of 30 nodes, 5 groups of 2 routers, valiant");
  EXPECT_NE(machine_of(dragonfly()).with_routing("ecmp").error().sentence().find("minimal or valiant"),
            std::string::npos);
  EXPECT_NE(machine_of(Sample()).with_routing("valiant").error().sentence().find("leave it out"), std::string::npos);
}

} // namespace
} // namespace kumihimo
