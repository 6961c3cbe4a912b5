#include "machine/job.hpp"
#include "machine/numbers.hpp"
#include "parsed.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kumihimo {
namespace {

Machine sample(const std::string& more = "") { return *parse_machine(Sample().append(more).text(), "small.toml"); }

TEST(Machine, GivesAJobItsOwnTorus) {
  const Machine job = *sample().with_shape(shape("3x2"));
  EXPECT_EQ(job.topology->name(), "torus 3x2");
  EXPECT_EQ(job.topology->nodes(), 6);
  EXPECT_EQ(job.network.link_bandwidth.value, sample().network.link_bandwidth.value);
  EXPECT_EQ(Job(job).rank_space().name(), "torus 3x2, 2 ranks a node");
  EXPECT_EQ(Job(job).rank_space().ranks(), 12);
}

TEST(Machine, RefusesAJobLargerThanItself) {
  EXPECT_TRUE(sample().with_shape(shape("24")).ok());
  const auto job = sample().with_shape(shape("25"));
  ASSERT_FALSE(job.ok());
  EXPECT_NE(job.error().sentence().find("at most 24 nodes"), std::string::npos) << job.error().sentence();
}

TEST(Machine, TakesRanksPerNode) {
  EXPECT_EQ(Job::with_ranks_per_node(sample(), 1)->rank_space().name(), "torus 4x3x2");
  EXPECT_EQ(Job::with_ranks_per_node(sample(), 100)->rank_space().ranks(), 2400) << "more than it has cores";
  std::vector<std::int32_t> sizes(24, 2);
  EXPECT_EQ(Job::with_node_sizes(sample(), sizes)->rank_space().name(), "torus 4x3x2, 2 ranks a node");
  sizes[5] = 7;
  const Job unequal = *Job::with_node_sizes(sample(), sizes);
  EXPECT_EQ(unequal.rank_space().name(), "row of 53 ranks, 2 to 7 a node");
  EXPECT_EQ(unequal.rank_space().node_sizes(), sizes);
  EXPECT_EQ(Job::with_ranks_per_node(unequal.machine, 1)->rank_space().name(), "torus 4x3x2");
  sizes[5] = 0;
  const Job hole = *Job::with_node_sizes(sample(), sizes);
  EXPECT_EQ(hole.rank_space().name(), "row of 46 ranks") << "a node of others";
  EXPECT_FALSE(Job::with_node_sizes(sample(), {2, 2}).ok());
  EXPECT_FALSE(Job::with_node_sizes(sample(), std::vector<std::int32_t>(24, 2147483647 / 23)).ok());
  EXPECT_FALSE(Job::with_ranks_per_node(sample(), 0).ok());
  EXPECT_FALSE(Job::with_ranks_per_node(sample(), -1).ok());
  EXPECT_FALSE(Job::with_ranks_per_node(sample(), 2147483647 / 24 + 1).ok());
}

// Slow parts are numbered in the job, and a link's id changes with its shape.
TEST(Machine, FindsSlowPartsInAJob) {
  const Machine whole = sample("[[slow_node]]\nnode = 5\nfactor = 0.5\n[[slow_link]]\nfrom = 2\nto = 3\nfactor = 0.1");
  const Machine job = *whole.with_shape(shape("2x4"));
  EXPECT_EQ(job.node_factor(NodeId{5}), 0.5);
  EXPECT_EQ(job.topology->describe(job.slow_links[0].link).from, NodeId{2});
  EXPECT_EQ(job.topology->describe(job.slow_links[0].link).to, NodeId{3});
  EXPECT_NE(job.slow_links[0].link, whole.slow_links[0].link);
  EXPECT_EQ(job.link_factor(job.slow_links[0].link), 0.1);
  EXPECT_NE(whole.with_shape(shape("4")).error().sentence().find("got 5"), std::string::npos);
  EXPECT_NE(whole.with_shape(shape("3x3")).error().sentence().find("node 2 to node 3"), std::string::npos);
}

TEST(Machine, TakesMoreSlowParts) {
  const Machine whole = sample("[[slow_node]]\nnode = 5\nfactor = 0.5");
  const auto more = whole.with_slow({{NodeId{7}, 0.25}}, {{NodeId{2}, NodeId{3}, {}, 0.1}});
  ASSERT_TRUE(more) << more.error().sentence();
  EXPECT_EQ(more->node_factor(NodeId{5}), 0.5);
  EXPECT_EQ(more->node_factor(NodeId{7}), 0.25);
  EXPECT_EQ(more->link_factor(*find_link(*whole.topology, NodeId{2}, NodeId{3})), 0.1);
  EXPECT_EQ(more->link_factor(*find_link(*whole.topology, NodeId{3}, NodeId{2})), 1);
  EXPECT_FALSE(whole.with_slow({{NodeId{5}, 0.25}}, {}));
  EXPECT_FALSE(whole.with_slow({{NodeId{24}, 0.25}}, {}));
  EXPECT_FALSE(whole.with_slow({}, {{NodeId{0}, NodeId{23}, {}, 0.1}}));
  EXPECT_FALSE(more->with_slow({}, {{NodeId{2}, NodeId{3}, {}, 0.1}}));
}

TEST(Machine, FindsLinksOfNeighboursOnly) {
  const Machine machine = sample();
  const Topology& topology = *machine.topology;
  for (std::int32_t from = -1; from <= topology.nodes(); ++from)
    for (std::int32_t to = -1; to <= topology.nodes(); ++to) {
      const auto link = find_link(topology, NodeId{from}, NodeId{to});
      const bool inside = from >= 0 && to >= 0 && from < topology.nodes() && to < topology.nodes();
      ASSERT_EQ(link.has_value(), inside && topology.distance(NodeId{from}, NodeId{to}) == 1);
      if (!link) continue;
      ASSERT_TRUE(topology.is_link(*link));
      ASSERT_EQ(topology.describe(*link).from, NodeId{from});
      ASSERT_EQ(topology.describe(*link).to, NodeId{to});
    }
}

TEST(Machine, JsonHoldsEveryNumberWithUnitAndSource) {
  const Machine machine = sample("[[slow_node]]\nnode = 5\nfactor = 0.5");
  const auto json = nlohmann::json::parse(to_json(machine));
  EXPECT_EQ(json["name"], "small");
  EXPECT_EQ(json["topology"]["shape"], "4x3x2");
  EXPECT_EQ(json["topology"]["nodes"], 24);
  EXPECT_EQ(json["network"]["link_bandwidth_bytes_per_second"]["value"], 4e9);
  EXPECT_EQ(json["network"]["link_bandwidth_bytes_per_second"]["provenance"], "published");
  EXPECT_EQ(json["network"]["link_bandwidth_bytes_per_second"]["source"], "a paper");
  EXPECT_EQ(json["network"]["hop_latency_seconds"]["value"], 100e-9);
  EXPECT_EQ(json["software"]["segment_bytes"]["value"], 1 << 20);
  EXPECT_EQ(json["slow_nodes"][0]["node"], 5);
  EXPECT_TRUE(json["slow_links"].empty());
  std::size_t numbers = 0, written = 0;
  visit_numbers(machine, [&](std::string_view, std::string_view, const auto& number) {
    if constexpr (requires { number.has_value(); })
      numbers += number.has_value();
    else
      ++numbers;
  });
  for (const char* section : {"network", "node", "software", "offload"})
    if (json.contains(section)) written += json.at(section).size();
  EXPECT_EQ(written, numbers) << "each number that the machine has";
}

TEST(Machine, TextNamesEveryNumberAndSlowPart) {
  const Machine machine = sample("[[slow_link]]\nfrom = 0\nto = 1\nfactor = 0.5");
  const std::string text = to_text(machine);
  for (const char* word : {"small: a small torus", "torus 4x3x2, 24 nodes", "link_bandwidth", "4 GB/s", "published",
                           "a paper", "segment_bytes", "1 MiB", "slow link from 0 to 1 (+z at (0,0,0)): 0.5"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
}

} // namespace
} // namespace kumihimo
