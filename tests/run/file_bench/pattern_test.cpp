// The fast ways to make and to compare bytes against the definition of one byte.
#include "file_bench/pattern.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <vector>

namespace kumihimo::file_bench {
namespace {

std::vector<std::byte> made(const BytePattern& pattern, std::size_t bytes, std::int64_t position) {
  std::vector<std::byte> found(bytes);
  pattern.fill(found, position);
  return found;
}

TEST(BytePattern, FillsWhatItsDefinitionSays) {
  const BytePattern pattern(7, "a", 3);
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const auto position = static_cast<std::int64_t>(random() % (std::uint64_t{1} << 45));
    const std::vector<std::byte> found = made(pattern, random() % 100, position);
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(found[i], pattern.at(position + static_cast<std::int64_t>(i)));
    EXPECT_FALSE(pattern.first_difference(found, position));
  }
}

TEST(BytePattern, FindsEveryChangedByteAtItsPlace) {
  const BytePattern pattern(7, "a", 3);
  for (const std::int64_t position : {0, 5, 4096}) {
    std::vector<std::byte> bytes = made(pattern, 5000, position);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] ^= std::byte{0x10};
      ASSERT_EQ(pattern.first_difference(bytes, position), position + static_cast<std::int64_t>(i));
      bytes[i] ^= std::byte{0x10};
    }
  }
}

TEST(BytePattern, OtherPlacesOwnersSeedsAndNamesHaveOtherBytes) {
  const std::vector<std::byte> bytes = made(BytePattern(7, "a", 3), 64, 4096);
  EXPECT_TRUE(BytePattern(7, "a", 3).first_difference(bytes, 8192));
  EXPECT_TRUE(BytePattern(7, "a", 3).first_difference(bytes, 4097));
  EXPECT_TRUE(BytePattern(7, "a", 4).first_difference(bytes, 4096));
  EXPECT_TRUE(BytePattern(8, "a", 3).first_difference(bytes, 4096));
  EXPECT_TRUE(BytePattern(7, "b", 3).first_difference(bytes, 4096));
}

TEST(BytePattern, NoTwoWordsAreAlike) {
  const std::vector<std::byte> bytes = made(BytePattern(7, "a", 3), 8 * 100'000, 0);
  std::set<std::uint64_t> words;
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, &bytes[i], sizeof word);
    words.insert(word);
  }
  EXPECT_EQ(words.size(), 100'000u);
}

} // namespace
} // namespace kumihimo::file_bench
