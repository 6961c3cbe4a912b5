// Every fast loop against the plain one: updates bit by bit, sums within the stated bound and with the same bits on any
// number of threads and any set of instructions.
#include "krylov/vector_kernels.hpp"
#include "systems.hpp"
#include "threads/team.hpp"

#include <gtest/gtest.h>

namespace kumihimo::krylov {
namespace {

struct Case {
  std::vector<std::vector<double>> vectors;
  Operands operands;
  Case(VectorKernel kernel, std::int64_t rows) {
    const int count = description_of(kernel).vectors;
    for (int v = 0; v < count; ++v) vectors.push_back(random_vector(rows, static_cast<unsigned>(100 + v)));
    for (int v = 0; v < count; ++v)
      operands.vectors[static_cast<std::size_t>(v)] = vectors[static_cast<std::size_t>(v)].data();
    operands.alpha = 0.3;
    operands.beta = -0.7;
  }
};

const std::vector<std::int64_t> lengths{0, 1, 7, 8, 9, 1023, 1024, 1025, 5000, 20000};

std::vector<VectorKernel> all_kernels() {
  std::vector<VectorKernel> all;
  for (std::size_t k = 0; k < vector_kernels().size(); ++k) all.push_back(static_cast<VectorKernel>(k));
  return all;
}

TEST(VectorKernels, UpdatesHaveTheBitsOfThePlainLoops) {
  for (const VectorKernel kernel : all_kernels())
    for (const std::int64_t rows : lengths) {
      Case plain(kernel, rows), fast(kernel, rows);
      auto loops = VectorLoops::of(rows);
      ASSERT_TRUE(loops);
      run_plain(kernel, plain.operands, rows);
      loops->run(kernel, fast.operands);
      EXPECT_EQ(plain.vectors, fast.vectors) << description_of(kernel).name << " " << rows;
    }
}

TEST(VectorKernels, SumsAreWithinTheBound) {
  for (const VectorKernel kernel : all_kernels())
    for (const std::int64_t rows : lengths) {
      Case plain(kernel, rows), fast(kernel, rows);
      auto loops = VectorLoops::of(rows);
      ASSERT_TRUE(loops);
      const SumArray expected = run_plain(kernel, plain.operands, rows);
      const SumArray got = loops->run(kernel, fast.operands);
      // Values are at most 4, so products at most 16; the plain sum may deviate by rows roundings.
      const double bound = static_cast<double>(rows) * 16 * 0x1p-53 * static_cast<double>(rounding_steps(rows) + rows);
      for (int k = 0; k < description_of(kernel).sums; ++k)
        EXPECT_NEAR(expected[static_cast<std::size_t>(k)], got[static_cast<std::size_t>(k)], bound)
            << description_of(kernel).name << " " << rows;
    }
}

// Against a sum in 80 bits: a bound that is far below that of the plain loop.
TEST(VectorKernels, DotKeepsTheStatedBound) {
  for (const std::int64_t rows : lengths) {
    Case fast(VectorKernel::dot, rows);
    auto loops = VectorLoops::of(rows);
    ASSERT_TRUE(loops);
    long double exact = 0, sizes = 0;
    for (std::size_t i = 0; i < fast.vectors[0].size(); ++i) {
      const long double product = static_cast<long double>(fast.vectors[0][i]) * fast.vectors[1][i];
      exact += product;
      sizes += std::abs(product);
    }
    const long double error = std::abs(exact - loops->run(VectorKernel::dot, fast.operands)[0]);
    EXPECT_LE(error, static_cast<long double>(rounding_steps(rows)) * 0x1p-53L * sizes) << rows;
  }
}

TEST(VectorKernels, SumsDoNotDependOnThreads) {
  for (const VectorKernel kernel : all_kernels()) {
    SumArray first{};
    for (const int team : {1, 2, 3, 5}) {
      ASSERT_TRUE(threads::use(team).ok());
      Case fast(kernel, 20000);
      auto loops = VectorLoops::of(20000);
      ASSERT_TRUE(loops);
      const SumArray sums = loops->run(kernel, fast.operands);
      if (team == 1) first = sums;
      for (int k = 0; k < description_of(kernel).sums; ++k)
        EXPECT_EQ(first[static_cast<std::size_t>(k)], sums[static_cast<std::size_t>(k)])
            << description_of(kernel).name << " on " << team << " threads";
    }
  }
  ASSERT_TRUE(threads::use(1).ok());
}

TEST(VectorKernels, AllInstructionsGiveTheSameBits) {
  for (const VectorKernel kernel : all_kernels())
    for (const std::int64_t rows : lengths) {
      const auto blocks = static_cast<std::size_t>((rows + block_rows - 1) / block_rows);
      Case first(kernel, rows);
      std::vector<SumArray> first_sums(blocks);
      loop_tables()[0].loops[static_cast<std::size_t>(kernel)](first.operands, 0, rows, first_sums.data());
      for (const LoopTable& table : loop_tables()) {
        Case other(kernel, rows);
        std::vector<SumArray> sums(blocks);
        table.loops[static_cast<std::size_t>(kernel)](other.operands, 0, rows, sums.data());
        EXPECT_EQ(first.vectors, other.vectors) << table.instructions << " " << description_of(kernel).name;
        EXPECT_EQ(first_sums, sums) << table.instructions << " " << description_of(kernel).name;
      }
    }
}

} // namespace
} // namespace kumihimo::krylov
