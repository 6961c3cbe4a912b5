#include "cases.hpp"
#include "fem/shape.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace kumihimo::fem {
namespace {

TEST(Mesh, HasEightColoursOfElementsWithoutCommonNodes) {
  for (const std::int64_t n : {2, 3, 6}) {
    const Mesh mesh = make_mesh(whole_cube(n).value()).value();
    EXPECT_EQ(mesh.element_count(), (n - 1) * (n - 1) * (n - 1));
    std::set<std::int32_t> all;
    for (std::size_t c = 0; c < colours; ++c) {
      std::set<std::int32_t> nodes;
      for (std::int64_t i = mesh.colour_begin[c]; i < mesh.colour_begin[c + 1]; ++i) {
        all.insert(mesh.by_colour[i]);
        for (int k = 0; k < corners; ++k) EXPECT_TRUE(nodes.insert(mesh.element(mesh.by_colour[i])[k]).second);
      }
    }
    EXPECT_EQ(static_cast<std::int64_t>(all.size()), mesh.element_count());
  }
}

TEST(Mesh, DistortionKeepsTheBoundaryAndTheVolume) {
  const Mesh mesh = make_mesh(whole_cube(7).value(), 0.25).value();
  double volume = 0;
  bool varies = false;
  for (std::int64_t e = 0; e < mesh.element_count(); ++e) {
    double points[8][3], j[3][3], first = 0;
    gather_points(mesh.coordinates.data(), mesh.element(e), points);
    for (int g = 0; g < gauss_points; ++g) {
      jacobian_at(points, g, j);
      volume += determinant(j);
      if (g == 0) first = determinant(j);
      varies = varies || std::abs(determinant(j) - first) > 0.01 * first;
    }
  }
  EXPECT_NEAR(volume, 1, 1e-13);
  EXPECT_TRUE(varies);
}

TEST(Mesh, BadInputIsASentenceWithTheElement) {
  EXPECT_EQ(whole_cube(1).error().sentence(), "the cube needs at least 2 nodes on each axis (got 1)");
  EXPECT_FALSE(whole_cube(-3).ok());
  EXPECT_FALSE(whole_cube(100000).ok());
  EXPECT_FALSE(box_of_cube({4, 4, 4}, {0, 1, 1}, {0, 0, 0}).ok());
  EXPECT_FALSE(box_of_cube({4, 4, 4}, {2, 1, 1}, {2, 0, 0}).ok());
  EXPECT_FALSE(box_of_cube({1300, 1300, 1300}, {2, 2, 2}, {0, 0, 0}).ok());
  const NodeGrid grid = whole_cube(4).value();
  for (const double distortion : {-0.1, 0.3, std::nan("")}) EXPECT_FALSE(make_mesh(grid, distortion).ok());
  Mesh mesh = make_mesh(grid).value();
  std::swap(mesh.nodes[corners * 13], mesh.nodes[corners * 13 + 1]); // a mirrored order of corners
  const Status sound = check_jacobians(mesh);
  ASSERT_FALSE(sound.ok());
  EXPECT_NE(sound.error().sentence().find("the Jacobian of element 13 must be positive"), std::string::npos)
      << sound.error().sentence();
}

TEST(Materials, BadInputIsASentenceWithTheElement) {
  const double infinite = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const std::vector<double> good(3, 0.25);
  for (const double bad : {0.0, -1.0, infinite, nan}) {
    const auto made = make_materials(std::vector<double>{1, bad, 1}, good);
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.error().sentence().find("Young's modulus of element 1 must be positive"), std::string::npos);
  }
  for (const double bad : {0.5, 0.7, -1.0, nan}) {
    const auto made = make_materials(good, std::vector<double>{0.3, 0, bad});
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.error().sentence().find("Poisson's ratio of element 2"), std::string::npos);
  }
  EXPECT_FALSE(make_materials(good, std::vector<double>{0.3}).ok());
  EXPECT_FALSE(varied_materials(make_mesh(whole_cube(2).value()).value(), 1, 0.3, -1).ok());
}

TEST(BlockMatrix, HasABlockForNodesThatShareAnElement) {
  const Mesh mesh = make_mesh(whole_cube(5).value()).value();
  const BlockMatrix matrix = make_matrix(mesh).value();
  const auto place = [](std::int64_t n) { return Triple{n % 5, n / 5 % 5, n / 25}; };
  for (std::int32_t n = 0; n < 125; ++n)
    for (std::int32_t m = 0; m < 125; ++m) {
      bool near = true;
      for (std::size_t a = 0; a < 3; ++a) near = near && std::abs(place(n)[a] - place(m)[a]) <= 1;
      EXPECT_EQ(matrix.find(n, m) >= 0, near);
    }
  EXPECT_EQ(matrix.blocks(), 13 * 13 * 13);
}

