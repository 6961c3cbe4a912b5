// Files that are read where they lie in memory.
#include "base/mapped_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string_view>

namespace kumihimo {
namespace {

class AMappedFile : public testing::Test {
 protected:
  void make(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  static Result<MappedFile> open(const std::string& path) { return MappedFile::open(path, "the list", "check it"); }
  static std::string text(const MappedFile& file) {
    return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
  }
  ~AMappedFile() override { std::filesystem::remove(path_); }
  const std::string path_ = testing::TempDir() + "kumihimo_mapped_file";
};

TEST_F(AMappedFile, HasTheBytesOfTheFile) {
  for (const std::string& written : {std::string(), std::string("a\n\0b", 4), std::string(10000, 'x')}) {
    make(written);
    auto file = open(path_);
    ASSERT_TRUE(file) << file.error().sentence();
    EXPECT_EQ(text(*file), written);
    const MappedFile moved = *std::move(file);
    EXPECT_EQ(text(moved), written);
    std::filesystem::remove(path_);
    EXPECT_EQ(text(moved), written) << "what is mapped stays";
  }
}

TEST_F(AMappedFile, IsToldFromOneThatTookItsPlace) {
  make("one");
  const auto first = open(path_), same = open(path_);
  EXPECT_EQ(first->identity(), same->identity());
  std::filesystem::rename(path_, path_ + ".old");
  make("two");
  const auto other = open(path_);
  EXPECT_FALSE(first->identity() == other->identity());
  std::filesystem::remove(path_ + ".old");
}

TEST_F(AMappedFile, ThatCannotBeMappedIsOneSentence) {
  const auto sentence = [](const std::string& path) {
    const auto file = open(path);
    return file ? "" : file.error().sentence();
  };
  EXPECT_EQ(sentence("/no/such"), "the list cannot be read (got no file '/no/such'); check it");
  EXPECT_EQ(sentence("/"), "the list cannot be read (got the folder '/'); check it");
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(sentence(path_), "the list cannot be read (got the FIFO '" + path_ + "'); check it");
}

} // namespace
} // namespace kumihimo
