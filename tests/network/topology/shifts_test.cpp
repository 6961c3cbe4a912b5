// Shifts that a network says are symmetries take routes to routes.
#include "networks.hpp"
#include "tofu_shapes.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kumihimo {
namespace {

std::vector<LinkId> shifted(const Topology& network, std::vector<LinkId> route, std::int32_t axis) {
  for (LinkId& link : route) link = network.shifted(link, axis);
  return route;
}

bool has_shift(const Topology::Shifts& shifts, std::int32_t axis) {
  return !shifts.periods.empty() && shifts.periods[axis] < shifts.shape.length(axis);
}

// fn(axis) for each along which there is a shift.
template <class F>
int for_each_axis(const Topology& network, F&& fn) {
  const Topology::Shifts shifts = network.shifts();
  int found = 0;
  for (std::int32_t axis = 0; axis < shifts.shape.dimensions(); ++axis)
    if (has_shift(shifts, axis)) fn(shifts, axis), ++found;
  return found;
}

void expect_link_symmetry(const Topology& network) {
  for_each_axis(network, [&](const Topology::Shifts& shifts, std::int32_t axis) {
    std::set<std::int64_t> images;
    for (std::int64_t id = 0; id < network.link_bound(); ++id) {
      const LinkId image = network.shifted(LinkId{id}, axis);
      ASSERT_TRUE(images.insert(image.value).second) << network.name() << ": two links on one";
      ASSERT_NE(image.value, id) << network.name() << ": it stays";
      ASSERT_EQ(network.is_link(image), network.is_link(LinkId{id})) << network.name();
      ASSERT_EQ(network.link_class(image), network.link_class(LinkId{id})) << network.name();
      LinkId back = image;
      for (std::int32_t n = shifts.shape.length(axis) / shifts.periods[axis]; n > 1; --n)
        back = network.shifted(back, axis);
      ASSERT_EQ(back.value, id) << network.name() << ": not back after a whole turn";
    }
  });
}

bool same_route(const Topology& network, const Topology::Shifts& shifts, std::int32_t axis, std::int32_t from,
                std::int32_t to) {
  const auto image = [&](std::int32_t node) { return shifts.shape.shifted(node, axis, shifts.periods[axis]); };
  return route_of(network, image(from), image(to)) == shifted(network, route_of(network, from, to), axis);
}

int expect_symmetry(const Topology& network) {
  expect_link_symmetry(network);
  return for_each_axis(network, [&](const Topology::Shifts& shifts, std::int32_t axis) {
    for (std::int32_t from = 0; from < network.nodes(); ++from)
      for (std::int32_t to = 0; to < network.nodes(); ++to)
        ASSERT_TRUE(same_route(network, shifts, axis, from, to))
            << network.name() << " axis " << axis << ": " << from << " to " << to;
  });
}

TEST(Shifts, TakeRoutesToRoutesOnEveryFamily) {
  Draw draw(7);
  int found = 0;
  for (const NetworkFamily& family : network_families())
    for (int i = 0; i < 20; ++i) found += expect_symmetry(*family.make(draw));
  EXPECT_GT(found, 20);
}

TEST(Shifts, TakeRoutesToRoutesOnJobsOfTofu) {
  int found = 0;
  for (const char* shape :
       {"4x3x4", "6x3x4", "2x6x8", "6", "12", "8x6", "5x4x6", "7mx4x4", "48x3x2", "4x3x32", "4x54x2"})
    found += expect_symmetry(*lay_job(k_machine(), *Shape::parse(shape)));
  EXPECT_GT(found, 10);
  const TofuMachine ring{*Tofu::make(*Shape::parse("6x4x3x2mx3x2m")), false}; // Y wraps
  EXPECT_GT(expect_symmetry(*lay_job(ring, box("6x4x3x2x3x2"), std::nullopt)), 0);
}

// Even lengths up to the whole machine, whose Z has a plane of relays.
TEST(Shifts, AreHalfOfXAndZOnTheWholeMachine) {
  const VirtualTorus torus = *lay_job(k_machine(), *Shape::parse("48x54x32"));
  const Topology::Shifts shifts = torus.shifts();
  EXPECT_EQ(shifts.periods, (std::vector<std::int32_t>{24, 54, 16}));
  expect_link_symmetry(torus);
  Draw draw(3);
  for (int i = 0; i < 20'000; ++i)
    for (const std::int32_t axis : {0, 2})
      ASSERT_TRUE(same_route(torus, shifts, axis, draw(0, torus.nodes() - 1), draw(0, torus.nodes() - 1)));
}

// Every other node of an even ring sends the other way to the opposite place.
TEST(Shifts, ByOnePlaceAreNoneOfAnEvenRing) {
  const Torus ring(*Shape::parse("6"));
  EXPECT_EQ(ring.shifts().periods, std::vector<std::int32_t>{2});
  EXPECT_FALSE(same_route(ring, {ring.shape(), {1}}, 0, 0, 3));
}

TEST(Shifts, AreNoneWhereSomethingIsDead) {
  const VirtualTorus whole = *lay_job(k_machine(), *Shape::parse("8x6x8"));
  const std::vector<NodeId> dead{NodeId{5}};
  const auto rest = whole.without(dead, {});
  ASSERT_TRUE(rest.ok());
  for (std::int32_t axis = 0; axis < 3; ++axis) {
    EXPECT_EQ(has_shift(whole.shifts(), axis), axis != 1) << axis;
    EXPECT_FALSE(has_shift(rest->shifts(), axis)) << axis;
  }
}

} // namespace
} // namespace kumihimo
