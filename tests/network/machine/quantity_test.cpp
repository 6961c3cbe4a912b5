#include "machine/quantity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kumihimo {
namespace {

TEST(Quantity, ReadsEachUnit) {
  EXPECT_EQ(parse_bytes("7 B")->value, 7);
  EXPECT_EQ(parse_bytes("7 kB")->value, 7000);
  EXPECT_EQ(parse_bytes("16 GB")->value, 16'000'000'000);
  EXPECT_EQ(parse_bytes("2 TB")->value, 2'000'000'000'000);
  EXPECT_EQ(parse_bytes("64KiB")->value, 65536);
  EXPECT_EQ(parse_bytes("1 MiB")->value, 1 << 20);
  EXPECT_EQ(parse_bytes("3 GiB")->value, 3LL << 30);
  EXPECT_EQ(parse_bytes("1 TiB")->value, 1LL << 40);
  EXPECT_EQ(parse_bytes("1.5 KiB")->value, 1536);
  EXPECT_EQ(parse_rate("5 GB/s")->value, 5e9);
  EXPECT_EQ(parse_rate("6.58 GB/s")->value, 6.58e9);
  EXPECT_EQ(parse_rate("1 GiB/s")->value, 1073741824.0);
  EXPECT_EQ(parse_rate("375 MB/s")->value, 375e6);
  EXPECT_EQ(parse_seconds("100 ns")->value, 100e-9);
  EXPECT_EQ(parse_seconds("0.49 us")->value, 0.49e-6);
  EXPECT_EQ(parse_seconds("0.49 \u00b5s")->value, 0.49e-6);
  EXPECT_EQ(parse_seconds("0.49 \u03bcs")->value, 0.49e-6);
  EXPECT_EQ(parse_seconds("3 ms")->value, 3e-3);
  EXPECT_EQ(parse_seconds("2 s")->value, 2.0);
}

TEST(Quantity, RefusesWhatIsNoRate) {
  for (const char* text : {"",         " ",       "5",       "GB/s",     "5 GB",     "5 Gb/s",   "5 gb/s",   "5 KB/s",
                           "5  GB/s",  " 5 GB/s", "5 GB/s ", "-5 GB/s",  "+5 GB/s",  "5e3 GB/s", "0x5 GB/s", "inf GB/s",
                           "nan GB/s", "5. GB/s", ".5 GB/s", "1,5 GB/s", "5 GB/s/s", "0 GB/s",   "0.0 GB/s", "5 ns"}) {
    const auto rate = parse_rate(text);
    ASSERT_FALSE(rate.ok()) << text;
    EXPECT_NE(rate.error().sentence().find('"' + std::string(text) + '"'), std::string::npos);
    EXPECT_NE(rate.error().advice.find("GB/s"), std::string::npos) << "units must be listed";
  }
}

TEST(Quantity, RefusesNumbersOutOfRange) {
  EXPECT_FALSE(parse_rate(std::string(400, '9') + " GB/s").ok());
  EXPECT_FALSE(parse_seconds("0." + std::string(400, '0') + "1 ns").ok());
  EXPECT_FALSE(parse_bytes("0.3 B").ok()) << "a third of a byte";
  EXPECT_FALSE(parse_bytes("9007199254740993 B").ok()) << "2^53 + 1, which no double holds";
  EXPECT_EQ(parse_bytes("9007199254740991 B")->value, 9007199254740991);
  EXPECT_FALSE(parse_bytes("100000 TiB").ok());
}

TEST(Quantity, PrintsAsPeopleWrite) {
  EXPECT_EQ(text_of(BytesPerSecond{5e9}), "5 GB/s");
  EXPECT_EQ(text_of(BytesPerSecond{6.58e9}), "6.58 GB/s");
  EXPECT_EQ(text_of(BytesPerSecond{999}), "999 B/s");
  EXPECT_EQ(text_of(Seconds{100e-9}), "100 ns");
  EXPECT_EQ(text_of(Seconds{8e-6}), "8 us");
  EXPECT_EQ(text_of(Seconds{0.25e-9}), "0.25 ns");
  EXPECT_EQ(text_of(Seconds{12}), "12 s");
  EXPECT_EQ(text_of(Bytes{1 << 20}), "1 MiB");
  EXPECT_EQ(text_of(Bytes{16'000'000'000}), "16 GB");
  EXPECT_EQ(text_of(Bytes{7}), "7 B");
}

// Printing then reading gives the same bits, whatever the number.
TEST(Quantity, RoundTripsExactly) {
  std::mt19937_64 random(20120221);
  std::uniform_real_distribution<double> exponent(-12, 15);
  std::uniform_int_distribution<std::int64_t> shift(0, 52), any(1, (1LL << 53) - 1);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::pow(10.0, exponent(random));
    const auto rate = parse_rate(text_of(BytesPerSecond{value}));
    ASSERT_TRUE(rate.ok()) << text_of(BytesPerSecond{value});
    ASSERT_EQ(rate->value, value);
    const auto flops = parse_flop_rate(text_of(FlopsPerSecond{value}));
    ASSERT_TRUE(flops.ok()) << text_of(FlopsPerSecond{value});
    ASSERT_EQ(flops->value, value);
    const auto time = parse_seconds(text_of(Seconds{value}));
    ASSERT_TRUE(time.ok()) << text_of(Seconds{value});
    ASSERT_EQ(time->value, value);
    const std::int64_t size = std::max<std::int64_t>(any(random) >> shift(random), 1);
    const auto bytes = parse_bytes(text_of(Bytes{size}));
    ASSERT_TRUE(bytes.ok()) << text_of(Bytes{size});
    ASSERT_EQ(bytes->value, size);
  }
}

} // namespace
} // namespace kumihimo
