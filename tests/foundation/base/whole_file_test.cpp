#include "base/whole_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace kumihimo {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class WholeFileTest : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    folder = fs::path(testing::TempDir()) / (std::string("whole_file_") + test->name());
    fs::remove_all(folder);
    fs::create_directory(folder);
  }
  void put(const std::string& name, const std::string& text) const { std::ofstream(folder / name) << text; }
  Status write(const std::string& name, const std::string& text) const {
    WholeFile file((folder / name).string());
    file.write(text);
    return file.finish();
  }
  // Nothing of the writer is left beside the files of the test.
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator{}));
  }
  fs::path folder;
};

TEST_F(WholeFileTest, TakesThePlaceOfTheOldOne) {
  put("a", "an old text that is longer");
  ASSERT_TRUE(write("a", "new"));
  EXPECT_EQ(text_of(folder / "a"), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(WholeFileTest, TheOldOneStaysUntilAllIsWritten) {
  put("a", "old");
  {
    WholeFile file((folder / "a").string());
    file.write(std::string(3 << 20, 'x')); // more than is held in memory
    EXPECT_EQ(text_of(folder / "a"), "old");
  }
  EXPECT_EQ(text_of(folder / "a"), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(WholeFileTest, AFullDiskLeavesTheOldOne) { // a limit of a file's size stands for the disk
  put("a", "old");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit = before;
  limit.rlim_cur = 1 << 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const Status written = write("a", std::string(3 << 20, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, Error::Kind::failed);
  EXPECT_NE(written.error().problem.find("a was not written: File too large"), std::string::npos)
      << written.error().problem;
  EXPECT_EQ(text_of(folder / "a"), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(WholeFileTest, KeepsPermissionsAndLinks) {
  put("a", "old");
  fs::permissions(folder / "a", fs::perms{0640});
  fs::create_symlink("a", folder / "link");
  fs::create_symlink("b", folder / "to_none");
  ASSERT_TRUE(write("link", "new"));
  ASSERT_TRUE(write("to_none", "first"));
  EXPECT_TRUE(fs::is_symlink(folder / "link") && fs::is_symlink(folder / "to_none"));
  EXPECT_EQ(text_of(folder / "a"), "new");
  EXPECT_EQ(text_of(folder / "b"), "first");
  EXPECT_EQ(fs::status(folder / "a").permissions(), fs::perms{0640});
}

TEST_F(WholeFileTest, ANewFileHasTheUsualPermissions) {
  const mode_t old = umask(027);
  ASSERT_TRUE(write("a", "new"));
  umask(old);
  EXPECT_EQ(fs::status(folder / "a").permissions(), fs::perms{0640});
}

TEST_F(WholeFileTest, ADeviceIsWrittenAsItComes) {
  fs::create_symlink("/dev/full", folder / "full");
  const Status written = write("full", "new");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().problem.find("No space left on device"), std::string::npos);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  WholeFile null("/dev/null");
  null.write("new");
  EXPECT_TRUE(null.finish());
}

TEST_F(WholeFileTest, AnOpenFileIsWrittenWhereItStands) { // as /dev/stdout of a shell's `> file`
  const fs::path path = folder / "a";
  std::FILE* const file = std::fopen(path.c_str(), "w");
  std::fputs("before ", file);
  std::fflush(file);
  WholeFile by_number("/proc/self/fd/" + std::to_string(fileno(file)));
  by_number.write("new");
  EXPECT_TRUE(by_number.finish());
  std::fclose(file);
  EXPECT_EQ(text_of(path), "before new");
}

TEST_F(WholeFileTest, AMissingFolderIsOneSentence) {
  const Status written = write("no/such", "new");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().sentence().find("No such file or directory; make its folder first"), std::string::npos);
}

TEST_F(WholeFileTest, LongestNameOfAFile) {
  ASSERT_TRUE(write(std::string(255, 'n'), "new"));
  EXPECT_FALSE(write(std::string(256, 'n'), "new"));
  EXPECT_EQ(files(), 1u);
}

} // namespace
} // namespace kumihimo
