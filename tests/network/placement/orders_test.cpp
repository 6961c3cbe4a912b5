#include "placement/hilbert.hpp"
#include "placement/orders.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

namespace kumihimo {
namespace {

const Slots uneven_job = *Slots::of_nodes({2, 0, 3, 1});

std::vector<std::int32_t> nodes_of(const Result<Placement>& placement) {
  std::vector<std::int32_t> nodes;
  EXPECT_TRUE(placement.ok()) << placement.error().sentence();
  if (placement)
    for (const NodeId node : placement->node_of_rank()) nodes.push_back(node.value);
  return nodes;
}

std::vector<std::int32_t> slot_indices(const Placement& placement) {
  std::vector<std::int32_t> indices;
  for (std::int32_t r = 0; r < placement.ranks(); ++r) indices.push_back(placement.index(Rank{r}));
  return indices;
}

std::string refused_order(std::string_view order, const OrderContext& context) {
  const auto placement = placement_in_order(order, context);
  return placement ? "" : placement.error().sentence();
}

std::int32_t steps_between(const Shape& box, std::int32_t a, std::int32_t b) {
  std::int32_t steps = 0;
  for (std::int32_t axis = 0; axis < box.dimensions(); ++axis)
    steps += std::abs(box.coordinate(a, axis) - box.coordinate(b, axis));
  return steps;
}

Shape random_shape(std::mt19937& random, std::int32_t longest, std::int32_t most_places) {
  while (true) {
    std::vector<Axis> axes(1 + random() % 5);
    std::int64_t places = 1;
    for (Axis& axis : axes) {
      axis = {static_cast<std::int32_t>(1 + random() % static_cast<unsigned>(longest)), random() % 2 == 0};
      places *= axis.length;
    }
    if (places <= most_places) return Shape(axes);
  }
}

std::string random_axes(std::mt19937& random, std::int32_t dimensions) {
  std::string letters = std::string("xyzabcde").substr(0, static_cast<std::size_t>(dimensions)), axes;
  std::shuffle(letters.begin(), letters.end(), random);
  for (const char letter : letters) axes += (random() % 2 == 0 ? "-" : "") + std::string(1, letter);
  return axes;
}

TEST(Order, TakesEverySlotOnceForRandomJobs) {
  std::mt19937 random(19);
  for (int i = 0; i < 200; ++i) {
    const Shape shape = random_shape(random, 7, 300);
    std::vector<std::int32_t> sizes(static_cast<std::size_t>(shape.places()), 1 + static_cast<int>(random() % 3));
    if (random() % 2 == 0)
      for (std::int32_t& size : sizes) size = static_cast<std::int32_t>(random() % 4);
    sizes[0] += 1;
    const Slots slots = *Slots::of_nodes(sizes);
    const std::string axes = random_axes(random, shape.dimensions());
    const OrderContext context{slots, shape, std::nullopt, static_cast<std::int32_t>(1 + random() % slots.size())};
    for (const std::string& order :
         {std::string("block"), std::string("smp"), std::string("round-robin"), std::string("folded"),
          std::string("reversed-axes"), std::string("snake"), std::string("hilbert"), "axes:" + axes, "snake:" + axes,
          "hilbert:" + axes, "random:" + std::to_string(i)}) {
      const auto whole = placement_in_order(order, slots, shape), part = placement_in_order(order, context);
      ASSERT_TRUE(whole.ok() && part.ok()) << order << " on " << shape.text();
      std::vector<std::int32_t> indices = slot_indices(*whole);
      const std::vector<std::int32_t> of_part = slot_indices(*part);
      EXPECT_EQ(static_cast<std::int32_t>(of_part.size()), context.ranks);
      EXPECT_TRUE(std::equal(of_part.begin(), of_part.end(), indices.begin())) << order << ": the first slots";
      std::sort(indices.begin(), indices.end());
      for (std::int32_t s = 0; s < slots.size(); ++s) ASSERT_EQ(indices[s], s) << order << " on " << shape.text();
    }
  }
}

TEST(Order, IsWhatItsNameSays) {
  const Shape none;
  EXPECT_EQ(nodes_of(placement_in_order("block", uneven_job, none)), (std::vector{0, 0, 2, 2, 2, 3}));
  EXPECT_EQ(nodes_of(placement_in_order("smp", uneven_job, none)), (std::vector{0, 0, 2, 2, 2, 3}));
  EXPECT_EQ(nodes_of(placement_in_order("round-robin", uneven_job, none)), (std::vector{0, 2, 3, 0, 2, 2}));
  EXPECT_EQ(nodes_of(placement_in_order("folded", uneven_job, none)), (std::vector{0, 2, 3, 2, 0, 2}));
  EXPECT_EQ(nodes_of(placement_in_order("folded", Slots(3, 3), none)), (std::vector{0, 1, 2, 2, 1, 0, 0, 1, 2}));
  // (0,0) (1,0) (0,1) (1,1) (0,2) (1,2) of 2x3
  EXPECT_EQ(nodes_of(placement_in_order("reversed-axes", Slots(6, 1), *Shape::parse("2x3"))),
            (std::vector{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(nodes_of(placement_in_order("reversed-axes", Slots(4, 2), *Shape::parse("2x2"))),
            (std::vector{0, 0, 2, 2, 1, 1, 3, 3}));
  const auto one = nodes_of(placement_in_order("random:1", Slots(50, 1), none));
  EXPECT_EQ(one, nodes_of(placement_in_order("random:1", Slots(50, 1), none)));
  EXPECT_NE(one, nodes_of(placement_in_order("random:2", Slots(50, 1), none)));
}

TEST(Order, OfAxesRunsTheFirstFastestAndReflectsSingleOnes) {
  const Slots six(6, 1);
  const Shape shape = *Shape::parse("2x3");
  EXPECT_EQ(nodes_of(placement_in_order("axes:yx", six, shape)), (std::vector{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(nodes_of(placement_in_order("axes:xy", six, shape)), (std::vector{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(nodes_of(placement_in_order("axes:-yx", six, shape)), (std::vector{2, 1, 0, 5, 4, 3}));
  EXPECT_EQ(nodes_of(placement_in_order("axes:x-y", six, shape)), (std::vector{2, 5, 1, 4, 0, 3}));
  EXPECT_EQ(nodes_of(placement_in_order("snake", six, shape)), (std::vector{0, 1, 2, 5, 4, 3}));
  EXPECT_EQ(nodes_of(placement_in_order("snake:xy", six, shape)), (std::vector{0, 3, 4, 1, 2, 5}));
  EXPECT_EQ(nodes_of(placement_in_order("hilbert", Slots(4, 1), *Shape::parse("2x2"))), (std::vector{0, 1, 3, 2}));
}

TEST(Order, OfAxesIsTheLoopNestOfItsName) {
  std::mt19937 random(5);
  const std::string letters = "xyzabcde";
  for (int i = 0; i < 50; ++i) {
    const Shape shape = random_shape(random, 5, 200);
    const std::string axes = random_axes(random, shape.dimensions());
    const auto nodes = nodes_of(placement_in_order("axes:" + axes, Slots(shape.places(), 1), shape));
    for (std::int32_t r = 0; r < shape.places(); ++r) {
      std::int32_t rest = r;
      bool reflected = false;
      for (const char letter : axes) {
        if (letter == '-') {
          reflected = true;
          continue;
        }
        const auto axis = static_cast<std::int32_t>(letters.find(letter));
        const std::int32_t at = rest % shape.length(axis);
        EXPECT_EQ(shape.coordinate(nodes[r], axis), reflected ? shape.length(axis) - 1 - at : at) << axes;
        rest /= shape.length(axis);
        reflected = false;
      }
    }
  }
}

TEST(Order, SnakeStepsFromNeighbourToNeighbour) {
  std::mt19937 random(6);
  for (int i = 0; i < 100; ++i) {
    const Shape shape = random_shape(random, 9, 1000);
    const std::string order = "snake:" + random_axes(random, shape.dimensions());
    const auto nodes = nodes_of(placement_in_order(order, Slots(shape.places(), 1), shape));
    for (std::size_t r = 1; r < nodes.size(); ++r)
      EXPECT_EQ(steps_between(shape, nodes[r - 1], nodes[r]), 1) << order << " on " << shape.text();
  }
}

TEST(Hilbert, StepsFromNeighbourToNeighbourOnPowersOfTwo) {
  for (const char* text : {"2", "16", "8x8", "32x2", "4x4x4", "8x4x2", "1x16x4x8", "2x2x2x2x4", "16x16x16"}) {
    const Shape box = *Shape::parse(text);
    const auto places = places_along_hilbert_curve(box);
    ASSERT_EQ(static_cast<std::int32_t>(places.size()), box.places()) << text;
    EXPECT_EQ(places.front(), 0) << text;
    for (std::size_t i = 1; i < places.size(); ++i) EXPECT_EQ(steps_between(box, places[i - 1], places[i]), 1) << text;
  }
}

// Pieces of the curve are compact: 64 successive places of a box of 16x16x16 are a box of 4x4x4, of row-major ones not.
TEST(Hilbert, KeepsSuccessivePlacesTogether) {
  const Shape box = *Shape::parse("16x16x16");
  const auto places = places_along_hilbert_curve(box);
  for (std::size_t first = 0; first < places.size(); first += 64)
    for (std::size_t i = 1; i < 64; ++i)
      for (std::int32_t axis = 0; axis < 3; ++axis)
        EXPECT_EQ(box.coordinate(places[first + i], axis) / 4, box.coordinate(places[first], axis) / 4);
}

TEST(Hilbert, TakesFewLongerStepsOnOtherLengths) {
  for (const char* text : {"7x7", "6x6x6", "48x6x15", "7x7x7x2x3x2", "5x3", "13", "9x17x3"}) {
    const Shape box = *Shape::parse(text);
    const auto places = places_along_hilbert_curve(box);
    std::int64_t steps = 0;
    for (std::size_t i = 1; i < places.size(); ++i) steps += steps_between(box, places[i - 1], places[i]);
    EXPECT_LT(static_cast<double>(steps), 1.25 * static_cast<double>(places.size())) << text;
  }
}

TEST(Order, OfBlocksGivesANodeABoxOfTheGrid) {
  const Slots slots(4, 4);
  const OrderContext context{slots, {}, Shape::parse("4x4").value(), 16};
  // Rows of ranks 0 1 2 3, 4 5 6 7, ... in boxes of 2x2.
  EXPECT_EQ(nodes_of(placement_in_order("blocks:2x2", context)),
            (std::vector{0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3}));
  EXPECT_EQ(nodes_of(placement_in_order("blocks:4x1", context)),
            (std::vector{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(nodes_of(placement_in_order("blocks:1x4:4x4", slots, {})),
            nodes_of(placement_in_order("block", slots, {})));
  const auto by_statement = placement_in_order("blocks:2x4:8x2", context);
  EXPECT_EQ(by_statement ? "" : by_statement.error().sentence(),
            "boxes of ranks must divide each axis of the grid 8x2 (got 2x4)");
}

TEST(Order, OfBlocksIsABijectionForRandomGrids) {
  std::mt19937 random(8);
  for (int i = 0; i < 100; ++i) {
    const Shape blocks = random_shape(random, 4, 60);
    std::vector<Axis> grid_axes, box_axes;
    for (const Axis& axis : blocks.axes()) {
      box_axes.push_back({static_cast<std::int32_t>(1 + random() % 3)});
      grid_axes.push_back({axis.length * box_axes.back().length});
    }
    const Shape box(box_axes), grid(grid_axes);
    const Slots slots(blocks.places(), box.places());
    const OrderContext context{slots, {}, grid, grid.places()};
    const auto nodes = nodes_of(placement_in_order("blocks:" + box.text(), context));
    for (std::int32_t r = 0; r < grid.places(); ++r) {
      Coordinates which;
      for (std::int32_t axis = 0; axis < grid.dimensions(); ++axis)
        which.push_back(grid.coordinate(r, axis) / box.length(axis));
      EXPECT_EQ(nodes[r], blocks.place(which)) << box.text() << " of " << grid.text();
    }
  }
}

TEST(Order, RandomOnesAreAllAlikeOften) {
  std::vector<int> seen(6);
  constexpr int draws = 6000;
  for (int seed = 0; seed < draws; ++seed) {
    const auto nodes = nodes_of(placement_in_order("random:" + std::to_string(seed), Slots(3, 1), {}));
    ++seen[static_cast<std::size_t>(2 * nodes[0] + (nodes[1] > nodes[2]))];
  }
  for (const int n : seen) EXPECT_NEAR(n, draws / 6, 150) << "five standard deviations";
}

TEST(Order, RefusesWhatIsNone) {
  const Shape shape = *Shape::parse("2x2");
  const OrderContext context{uneven_job, shape, std::nullopt, 6};
  EXPECT_EQ(refused_order("sideways", context),
            "an order of ranks is block, round-robin, folded, axes:AXES, reversed-axes, snake[:AXES], hilbert[:AXES], "
            "blocks:CELLS[:GRID] or random:SEED (got 'sideways')");
  for (const char* order : {"", "blocks", "random", "axes", "block:1", "folded:", "reversed-axes:xy", "round-robin:2"})
    EXPECT_NE(refused_order(order, context).find("block, round-robin"), std::string::npos) << order;
  for (const char* order : {"random:", "random:-1", "random:1x", "random:99999999999999999999"})
    EXPECT_NE(refused_order(order, context).find("from 0 to 2^64 - 1"), std::string::npos) << order;
  EXPECT_EQ(
      refused_order("axes:zy", context),
      "axes takes each axis of the nodes once, from x, y, with - before an axis to reflect (got 'axes:zy'); write "
      "it like axes:xy");
  for (const char* axes : {"", "x", "xx", "xyx", "xy-", "x--y", "xyz", "XY", "x,y", "-"})
    for (const char* walk : {"axes:", "snake:", "hilbert:"})
      EXPECT_NE(refused_order(std::string(walk) + axes, context).find("each axis of the nodes once"), std::string::npos)
          << walk << axes;
}

TEST(Order, RefusesWhatDoesNotFit) {
  const OrderContext without_axes{uneven_job, {}, std::nullopt, 6};
  EXPECT_EQ(refused_order("reversed-axes", without_axes),
            "the order reversed-axes needs nodes with axes; take round-robin or random:SEED");
  for (const char* order : {"axes:xy", "snake", "hilbert:x"})
    EXPECT_NE(refused_order(order, without_axes).find("needs nodes with axes"), std::string::npos) << order;
  const OrderContext other_nodes{uneven_job, *Shape::parse("2x3"), std::nullopt, 6};
  EXPECT_NE(refused_order("snake", other_nodes).find("needs nodes with axes"), std::string::npos);
  EXPECT_EQ(refused_order("blocks:2x1", without_axes),
            "the order blocks:2x1 needs a grid of ranks; add the grid behind the box, as in blocks:2x2:8x8");
  EXPECT_EQ(refused_order("blocks:2x1:2x2", without_axes),
            "the grid of blocks:2x1:2x2 must have 6 places, one for each rank (got 4)");
  EXPECT_EQ(refused_order("blocks:2x2:2x3", without_axes),
            "boxes of ranks must divide each axis of the grid 2x3 (got 2x2)");
  EXPECT_EQ(refused_order("blocks:6:2x3", without_axes),
            "boxes of ranks must divide each axis of the grid 2x3 (got 6)");
  EXPECT_NE(refused_order("blocks:0x2:2x3", without_axes).find("a shape is lengths"), std::string::npos);
  EXPECT_NE(refused_order("blocks:2x3:", without_axes).find("a shape is lengths"), std::string::npos);
  EXPECT_EQ(refused_order("block", {uneven_job, {}, std::nullopt, 7}),
            "the job has slots for 1 to 6 ranks (got 7); give more ranks per node");
}

TEST(SimpleOrders, AreDifferentAndAllApply) {
  const Slots slots(12, 2);
  const OrderContext context{slots, *Shape::parse("2x3x2"), Shape::parse("4x6").value(), 24};
  const auto orders = simple_orders(context);
  EXPECT_EQ(orders.front(), "block");
  std::vector<std::vector<std::int32_t>> seen;
  for (const std::string& order : orders) {
    const auto placement = placement_in_order(order, context);
    ASSERT_TRUE(placement.ok()) << order;
    seen.push_back(slot_indices(*placement));
  }
  const auto has = [&](const char* name) { return std::find(orders.begin(), orders.end(), name) != orders.end(); };
  for (const char* name : {"round-robin", "folded", "axes:xyz", "axes:yxz", "snake:zyx", "blocks:2x1"})
    EXPECT_TRUE(has(name)) << name;
  EXPECT_FALSE(has("axes:zyx")) << "block";
  EXPECT_FALSE(has("blocks:1x2")) << "block";
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end()) << "the same order twice";
  EXPECT_EQ(simple_orders({uneven_job, {}, std::nullopt, 6}),
            (std::vector<std::string>{"block", "round-robin", "folded"}));
  const Slots six_axes(7 * 7 * 7 * 2 * 3 * 2, 1);
  EXPECT_LT(simple_orders({six_axes, *Shape::parse("7x7x7x2x3x2"), std::nullopt, six_axes.size()}).size(), 40U);
}

} // namespace
} // namespace kumihimo
