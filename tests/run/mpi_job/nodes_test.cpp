// Which ranks are on which real node, as their names say.
#include "mpi_job/nodes.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kumihimo::mpi_job {
namespace {

TEST(Nodes, AreNumberedInTheOrderOfTheirFirstRanks) {
  const std::vector<std::string> names = {"b", "b", "a", "c", "a"};
  const Nodes nodes = nodes_of(names);
  EXPECT_EQ(nodes.names, (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(nodes.node_of_rank, (std::vector<std::int64_t>{0, 0, 1, 2, 1}));
  EXPECT_TRUE(nodes.are_several());
  EXPECT_EQ(to_json(nodes)["one_node"], false);
}

TEST(Nodes, OneIsNotSeveral) {
  const std::vector<std::string> names = {"a", "a"};
  EXPECT_FALSE(nodes_of(names).are_several());
  EXPECT_EQ(to_json(nodes_of(names)).dump(), R"({"node_of_rank":[0,0],"nodes":["a"],"one_node":true})");
}

} // namespace
} // namespace kumihimo::mpi_job
