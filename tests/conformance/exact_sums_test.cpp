// Exact sums over every algorithm of the registry and any number of ranks: the same addends give the same bytes, which
// are those of one accumulator that took them all; while the plain sums of the same addends differ.
#include "collectives/registry.hpp"
#include "kernels/exact_sum.hpp"
#include "loopback/run_loopback.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <set>

namespace kumihimo {
namespace {

constexpr std::int64_t count = 29;
constexpr std::int32_t most_ranks = 12;

// addends[a][i]: of element i, of any size and sign, so that most of their digits cancel.
std::vector<std::vector<double>> drawn_addends() {
  std::mt19937_64 random(1);
  std::vector<std::vector<double>> addends(most_ranks, std::vector<double>(count));
  for (std::size_t a = 0; a < addends.size(); ++a)
    for (std::size_t i = 0; i < count; ++i) {
      const double value =
          std::ldexp(static_cast<double>(static_cast<std::int32_t>(random())), static_cast<int>(random() % 120) - 60);
      addends[a][i] = a % 2 ? -addends[a - 1][i] + std::ldexp(value, -80) : value;
    }
  return addends;
}

// Rank r takes the addends r, r + P, r + 2 P ... into its accumulators.
std::vector<std::byte> accumulators(const std::vector<std::vector<double>>& addends, std::int32_t rank,
                                    std::int32_t ranks) {
  std::vector<kernels::ExactSum<double>> sums(count);
  for (std::size_t a = static_cast<std::size_t>(rank); a < addends.size(); a += static_cast<std::size_t>(ranks))
    for (std::size_t i = 0; i < count; ++i) sums[i].add(addends[a][i]);
  std::vector<std::byte> bytes(sums.size() * sizeof sums[0]);
  std::memcpy(bytes.data(), sums.data(), bytes.size());
  return bytes;
}

TEST(ExactSums, OverEveryAlgorithmAndNumberOfRanksAreTheSameBytes) {
  const auto addends = drawn_addends();
  const kernels::ExactKernels& kernels = *kernels::find_exact_kernels(DataType::float64);
  const std::vector<std::byte> expected = accumulators(addends, 0, 1);
  std::set<std::string> ran;
  for (const char* shape : {"1", "2", "3", "5", "2x2", "4x3"})
    for (const Variant& v : Registry::standard().variants()) {
      if (v.kind != CollectiveKind::reduce && v.kind != CollectiveKind::allreduce) continue;
      const RankSpace space = RankSpace::box(*Shape::parse(shape));
      const Rank root{v.kind == CollectiveKind::reduce ? space.ranks() - 1 : 0};
      Collective c = make_collective(v.kind, space.ranks(), count, DataType::float64, Operation::user, root, true);
      c.type_bytes = kernels.bytes;
      c.commutative = true;
      const Result<Schedule> schedule = v.build(c, space);
      if (!schedule) continue;
      std::vector<std::vector<std::byte>> memory;
      std::vector<execute::Buffers> buffers;
      for (std::int32_t r = 0; r < space.ranks(); ++r) memory.push_back(accumulators(addends, r, space.ranks()));
      for (auto& m : memory) buffers.push_back({m.data(), m.data()});
      execute::LoopbackRun options;
      options.delays = true;
      const auto report = execute::run_loopback(*schedule, buffers, options, {nullptr, kernels.merge, nullptr});
      ASSERT_TRUE(report.ok()) << v.name << " on " << shape << ": " << report.error().sentence();
      for (std::int32_t r = 0; r < space.ranks(); ++r)
        EXPECT_TRUE((v.kind == CollectiveKind::reduce && Rank{r} != root) ||
                    memory[static_cast<std::size_t>(r)] == expected)
            << v.name << " on " << shape << ", rank " << r;
      ran.insert(v.name);
    }
  EXPECT_GT(ran.size(), 10u);
}

// The addends are such that a sum of doubles shows its order.
TEST(ExactSums, PlainSumsOfTheSameAddendsDiffer) {
  const auto addends = drawn_addends();
  int other = 0;
  for (std::size_t i = 0; i < count; ++i) {
    double forwards = 0, backwards = 0;
    for (std::size_t a = 0; a < addends.size(); ++a) {
      forwards += addends[a][i];
      backwards += addends[addends.size() - 1 - a][i];
    }
    other += forwards != backwards;
  }
  EXPECT_GT(other, count / 2);
}

} // namespace
} // namespace kumihimo
