#include "base/real_number.hpp"

#include <gtest/gtest.h>

namespace kumihimo {
namespace {

TEST(RealNumber, IsReadAsCFortranAndMathematicaWriteIt) {
  const std::pair<const char*, double> all[] = {
      {"1", 1},
      {"+1.5", 1.5},
      {"-.5", -.5},
      {"1.", 1},
      {"1e3", 1e3},
      {"1.5D-03", 1.5e-3},
      {"-1.5d+2", -150},
      {"2Q1", 20},
      {"1.5-103", 1.5e-103},
      {"-1.5+003", -1500},
      {"1.*^-6", 1e-6},
      {"-2.5*^3", -2500},
      {"1e-400", 0},
      {"-1D-400", 0},
      {"5e-324", 5e-324},
  };
  for (const auto& [text, expected] : all) {
    double value = -1;
    EXPECT_TRUE(read_real(text, value)) << text;
    EXPECT_EQ(value, expected) << text;
  }
}

TEST(RealNumber, OtherWordsAreRefused) {
  double value = 0;
  for (const char* text :
       {"",     "+",  "-",  ".",     "x",     "nan", "inf", "-inf", "1e999", "1D999",   "+-1",   "++1",     "1-2",
        "1+20", "1D", "D3", "1D3.5", "1e5D3", "1,5", "1 2", "0x10", "1*^",   "1.2.3D1", "1D+-3", "infinity"})
    EXPECT_FALSE(read_real(text, value)) << text;
}

} // namespace
} // namespace kumihimo
