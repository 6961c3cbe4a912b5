#include "cases.hpp"
#include "fem/assemble.hpp"
#include "fem/error_bound.hpp"

#include <algorithm>
#include <cstring>

namespace kumihimo::fem {
namespace {

// All block sizes, or powers of 2, and pencils of several heights.
std::vector<ParameterValues> choices_of(const AssemblyVariant& variant, bool all) {
  if (variant.parameters.empty()) return {{}};
  std::vector<ParameterValues> choices;
  if (variant.parameters.size() > 1)
    for (const std::int64_t layers : {0, 1, 2, 3, 1024}) choices.push_back({{"layers", layers}, {"block", 5}});
  for (std::int64_t block = 1; block <= 128; block += all ? 1 : block) choices.push_back({{"block", block}});
  return choices;
}

void expect_within_bound(const Case& given, bool all_blocks) {
  Case golden{{}, {}, make_matrix(given.mesh).value()};
  ASSERT_TRUE(assemble(assembly_variants()[0], given.mesh, given.materials, golden.matrix).ok());
  const std::vector<double> bound = assembly_error_bound(given.mesh, given.materials, golden.matrix);
  BlockMatrix matrix = make_matrix(given.mesh).value();
  for (const AssemblyVariant& variant : assembly_variants()) {
    if (!variant.runs_here) continue;
    for (const ParameterValues& values : choices_of(variant, all_blocks)) {
      ASSERT_TRUE(assemble(variant, given.mesh, given.materials, matrix, values).ok());
      EXPECT_LE(share_of_bound(matrix, golden.matrix, bound), 1)
          << variant.name << (values.empty() ? 0 : values.begin()->second);
    }
  }
}

TEST(Assembly, EveryVariantIsWithinTheBoundOfTheGoldenCopyForEveryBlockSize) {
  ASSERT_TRUE(threads::use(2).ok());
  expect_within_bound(cube(6), true);
  ASSERT_TRUE(threads::use(1).ok());
}

TEST(Assembly, EveryVariantIsWithinTheBoundForOddSizesAndTeams) {
  for (const std::int64_t n : {2, 3, 5, 9}) {
    for (const int team : {1, 2, 3, 5}) {
      ASSERT_TRUE(threads::use(team).ok());
      expect_within_bound(cube(n, 0.25, 3), false);
    }
  }
  expect_within_bound(case_on(box_of_cube({3, 4, 5}, {3, 1, 2}, {1, 0, 1}).value()), false);
  expect_within_bound(cube(7, 0, 0), false);
  ASSERT_TRUE(threads::use(1).ok());
}

TEST(Assembly, TheBoundFindsAnErrorInTheTenthDigit) {
  Case given = assembled_cube(5);
  BlockMatrix wrong = make_matrix(given.mesh).value();
  const std::vector<double> bound = assembly_error_bound(given.mesh, given.materials, given.matrix);
  for (const double error : {1e-10, -1e-10}) {
    std::copy(given.matrix.values.begin(), given.matrix.values.end(), wrong.values.begin());
    wrong.values[100] *= 1 + error;
    EXPECT_GT(share_of_bound(wrong, given.matrix, bound), 1);
  }
  wrong.values[100] = std::nan("");
  EXPECT_TRUE(std::isnan(share_of_bound(wrong, given.matrix, bound)));
}

// A row's sums have one order on any number of threads. Blocks change it in pencils alone, whose elements share nodes.
TEST(Assembly, HasTheSameBitsOnAnyNumberOfThreads) {
  const Case given = cube(8);
  BlockMatrix first = make_matrix(given.mesh).value(), other = make_matrix(given.mesh).value();
  for (const AssemblyVariant& variant : assembly_variants()) {
    if (!variant.runs_here) continue;
    for (ParameterValues values : choices_of(variant, false)) {
      values = with_defaults(variant.parameters, values);
      ASSERT_TRUE(threads::use(1).ok());
      ASSERT_TRUE(assemble(variant, given.mesh, given.materials, first, values).ok());
      for (const int team : {1, 2, 3, 5}) {
        ASSERT_TRUE(threads::use(team).ok());
        if (values.count("block") && (!values.count("layers") || values["layers"] == 0)) values["block"] = 3 * team;
        ASSERT_TRUE(assemble(variant, given.mesh, given.materials, other, values).ok());
        EXPECT_EQ(std::memcmp(first.values.data(), other.values.data(), sizeof(double) * 9 * first.blocks()), 0)
            << variant.name << " on " << team << " threads";
      }
    }
  }
  ASSERT_TRUE(threads::use(1).ok());
}

// 1.1: a pencil at the end may be thinner.
TEST(Assembly, PencilsAreEnoughFor16Threads) {
  Mesh mesh;
  mesh.grid = whole_cube(64).value();
  const auto elements = static_cast<std::size_t>(mesh.grid.elements());
  ASSERT_TRUE(threads::use(16).ok());
  for (const std::int64_t layers : {1, 2, 4, 8}) {
    std::vector<int> visits(elements);
    std::vector<std::int64_t> of_thread(16);
    ASSERT_TRUE(for_each_pencil(mesh, layers, [&](int thread, const std::int32_t* list, std::int64_t count) {
                  for (std::int64_t i = 0; i < count; ++i) ++visits[static_cast<std::size_t>(list[i])];
                  of_thread[static_cast<std::size_t>(thread)] += count;
                }).ok());
    EXPECT_EQ(visits, std::vector<int>(elements, 1)) << layers;
    EXPECT_LE(static_cast<double>(*std::max_element(of_thread.begin(), of_thread.end())),
              1.1 * static_cast<double>(elements) / 16)
        << layers;
  }
  ASSERT_TRUE(threads::use(1).ok());
}

TEST(Assembly, EveryVariantAddsToTheMatrix) {
  Case given = assembled_cube(4);
  const std::vector<double> once(given.matrix.values.begin(), given.matrix.values.end());
  for (const AssemblyVariant& variant : assembly_variants()) {
    if (!variant.runs_here) continue;
    std::copy(once.begin(), once.end(), given.matrix.values.begin());
    ASSERT_TRUE(variant.assemble(given.mesh, given.materials, given.matrix, with_defaults(variant.parameters)).ok());
    for (std::size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(given.matrix.values[i], 2 * once[i], 1e-13);
  }
}

TEST(Assembly, RefusesBlocksOutOfRange) {
  Case given = cube(2);
  for (const AssemblyVariant& variant : assembly_variants()) {
    if (!variant.runs_here || variant.parameters.empty()) continue;
    EXPECT_FALSE(assemble(variant, given.mesh, given.materials, given.matrix, {{"block", 0}}).ok());
    EXPECT_FALSE(assemble(variant, given.mesh, given.materials, given.matrix, {{"block", 129}}).ok());
    EXPECT_FALSE(variant.assemble(given.mesh, given.materials, given.matrix, {}).ok());
  }
  EXPECT_EQ(find_assembly("type_b"), nullptr);
  ASSERT_NE(find_assembly("type_a"), nullptr);
}

} // namespace
} // namespace kumihimo::fem
