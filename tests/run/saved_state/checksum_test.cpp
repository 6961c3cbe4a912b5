// XXH64 against values of its authors' program, and its independence of how bytes are cut.
#include "saved_state/checksum.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::saved_state {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::uint64_t sum_of(std::string_view text) {
  Checksum sum;
  sum.add(bytes_of(text));
  return sum.value();
}

TEST(Checksum, IsXxh64) {
  EXPECT_EQ(sum_of(""), 0xef46db3751d8e999ULL);
  EXPECT_EQ(sum_of("a"), 0xd24ec4f1a98c6e5bULL);
  EXPECT_EQ(sum_of("abc"), 0x44bc2cf5ad770999ULL);
  EXPECT_EQ(sum_of("Nobody inspects the spammish repetition"), 0xfbcea83c8a378bf1ULL);
}

TEST(Checksum, DoesNotDependOnPieces) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string text(random() % 300, '\0');
    for (char& each : text) each = static_cast<char>(random());
    Checksum sum;
    for (std::string_view left = text; !left.empty();) {
      const std::size_t piece = std::min<std::size_t>(left.size(), random() % 70);
      sum.add(bytes_of(left.substr(0, piece)));
      left.remove_prefix(piece);
    }
    EXPECT_EQ(sum.value(), sum_of(text)) << text.size();
  }
}

TEST(Checksum, SeesEveryBit) {
  std::string text(100, 'k');
  const std::uint64_t before = sum_of(text);
  for (std::size_t byte = 0; byte < text.size(); ++byte)
    for (int bit = 0; bit < 8; ++bit) {
      text[byte] = static_cast<char>(text[byte] ^ (1 << bit));
      EXPECT_NE(sum_of(text), before);
      text[byte] = static_cast<char>(text[byte] ^ (1 << bit));
    }
}

} // namespace
} // namespace kumihimo::saved_state
