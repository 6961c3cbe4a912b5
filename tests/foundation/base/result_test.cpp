// TRY: the value, or a return of the error. A long value of a sentence is cut.
#include "base/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace kumihimo {
namespace {

Result<std::unique_ptr<int>> boxed(int value) {
  if (value < 0) return wrong_value("the value must be at least 0", value);
  return std::make_unique<int>(value);
}

Result<int> sum(int a, int b) {
  const std::unique_ptr<int> left = TRY(boxed(a));
  const std::unique_ptr<int> right = TRY(boxed(b));
  return *left + *right;
}

TEST(Try, GivesTheValue) { EXPECT_EQ(*sum(2, 3), 5); }

TEST(Try, ReturnsTheFirstError) {
  const Result<int> failed = sum(2, -3);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().sentence(), "the value must be at least 0 (got -3)");
  EXPECT_EQ(sum(-1, -3).error().sentence(), "the value must be at least 0 (got -1)");
}

TEST(Errors, OfALongValueTheBeginningIsShown) {
  EXPECT_EQ(wrong_value("it must be short", std::string(300, 'x'), "cut it").sentence(),
            "it must be short (got " + std::string(200, 'x') + "...); cut it");
  EXPECT_EQ(wrong_value("it must be short", std::string(200, 'x')).problem,
            "it must be short (got " + std::string(200, 'x') + ")");
}

TEST(Errors, ALongValueIsNotCutWithinACharacter) {
  EXPECT_EQ(not_applicable("it must be short", std::string(199, 'x') + "ü and more").problem,
            "it must be short (got " + std::string(199, 'x') + "...)");
}

} // namespace
} // namespace kumihimo
