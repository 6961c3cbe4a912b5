// The golden copies themselves: properties stated in the papers, and that they can tell a wrong result.
#include "golden/reductions.hpp"
#include "golden/trinaryx3.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

namespace golden {
namespace {

const std::vector<std::vector<int>> shapes = {{2, 2, 2}, {4, 3, 2}, {3, 3, 3}, {5}, {4, 1, 3}, {2, 3, 2, 2}};

TEST(Trinary, TreesSpanAllNodesWithTheStatedHeight) {
  for (const auto& shape : shapes)
    for (int root : {0, 1}) {
      const Trinary torus(shape, root);
      int height = torus.dimensions() == 1 ? -1 : 1 - torus.dimensions(); // one axis alone has no plane to complete
      for (int n : shape) height += n > 1 ? n : 0;
      for (int t = 0; t < torus.dimensions(); ++t) {
        EXPECT_EQ(torus.height(t, root), height);
        std::set<int> reached;
        for (int v = 0; v < torus.nodes(); ++v)
          for (int u = v, steps = 0; steps <= torus.nodes(); u = torus.parent(t, u), ++steps)
            if (u == root) {
              reached.insert(v);
              break;
            }
        EXPECT_EQ(static_cast<int>(reached.size()), torus.nodes());
        EXPECT_EQ(torus.children(t, root).size(), 1u); // the root has one child a tree
      }
    }
}

TEST(Trinary, TreesShareNoDirectedLink) {
  for (const auto& shape : shapes) {
    const Trinary torus(shape, 0);
    const bool rings = std::all_of(shape.begin(), shape.end(), [](int n) { return n == 1 || n > 2; });
    std::set<std::pair<int, int>> used;
    const int trees = torus.dimensions() * (rings ? 2 : 1);
    for (int t = 0; t < trees; ++t)
      for (int v = 1; v < torus.nodes(); ++v) EXPECT_TRUE(used.emplace(torus.parent(t, v), v).second);
  }
}

TEST(Elements, OrdersOfSummationDiffer) {
  std::vector<Buffer> inputs;
  for (std::uint64_t r = 0; r < 6; ++r) inputs.push_back(draw_vector(DataType::float64, Operation::sum, 50, r));
  std::vector<Buffer> reversed(inputs.rbegin(), inputs.rend());
  EXPECT_NE(fold(DataType::float64, Operation::sum, inputs), fold(DataType::float64, Operation::sum, reversed));
  EXPECT_NE(trinary_reduction({3, 2}, 0, {2, 1}, DataType::float64, Operation::sum, inputs),
            fold(DataType::float64, Operation::sum, inputs));
}

TEST(Reductions, EveryOrderIsAcceptedAndAMissingOrDoubledTermIsNot) {
  for (const DataType type : {DataType::float32, DataType::float64, DataType::int16})
    for (const Operation op : {Operation::sum, Operation::prod, Operation::max}) {
      std::vector<Buffer> inputs;
      for (std::uint64_t r = 0; r < 12; ++r) inputs.push_back(draw_vector(type, op, 40, 100 + r));
      EXPECT_EQ(wrong_reduction(type, op, inputs, trinary_reduction({3, 2, 2}, 5, {3, 2}, type, op, inputs)),
                std::nullopt);
      std::vector<Buffer> missing(inputs.begin(), inputs.end() - 1), doubled = inputs;
      doubled.push_back(inputs[3]);
      EXPECT_NE(wrong_reduction(type, op, inputs, fold(type, op, missing)), std::nullopt);
      if (op != Operation::max) {
        EXPECT_NE(wrong_reduction(type, op, inputs, fold(type, op, doubled)), std::nullopt);
      }
    }
}

} // namespace
} // namespace golden
