// What of a file is in the page cache, on a file system that has a disk below it.
#include "file_bench/byte_file.hpp"
#include "file_bench/page_cache.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace kumihimo::file_bench {
namespace {

namespace fs = std::filesystem;

class PageCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    path = fs::path(testing::TempDir()) / ("page_cache_" + std::to_string(getpid()));
    std::ofstream(path) << std::string(1 << 20, 'k');
  }
  void TearDown() override { fs::remove(path); }
  fs::path path;
};

TEST_F(PageCacheTest, AFileThatWasWrittenIsThereUntilItIsEvicted) {
  const Residency written = residency_of(path.string());
  EXPECT_EQ(written.pages, (1 << 20) / sysconf(_SC_PAGESIZE));
  EXPECT_EQ(written.resident, written.pages);
  ASSERT_TRUE(evict(path.string()));
  if (is_in_memory(path.parent_path().string())) GTEST_SKIP() << "a file system in memory keeps its files there";
  EXPECT_EQ(residency_of(path.string()).resident, 0);
}

TEST_F(PageCacheTest, CountsAPartAlone) {
  const Residency part = residency_of(path.string(), 4096, 8192);
  EXPECT_EQ(part.pages, 8192 / sysconf(_SC_PAGESIZE));
  EXPECT_EQ(residency_of(path.string(), 1 << 20).pages, 0);
  EXPECT_EQ(residency_of((path.string() + "none")).pages, 0);
}

TEST_F(PageCacheTest, AMissingFileIsOneSentence) {
  const Status evicted = evict("/no/such");
  ASSERT_FALSE(evicted);
  EXPECT_EQ(evicted.error().sentence(),
            "/no/such cannot be opened: No such file or directory; name a folder that all nodes share");
}

TEST_F(PageCacheTest, KnowsFileSystemsInMemory) {
  EXPECT_FALSE(is_in_memory("/proc"));
  EXPECT_FALSE(is_in_memory("/no/such"));
}

TEST(PosixFile, SaysWhatTheSystemRefuses) {
  const auto file = make_posix_file(false);
  std::vector<std::byte> bytes(4096);
  ASSERT_TRUE(file->open("/dev/full", OpenFor::writing));
  EXPECT_EQ(file->write(0, bytes).error().sentence(),
            "/dev/full cannot be written at byte 0: No space left on device; make space, or measure smaller files");
  ASSERT_TRUE(file->close());
  ASSERT_TRUE(file->open("/dev/null", OpenFor::reading));
  EXPECT_EQ(file->read(7, bytes).error().sentence(), "/dev/null ends at byte 7: it was written further");
  ASSERT_TRUE(file->close());
  EXPECT_FALSE(file->open("/no/such/file", OpenFor::writing));
}

TEST(PosixFile, WhereTheSystemHasNoODirect) {
  const Status opened = make_posix_file(true)->open("/proc/self/status", OpenFor::reading);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().sentence(),
            "/proc/self/status cannot be opened: this file system has no O_DIRECT; use --cache evict or --cache drop");
}

TEST(Interfaces, HaveNames) {
  for (const std::string name : {"posix", "mpiio", "mpiio-collective", "hdf5", "hdf5-collective"})
    EXPECT_EQ(name_of(*interface_named(name)), name);
  EXPECT_FALSE(interface_named("posi"));
}

} // namespace
} // namespace kumihimo::file_bench