// Each process has the rows of its box as the whole cube has them, with the same bits for one variant.
TEST(NodeGrid, BoxesHaveTheCompleteRowsOfTheWholeCube) {
  const Triple box{3, 2, 4}, processes{2, 3, 1};
  NodeGrid whole_grid = box_of_cube({6, 6, 4}, {1, 1, 1}, {0, 0, 0}).value();
  Case whole = case_on(whole_grid);
  const AssemblyVariant& variant = *find_assembly("type_a");
  ASSERT_TRUE(assemble(variant, whole.mesh, whole.materials, whole.matrix).ok());
  const std::vector<double> x = random_vector(3 * whole.mesh.owned, 7);
  std::int64_t rows = 0;
  for (std::int64_t py = 0; py < 3; ++py)
    for (std::int64_t px = 0; px < 2; ++px) {
      const NodeGrid grid = box_of_cube(box, processes, {px, py, 0}).value();
      Case mine = case_on(grid);
      ASSERT_TRUE(assemble(variant, mine.mesh, mine.materials, mine.matrix).ok());
      std::vector<std::int64_t> global(static_cast<std::size_t>(mine.mesh.node_count()));
      const std::vector<std::int32_t> numbers = local_numbers(grid);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        global[static_cast<std::size_t>(numbers[i])] =
            grid.global({grid.begin[0] + at % grid.extent[0], grid.begin[1] + at / grid.extent[0] % grid.extent[1],
                         grid.begin[2] + at / grid.extent[0] / grid.extent[1]});
      }
      rows += mine.mesh.owned;
      for (std::int32_t n = 0; n < mine.mesh.owned; ++n) {
        const auto row = static_cast<std::int32_t>(global[static_cast<std::size_t>(n)]);
        EXPECT_EQ(mine.matrix.row_begin[n + 1] - mine.matrix.row_begin[n],
                  whole.matrix.row_begin[row + 1] - whole.matrix.row_begin[row]);
        for (std::int32_t at = mine.matrix.row_begin[n]; at < mine.matrix.row_begin[n + 1]; ++at) {
          const auto column = static_cast<std::int32_t>(global[static_cast<std::size_t>(mine.matrix.columns[at])]);
          const double* const expected = whole.matrix.block(whole.matrix.find(row, column));
          for (int i = 0; i < 9; ++i) EXPECT_EQ(mine.matrix.block(at)[i], expected[i]);
        }
      }
    }
  EXPECT_EQ(rows, whole.mesh.owned);
}

// The cells of all boxes as a halo exchange moves them: what one box receives in a ghost, the box of that node sends.
TEST(NodeGrid, HaloCellsBringEveryGhostTheNodeOfItsBox) {
  const Triple box{2, 3, 4}, processes{3, 2, 2};
  std::map<std::int64_t, Vector3> sent; // of a global node: what its box sends, here its place
  const auto global_of = [&](const NodeGrid& grid, std::int64_t cell) {
    const Triple at{cell % (box[0] + 2), cell / (box[0] + 2) % (box[1] + 2), cell / (box[0] + 2) / (box[1] + 2)};
    return grid.global({grid.low[0] + at[0] - 1, grid.low[1] + at[1] - 1, grid.low[2] + at[2] - 1});
  };
  std::vector<NodeGrid> grids;
  for (std::int64_t z = 0; z < 2; ++z)
    for (std::int64_t y = 0; y < 2; ++y)
      for (std::int64_t x = 0; x < 3; ++x) grids.push_back(box_of_cube(box, processes, {x, y, z}).value());
  const auto place_of = [](const Mesh& mesh, std::int32_t n) {
    return Vector3{mesh.node(n)[0], mesh.node(n)[1], mesh.node(n)[2]};
  };
  for (const NodeGrid& grid : grids) {
    const Mesh mesh = make_mesh(grid, 0.2).value();
    for (const HaloCell& cell : halo_cells(grid).sent) {
      EXPECT_LT(cell.node, grid.owned());
      EXPECT_TRUE(sent.emplace(global_of(grid, cell.cell), place_of(mesh, cell.node)).second);
    }
  }
  for (const NodeGrid& grid : grids) {
    const Mesh mesh = make_mesh(grid, 0.2).value();
    const HaloCells cells = halo_cells(grid);
    EXPECT_EQ(static_cast<std::int64_t>(cells.received.size()), grid.ghosts());
    for (const HaloCell& cell : cells.received) {
      EXPECT_GE(cell.node, grid.owned());
      const auto from = sent.find(global_of(grid, cell.cell));
      ASSERT_NE(from, sent.end());
      EXPECT_EQ(from->second, place_of(mesh, cell.node));
    }
  }
}

} // namespace
} // namespace kumihimo::fem
