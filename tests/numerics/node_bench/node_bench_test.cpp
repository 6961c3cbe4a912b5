#include "node_bench/gemm.hpp"
#include "node_bench/peak.hpp"
#include "node_bench/stream.hpp"
#include "node_bench/stream_kernels.hpp"
#include "threads/array.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace kumihimo::node_bench {
namespace {

// measure_stream compares every element itself.
TEST(Stream, GivesRightResultsOnEveryNumberOfThreads) {
  for (const int threads : {1, 2, 3})
    for (const std::int64_t bytes : {64, 64 * 7, 100'000}) {
      const Result<StreamSamples> found = measure_stream(bytes, threads, 30);
      ASSERT_TRUE(found) << found.error().sentence();
      EXPECT_EQ(found->bytes_per_array, bytes / 64 * 64);
      for (const auto& samples : found->cached) EXPECT_EQ(samples.size(), 30u);
      for (const auto& samples : found->streamed) EXPECT_EQ(samples.size(), has_non_temporal_stores() ? 30u : 0u);
    }
}

// Two processors share a last-level cache, a third one has its own; caches of instructions do not count.
TEST(Stream, TheUsualArrayIsFourTimesAllLastLevelCaches) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "usual_array";
  std::filesystem::remove_all(folder);
  const auto cache = [&](int processor, int level, const char* type, const char* size, const char* shared_by) {
    const std::filesystem::path at =
        folder / ("cpu" + std::to_string(processor)) / "cache" / ("index" + std::to_string(level) + type);
    std::filesystem::create_directories(at);
    const auto write = [&](const char* name, const std::string& text) { std::ofstream(at / name) << text << "\n"; };
    write("level", std::to_string(level));
    write("type", type);
    write("size", size);
    write("shared_cpu_list", shared_by);
  };
  EXPECT_EQ(usual_array_bytes(folder), std::int64_t{128} << 20) << "no cache is known";
  for (const int processor : {0, 1, 2}) {
    cache(processor, 1, "Data", "32K", std::to_string(processor).c_str());
    cache(processor, 3, "Unified", "393216K", processor < 2 ? "0-1" : "2");
    cache(processor, 4, "Instruction", "999999K", "0-2");
  }
  EXPECT_EQ(usual_array_bytes(folder), std::int64_t{4 * 2 * 384} << 20);
  std::filesystem::remove_all(folder);
}

TEST(Stream, RefusesWrongArguments) {
  EXPECT_FALSE(measure_stream(63, 1, 1).ok());
  EXPECT_FALSE(measure_stream(1024, 0, 1).ok());
  EXPECT_FALSE(measure_stream(1024, 1, 0).ok());
}

TEST(Stream, EveryKernelWritesItsRangeAlone) {
  for (const Stores stores : {Stores::cached, Stores::streamed}) {
    if (stores == Stores::streamed && !has_non_temporal_stores()) continue;
    for (int kernel = 0; kernel < 4; ++kernel) {
      auto a = threads::ThreadedArray<double>::zeros(64), b = threads::ThreadedArray<double>::zeros(64),
           c = threads::ThreadedArray<double>::zeros(64);
      for (int i = 0; i < 64; ++i) {
        (*a)[i] = i;
        (*b)[i] = 100 + i;
        (*c)[i] = 1000 + i;
      }
      run_stream(kernel, stores, {a->data(), b->data(), c->data()}, 0.5, 16, 40);
      for (int i = 0; i < 64; ++i) {
        const bool within = i >= 16 && i < 40;
        const double x = i, y = 100 + i, z = 1000 + i;
        EXPECT_EQ((*c)[i], within && kernel == 0 ? x : within && kernel == 2 ? x + y : z);
        EXPECT_EQ((*b)[i], within && kernel == 1 ? 0.5 * z : y);
        EXPECT_EQ((*a)[i], within && kernel == 3 ? y + 0.5 * z : x);
      }
    }
  }
}

TEST(Peak, IsPositiveAndNamesItsInstructions) {
  const Result<PeakSamples> found = measure_peak(1, 3);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->instructions.empty());
  EXPECT_EQ(found->gflops.size(), 3u);
  for (const double each : found->gflops) EXPECT_GT(each, 0);
  EXPECT_FALSE(measure_peak(1, 0).ok());
  EXPECT_FALSE(measure_peak(0, 1).ok());
}

TEST(Peak, KnowsTheOperationsOfSomeProcessors) {
  EXPECT_EQ(flops_per_cycle("AuthenticAMD", 0x19, 1, "avx2 fma"), 16);
  EXPECT_EQ(flops_per_cycle("AuthenticAMD", 0x17, 0x31, ""), 16);
  EXPECT_EQ(flops_per_cycle("AuthenticAMD", 0x17, 0x01, ""), 8);
  EXPECT_EQ(flops_per_cycle("GenuineIntel", 6, 79, "sse2 fma avx2"), 16);
  EXPECT_EQ(flops_per_cycle("GenuineIntel", 6, 85, "fma avx2 avx512f"), 0) << "one unit or two";
  EXPECT_EQ(flops_per_cycle("", 0, 0, ""), 0);
}

TEST(Gemm, NamesALibraryThatCannotBeUsed) {
  const auto missing = Gemm::open("/no/such/library.so");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().sentence().find("--blas must name a library"), std::string::npos);
  const auto other = Gemm::open("libm.so.6");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().sentence().find("must have dgemm_ (got libm.so.6)"), std::string::npos)
      << other.error().sentence();
}

TEST(Gemm, GivesACheckedProduct) {
  auto gemm = Gemm::open("");
  if (!gemm) gemm = Gemm::open("libblas.so.3");
  if (!gemm) GTEST_SKIP() << gemm.error().sentence();
  for (const int n : {1, 7, 100}) {
    const auto seconds = (*gemm)->measure(n, 1, 3);
    ASSERT_TRUE(seconds) << seconds.error().sentence();
    EXPECT_EQ(seconds->size(), 3u);
  }
  EXPECT_FALSE((*gemm)->measure(0, 1, 1).ok());
  EXPECT_FALSE((*gemm)->measure(10, 0, 1).ok());
  EXPECT_FALSE((*gemm)->measure(10, 1, 0).ok());
}

} // namespace
} // namespace kumihimo::node_bench
