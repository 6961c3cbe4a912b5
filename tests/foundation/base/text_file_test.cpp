// Reading a text: all of it, or a sentence that says why not.
#include "base/text_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace kumihimo {
namespace {

constexpr TextFileRule rule{"the list", 100, "check the path"};
std::string sentence(const std::string& path) {
  const Result<std::string> read = read_text(path, rule);
  return read ? *read : read.error().sentence();
}

class TextFile : public testing::Test {
 protected:
  std::string made(const std::string& text) const {
    std::ofstream(path_, std::ios::binary) << text;
    return path_;
  }
  ~TextFile() override { std::filesystem::remove(path_); }
  const std::string path_ = testing::TempDir() + "kumihimo_text_file";
};

TEST_F(TextFile, IsReadWhole) {
  for (const std::string& text : {std::string(), std::string("a\n\0b", 4), std::string(100, 'x')})
    EXPECT_EQ(sentence(made(text)), text);
  EXPECT_EQ(sentence("/proc/self/comm").back(), '\n'); // its size is 0 for the system
}

TEST_F(TextFile, ThatCannotBeReadIsOneSentence) {
  const std::string start = "the list cannot be read (got ";
  EXPECT_EQ(sentence("/proc/self/mem"), start + "'/proc/self/mem': Input/output error); check the path");
  EXPECT_EQ(sentence("/"), start + "the folder '/'); check the path");
  EXPECT_EQ(sentence("/dev/null"), start + "the device '/dev/null'); check the path");
  EXPECT_EQ(sentence("/no/such"), start + "no file '/no/such'); check the path");
  EXPECT_EQ(sentence(made(std::string(101, 'x'))),
            start + "'" + path_ + "', which is longer than 0 MiB); check the path");
  EXPECT_EQ(sentence("/proc/self/status"), start + "'/proc/self/status', which is longer than 0 MiB); check the path");
}

TEST_F(TextFile, ThatIsCompressedIsNamed) {
  EXPECT_EQ(sentence(made("\x1f\x8b\x08")),
            "the list must not be compressed (got '" + path_ + "', gzip data); decompress it");
}

} // namespace
} // namespace kumihimo
