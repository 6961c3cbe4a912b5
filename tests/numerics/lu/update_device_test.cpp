// Devices that take a part of the updates: products by threads on processors, shared by a lock, and by cuBLAS, whose
// calls a library of the test takes.
#include "blas/blas.hpp"
#include "lu/update_device.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cfloat>
#include <cmath>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace kumihimo::lu {
namespace {

std::shared_ptr<const blas::Blas> blas_of_devices() {
  for (const char* const path : {"", "libblas.so.3"})
    if (const auto found = blas::Blas::open(path, "blas")) return *found;
  return nullptr;
}

// Sees whether two hold it at a time.
class WatchedLock final : public DeviceLock {
 public:
  void lock() override {
    mutex_.lock();
    worst = std::max(worst, ++holders_);
  }
  void unlock() override {
    --holders_;
    mutex_.unlock();
    ++times;
  }
  int worst = 0;
  std::atomic<int> times = 0;

 private:
  std::mutex mutex_;
  int holders_ = 0;
};

struct Matrices {
  DeviceProduct product;
  std::vector<double> a, b, c;
  Matrices(std::int64_t m, std::int64_t n, std::int64_t k, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> entry(-1, 1);
    const std::int64_t lda = m + 3, ldb = k + 1, ldc = m + 5;
    for (auto& [of, size] : {std::pair{&a, lda * k}, {&b, ldb * n}, {&c, ldc * n}}) {
      of->resize(static_cast<std::size_t>(size) + 1);
      for (double& each : *of) each = entry(random);
    }
    product = {.m = m, .n = n, .k = k, .a = a.data(), .lda = lda, .b = b.data(), .ldb = ldb, .c = c.data(), .ldc = ldc};
  }
  std::vector<double> expected() const { // whole memory of C, with what lies between columns
    std::vector<double> found = c;
    for (std::int64_t j = 0; j < product.n; ++j)
      for (std::int64_t i = 0; i < product.m; ++i)
        for (std::int64_t l = 0; l < product.k; ++l)
          found[static_cast<std::size_t>(i + j * product.ldc)] -=
              a[static_cast<std::size_t>(i + l * product.lda)] * b[static_cast<std::size_t>(l + j * product.ldb)];
    return found;
  }
};

void expect_products(UpdateDevice& device) {
  std::uint64_t seed = 1;
  for (const auto& [m, n, k] : {std::tuple{40, 30, 20}, {1, 1, 1}, {7, 1, 5}, {64, 3, 64}, {5, 0, 3}, {90, 70, 8}}) {
    Matrices of(m, n, k, seed++);
    const std::vector<double> expected = of.expected();
    device.start(of.product);
    const Result<double> seconds = device.wait();
    ASSERT_TRUE(seconds.ok()) << seconds.error().sentence();
    EXPECT_GE(*seconds, 0);
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(of.c[i], expected[i], 4 * (k + 1) * DBL_EPSILON) << m << " " << n << " " << k << " at " << i;
  }
}

std::vector<int> allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> found;
  for (int each = 0; each < CPU_SETSIZE; ++each)
    if (CPU_ISSET(each, &set)) found.push_back(each);
  return found;
}

TEST(ProcessorDevice, MultipliesOnOneThreadAndOnSeveral) {
  const auto blas = blas_of_devices();
  if (!blas) GTEST_SKIP() << "no BLAS library is here";
  WatchedLock lock;
  const std::vector<int> processors = allowed();
  for (const std::vector<int>& each : {std::vector{processors[0]}, processors}) {
    const auto device = processor_device(each, *blas, lock);
    ASSERT_TRUE(device.ok()) << device.error().sentence();
    expect_products(**device);
  }
  EXPECT_EQ(lock.times, 12) << "once a product";
  EXPECT_EQ(lock.worst, 1);
}

TEST(ProcessorDevice, IsSharedByTheLock) {
  const auto blas = blas_of_devices();
  if (!blas) GTEST_SKIP() << "no BLAS library is here";
  WatchedLock lock;
  std::vector<std::thread> sharers;
  for (int each = 0; each < 3; ++each)
    sharers.emplace_back([&] {
      const auto device = processor_device({allowed()[0]}, *blas, lock);
      ASSERT_TRUE(device.ok());
      for (int round = 0; round < 5; ++round) expect_products(**device);
    });
  for (std::thread& each : sharers) each.join();
  EXPECT_EQ(lock.worst, 1);
  EXPECT_EQ(lock.times, 3 * 5 * 6);
}

TEST(ProcessorDevice, EndsWithoutAnyProduct) {
  const auto blas = blas_of_devices();
  if (!blas) GTEST_SKIP() << "no BLAS library is here";
  WatchedLock lock;
  { const auto device = processor_device(allowed(), *blas, lock); }
  EXPECT_EQ(lock.times, 0);
}

TEST(ProcessorDevice, RefusesProcessorsThatItMayNotUse) {
  const auto blas = blas_of_devices();
  if (!blas) GTEST_SKIP() << "no BLAS library is here";
  WatchedLock lock;
  EXPECT_FALSE(processor_device({}, *blas, lock).ok());
  const auto beyond = processor_device({CPU_SETSIZE - 1}, *blas, lock);
  ASSERT_FALSE(beyond.ok());
  EXPECT_EQ(beyond.error().sentence(), "processors must be some that this process may use (got 1023); name others");
}

TEST(Processors, AreReadFromLists) {
  EXPECT_EQ(*parse_processors("3"), (std::vector{3}));
  EXPECT_EQ(*parse_processors("8,0-3,2"), (std::vector{0, 1, 2, 3, 8}));
  for (const char* wrong : {"", "a", "1-", "-1", "3-1", "1,", "1,,2", "1 2", "99999"})
    EXPECT_FALSE(parse_processors(wrong).ok()) << wrong;
}

TEST(GpuDevice, CallsCublasByItsNames) {
  WatchedLock lock;
  const auto device = gpu_device(3, lock, KUMIHIMO_STAND_IN_CUDA, KUMIHIMO_STAND_IN_CUDA);
  ASSERT_TRUE(device.ok()) << device.error().sentence();
  EXPECT_EQ((*device)->name(), "GPU 1 by cuBLAS") << "the stand-in has two, which processes take in turn";
  expect_products(**device);
  EXPECT_EQ(lock.times, 6);
}

TEST(GpuDevice, IsOneSentenceWhereItIsMissing) {
  WatchedLock lock;
  const auto none = gpu_device(0, lock, "/no/such/libcudart.so");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().sentence(), "a GPU as device needs the CUDA runtime (libcudart), and it is not here; install "
                                     "CUDA, or use device=PROCESSORS");
  const auto half = gpu_device(0, lock, KUMIHIMO_STAND_IN_CUDA, "libm.so.6");
  ASSERT_FALSE(half.ok());
  EXPECT_EQ(half.error().sentence(), "the CUDA libraries must have all functions (got cublasCreate_v2); update them");
}

} // namespace
} // namespace kumihimo::lu
