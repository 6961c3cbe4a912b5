// Machines that are tori: links of several bandwidths, routers with several nodes, what jobs get; graphs; one node's
// levels.
#include "machine/job.hpp"
#include "machine/load.hpp"
#include "parsed.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kumihimo {
namespace {

Machine shipped(const std::string& name) {
  const std::filesystem::path folder = KUMIHIMO_MACHINES;
  return *load_machine(name, std::span(&folder, 1));
}

TEST(TorusMachine, BlueWatersHasTwoNodesARouterAndUnevenLinks) {
  const Machine machine = shipped("blue-waters");
  EXPECT_EQ(machine.topology->nodes(), 27648);
  EXPECT_EQ(machine.shape.text(), "24x24x24x2");
  EXPECT_EQ(machine.link_bandwidth(0).value, machine.link_bandwidth(2).value);
  EXPECT_LT(machine.link_bandwidth(1).value, machine.link_bandwidth(0).value);
  const Machine job = *machine.with_shape(shape("24x8x4x2"));
  EXPECT_EQ(Job(job).rank_space().name(), "torus 24x8mx4mx2, 16 ranks a node");
  EXPECT_EQ(job.link_bandwidth(1).value, machine.link_bandwidth(1).value);
  EXPECT_EQ(job.link_bandwidth(3).value, machine.link_bandwidth(3).value) << "of a node to its router";
  EXPECT_NE(
      machine.with_shape(shape("25x8x4x2")).error().sentence().find("the job must be a box of the torus 24x24x24x2"),
      std::string::npos);
}

TEST(TorusMachine, IntrepidsJobsAreToriFromAMidplane) {
  const Machine machine = shipped("intrepid");
  EXPECT_EQ(machine.topology->nodes(), 40960);
  EXPECT_EQ(machine.network.link_bandwidth.value.value, 375e6);
  EXPECT_NEAR(machine.network.injection_bandwidth.value.value, 0.93 * 6 * 375e6, 5e6);
  EXPECT_EQ(machine.with_shape(shape("8x8x8"))->topology->name(), "torus 8x8x8");
  EXPECT_EQ(machine.with_shape(shape("8x8x4"))->topology->name(), "mesh 8mx8mx4m");
}

TEST(TorusMachine, HectorAndATpuPod) {
  EXPECT_GE(shipped("hector-2a").topology->nodes(), 5664);
  EXPECT_EQ(Job(shipped("hector-2a")).rank_space().ranks_per_node(), 4);
  const Machine pod = shipped("tpu-v4");
  EXPECT_EQ(pod.topology->nodes(), 4096);
  EXPECT_NEAR(512 * pod.network.link_bandwidth.value.value, 24e12, 0.02e12);
  EXPECT_NEAR(4096 * pod.network.injection_bandwidth.value.value, 1.1e15, 0.01e15);
  EXPECT_EQ(pod.with_shape(shape("4x4x8"))->topology->name(), "torus 4x4x8");
  EXPECT_EQ(pod.with_shape(shape("2x2x4"))->topology->name(), "mesh 2mx2mx4m");
}

TEST(TorusMachine, WrongFilesAreOneSentence) {
  const auto with = [](const char* line) { return Sample().insert_after("shape", line); };
  expect_error(with("nodes_per_router = 0"), "t.toml:6: topology.nodes_per_router", "from 1");
  expect_error(with("nodes_per_router = 2000000000"), "t.toml:3: topology", "2^31-1 nodes");
  for (const char* wrong : {"jobs = \"8x8\"", "jobs = \"all\"", "jobs = \"4mx3x2\""})
    expect_error(with(wrong), "t.toml:6: topology.jobs", "own, part or the shape of a block");
  expect_error(with("jobs = 3"), "t.toml:6: topology.jobs", "must be a string");
  EXPECT_EQ(parsed(with("jobs = \"own\""))->with_shape(shape("5x2"))->topology->name(), "torus 5x2");
}

Sample graph(const std::string& edges) {
  return Sample()
      .replace("family", "family = \"graph\"")
      .replace("shape", "nodes = 4")
      .insert_after("nodes", "switches = 2")
      .insert_after("switches", "edges = " + edges);
}

TEST(GraphMachine, IsReadEdgeByEdge) {
  const Machine machine = *parsed(graph("[\"0..1-4\", \"2..3-5\", \"4-5 up x3\"]")
                                      .insert_after("link_bandwidth", "link_bandwidth_up = { value = \"1 GB/s\", "
                                                                      "assumed = \"a guess\" }"));
  EXPECT_EQ(machine.topology->name(), "graph of 4 nodes and 2 switches");
  EXPECT_EQ(Job(machine).rank_space().name(), "row of 8 ranks, 4 a switch, 2 a node");
  EXPECT_EQ(machine.link_bandwidth(0).value, 1e9);
  EXPECT_EQ(machine.link_bandwidth(1).value, 4e9) << "of those without a class";
}

TEST(GraphMachine, WrongEdgesAreOneSentence) {
  expect_error(graph("[\"0..1-4\", \"2..3-5\"]"), "t.toml:3: topology", "none between node 0 and node 2");
  expect_error(graph("[\"0-9\"]"), "t.toml:3: topology", "0 to 5");
  expect_error(graph("[\"0=4\"]"), "t.toml:3: topology", "\"0=4\"");
  expect_error(graph("\"0-4\""), "t.toml:7: topology.edges", "list of strings");
  expect_error(graph("[1, 2]"), "t.toml:7: topology.edges", "list of strings");
}

TEST(RoutesMachine, IsReadRowByRow) {
  const auto routes = [](const std::string& rows) {
    return Sample()
        .replace("family", "family = \"routes\"")
        .replace("shape", "nodes = 4")
        .insert_after("nodes", "links = [\"host x4\", \"bus\"]")
        .insert_after("links", "routes = " + rows)
        .insert_after("link_bandwidth", "link_bandwidth_bus = { value = \"1 GB/s\", assumed = \"a guess\" }")
        .insert_after("hop_latency", "hop_latency_bus = { value = \"2 us\", assumed = \"a guess\" }");
  };
  const Machine machine = *parsed(routes("[\"0..3-0..3: 0+a 4 0+b\"]"));
  EXPECT_EQ(machine.topology->name(), "routes of 4 nodes over 5 links");
  EXPECT_EQ(Job(machine).rank_space().name(), "row of 8 ranks, 2 a node");
  EXPECT_EQ(machine.link_bandwidth(1).value, 1e9);
  EXPECT_EQ(machine.hop_latency(0).value, 100e-9);
  EXPECT_EQ(machine.hop_latency(1).value, 2e-6);
  const Machine job = *machine.with_shape(shape("3"));
  EXPECT_EQ(job.topology->nodes(), 3);
  EXPECT_EQ(job.hop_latency(1).value, 2e-6);
  EXPECT_EQ(nlohmann::json::parse(to_json(machine))["network"]["hop_latency_bus_seconds"]["value"], 2e-6);
  expect_error(routes("[\"0..3-0..2: 0+a 4 0+b\"]"), "t.toml:3: topology",
               "the route from node 0 to node 3 is missing");
  expect_error(routes("\"0-1: 0\""), "t.toml:7: topology.routes", "must be a list of strings");
}

TEST(NodeMachine, HasLevelsOfItsCores) {
  Sample sample;
  for (const char* key :
       {"[network]", "link_bandwidth", "link_peak", "hop_latency", "engines", "engine_bandwidth", "shape"})
    sample.remove(key);
  sample.replace("family", "family = \"single_node\"")
      .replace("ranks_per_node", "ranks_per_node = { value = 8, assumed = "
                                 "\"all cores\" }");
  const auto with = [&](const char* levels) { return Sample(sample).insert_after("family", levels); };
  const Machine machine = *parsed(with("levels = [\"package 4\", \"l3 2\"]"));
  EXPECT_EQ(Job(machine).rank_space().levels(), (std::vector<Level>{{"package", 4}, {"l3", 2}}));
  EXPECT_EQ(nlohmann::json::parse(to_json(machine))["topology"]["levels"][1]["cores"], 2);
  EXPECT_NE(to_text(machine).find("single node, 1 node, 0 links"), std::string::npos) << to_text(machine);
  for (const char* wrong :
       {"levels = [\"l3 2\", \"package 4\"]", "levels = [\"package\"]", "levels = [\"l2 1\"]", "levels = \"package 4\"",
        "levels = [4]", "levels = [\" 4\"]", "levels = [\"package 4\", \"l3 3\"]", "levels = [\"l3 4\", \"l3 2\"]",
        "levels = [\"l.3 4\"]"})
    expect_error(with(wrong), "t.toml:5: topology.levels", "levels of cores");
}

TEST(NodeMachine, LevelsMayHaveNumbers) {
  Sample sample;
  for (const char* key :
       {"[network]", "link_bandwidth", "link_peak", "hop_latency", "engines", "engine_bandwidth", "shape"})
    sample.remove(key);
  sample.replace("family", "family = \"single_node\"").insert_after("family", "levels = [\"package 4\", \"l3 2\"]");
  const auto with = [&](const char* line) { return Sample(sample).insert_after("shared_memory_latency", line); };
  const Machine machine = *parsed(with("shared_memory_bandwidth_l3 = { value = \"20 GB/s\", measured = \"a log\" }\n"
                                       "shared_memory_latency_package = { value = \"80 ns\", assumed = \"a guess\" }\n"
                                       "link_bandwidth_package = { value = \"40 GB/s\", published = \"a paper\" }"));
  const auto& [package, l3] = std::tie(machine.node.levels.at(0), machine.node.levels.at(1));
  EXPECT_EQ(package.latency->value.value, 80e-9);
  EXPECT_EQ(package.link_bandwidth->value.value, 40e9);
  EXPECT_FALSE(package.bandwidth || l3.latency || l3.link_bandwidth);
  EXPECT_EQ(l3.bandwidth->value.value, 20e9);
  EXPECT_EQ(l3.bandwidth->provenance, Provenance::measured);
  EXPECT_NE(to_text(machine).find("shared_memory_bandwidth_l3"), std::string::npos);
  const auto json = nlohmann::json::parse(to_json(machine));
  EXPECT_EQ(json["node"]["link_bandwidth_package_bytes_per_second"]["value"], 40e9);
  expect_error(with("shared_memory_latency_l2 = { value = \"80 ns\", assumed = \"a guess\" }"),
               "t.toml:15: shared_memory_latency_l2", "[node] of a single_node machine has no such key");
  expect_error(with("shared_memory_latency_l3 = { value = \"8 GB/s\", assumed = \"a guess\" }"),
               "t.toml:15: node.shared_memory_latency_l3", "is not a time");
}

TEST(NodeMachine, KeysOfAnyLengthHaveOneColumn) {
  Sample sample;
  for (const char* key :
       {"[network]", "link_bandwidth", "link_peak", "hop_latency", "engines", "engine_bandwidth", "shape"})
    sample.remove(key);
  sample.replace("family", "family = \"single_node\"").insert_after("family", "levels = [\"processor_module 4\"]");
  const auto column = [](const Machine& machine, std::string_view key, std::string_view after) {
    const std::string text = to_text(machine);
    const std::size_t line = text.find("\n  " + std::string(key) + " ") + 1;
    return text.substr(line, text.find('\n', line) - line).find(after);
  };
  const Machine plain = *parsed(sample);
  const Machine longer = *parsed(
      sample.insert_after("shared_memory_latency",
                          "shared_memory_bandwidth_processor_module = { value = \"20 GB/s\", measured = \"a log\" }"));
  EXPECT_EQ(column(plain, "memory_bandwidth", "published"), 2U + 24 + 1 + 14 + 2);
  const std::size_t end = 2 + std::string_view("shared_memory_bandwidth_processor_module").size() + 1 + 14;
  EXPECT_EQ(column(longer, "shared_memory_bandwidth_processor_module", "  measured"), end);
  EXPECT_EQ(column(longer, "memory_bandwidth", "  published"), end);
  EXPECT_EQ(column(longer, "cores a processor_module", "4") + 1, end);
}

TEST(Machine, NumbersAreWrittenAsTheyAreRead) {
  const Machine machine = shipped("reedbush-u");
  const std::string head = "name = \"copy\"\nsummary = \"a copy\"\n[topology]\nfamily = \"torus\"\nshape = \"4x3\"\n\n";
  const auto copy = parse_machine(head + numbers_to_toml(machine), "copy.toml");
  ASSERT_TRUE(copy.ok()) << copy.error().sentence();
  EXPECT_EQ(numbers_to_toml(*copy), numbers_to_toml(machine));
  EXPECT_EQ(copy->network.link_bandwidth.source, machine.network.link_bandwidth.source);
}

} // namespace
} // namespace kumihimo
