// Jobs on tori, and tori of routers with several nodes.
#include "networks.hpp"
#include "shapes.hpp"
#include "topology/router_torus.hpp"
#include "topology/torus_job.hpp"

#include <gtest/gtest.h>

namespace kumihimo {
namespace {

using Jobs = TorusMachine::Jobs;

std::string placed(const TorusMachine& machine, std::string_view job) {
  const auto found = machine.place(shape(job));
  return found ? found->text() : found.error().sentence();
}

TEST(TorusJob, APartOfATorusIsAMeshWhereItLacksAnAxis) {
  const TorusMachine cray{shape("8x4x6m"), 1, Jobs::part, {}};
  EXPECT_EQ(placed(cray, "8x4x6"), "8x4x6m");
  EXPECT_EQ(placed(cray, "8x3x2"), "8x3mx2m");
  EXPECT_EQ(placed(cray, "8mx4x1"), "8mx4x1m");
  for (const char* wrong : {"9x4x6", "8x4", "8x4x3x2"})
    EXPECT_NE(placed(cray, wrong).find("the job must be a box of the torus 8x4x6m (got"), std::string::npos) << wrong;
}

TEST(TorusJob, WholeBlocksAreToriAndSmallerJobsMeshes) {
  const TorusMachine bluegene{shape("40x32x32"), 1, Jobs::blocks, shape("8x8x8")};
  EXPECT_EQ(placed(bluegene, "8x8x8"), "8x8x8");
  EXPECT_EQ(placed(bluegene, "8x16x32"), "8x16x32");
  EXPECT_EQ(placed(bluegene, "8x8x4"), "8mx8mx4m");
  EXPECT_EQ(placed(bluegene, "4x4x4"), "4mx4mx4m");
  EXPECT_NE(placed(bluegene, "8x8x12").find("one block of 8x8x8, or whole blocks"), std::string::npos);
  EXPECT_NE(placed(bluegene, "48x8x8").find("40x32x32"), std::string::npos);
}

TEST(TorusJob, OtherwiseAJobHasATorusOfItsOwn) {
  EXPECT_EQ(placed({shape("8x4"), 1, Jobs::own, {}}, "3x2x5m"), "3x2x5m");
}

TEST(TorusJob, RoutersKeepTheirNodesTogether) {
  const TorusMachine gemini{shape("4x3x2x2"), 2, Jobs::part, {}};
  EXPECT_EQ(placed(gemini, "4x2x2x2"), "4x2mx2x2");
  EXPECT_NE(placed(gemini, "4x2x2x1").find("all 2 nodes of each router as its last axis"), std::string::npos);
  EXPECT_NE(placed(gemini, "4x2x2").find("4 lengths"), std::string::npos);
  const auto network = gemini.network(*gemini.place(shape("4x2x2x2")));
  EXPECT_EQ(network->name(), "torus 4x2mx2 of routers with 2 nodes each");
  EXPECT_EQ(network->nodes(), 32);
}

TEST(RouterTorus, NodesOfARouterMeetInIt) {
  const RouterTorus torus(shape("4x3"), 2);
  EXPECT_EQ(torus.switches(), 12);
  EXPECT_EQ(torus.links(), 2 * 24 + Torus(shape("4x3")).links());
  EXPECT_EQ(route_of(torus, 6, 7).size(), 2U);
  EXPECT_EQ(torus.distance(NodeId{0}, NodeId{23}), 2 + 1 + 1);
  EXPECT_EQ(torus.diameter(), 2 + 2 + 1);
  EXPECT_EQ(torus.link_classes(), (std::vector<std::string>{"x", "y", "node"}));
  EXPECT_EQ(torus.link_class(route_of(torus, 0, 2).at(1)), 1);
  EXPECT_EQ(torus.bisection_links(), 6) << "of the routers' torus, across x";
}

} // namespace
} // namespace kumihimo
