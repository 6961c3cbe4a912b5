// Where ranks stand in the shape of their job's nodes.
#include "topology/place_in_shape.hpp"

#include <gtest/gtest.h>

namespace kumihimo {
namespace {

std::int32_t place(std::string_view shape, std::string_view hosts, const RankOnHost& rank) {
  const auto found = place_in_shape(shape, hosts, rank);
  return found && *found ? (*found)->node.value : -1;
}

std::string complaint(std::string_view shape, std::string_view hosts, const RankOnHost& rank) {
  const auto found = place_in_shape(shape, hosts, rank);
  return found ? "" : found.error().sentence();
}

TEST(PlaceInShape, WithoutAShapeThereIsNone) {
  const auto found = place_in_shape("", "a\nb\n", {0, 2, "a"});
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(*found);
}

TEST(PlaceInShape, RanksFillTheNodesOneAfterAnother) {
  EXPECT_EQ(place("2x3", "", {0, 12, "x"}), 0);
  EXPECT_EQ(place("2x3", "", {1, 12, "x"}), 0);
  EXPECT_EQ(place("2x3", "", {11, 12, "x"}), 5);
  EXPECT_NE(complaint("2x3", "", {0, 8, "x"}).find("divides the 8 ranks"), std::string::npos);
}

TEST(PlaceInShape, AHostStandsWhereItsLineIs) {
  constexpr std::string_view hosts = "# of the testbed\nnode1 slots=2\r\n\nnode10:2\nnode2\n";
  EXPECT_EQ(place("3", hosts, {0, 2, "node10"}), 1) << "fewer ranks than nodes, in any order";
  EXPECT_EQ(place("3", hosts, {1, 2, "node1"}), 0);
  EXPECT_EQ(place("2", "a\na\n b\nb\n", {3, 4, "b"}), 1) << "a line for each rank, as of PBS";
  EXPECT_EQ(place("3", hosts, {5, 8, "node2"}), 2);
  EXPECT_NE(complaint("3", hosts, {0, 2, "node"}).find("no 'node' among the first 3"), std::string::npos);
  EXPECT_NE(complaint("2", hosts, {0, 2, "node2"}).find("must name the 2 nodes"), std::string::npos)
      << "a line beyond the shape";
}

TEST(PlaceInShape, AWrongShapeIsAnError) { EXPECT_FALSE(place_in_shape("3by3", "", {0, 9, "a"}).ok()); }

} // namespace
} // namespace kumihimo
