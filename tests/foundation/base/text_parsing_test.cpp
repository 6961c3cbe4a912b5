// UTF-8 is told from other bytes as Python tells it.
#include "base/text_parsing.hpp"

#include <gtest/gtest.h>

namespace kumihimo {
namespace {

TEST(Utf8, IsToldFromOtherBytes) {
  for (const std::string_view text : {"", "a", "\xC3\xA9", "\xE2\x82\xAC.", "\xED\x9F\xBF", "\xEF\xBF\xBF",
                                      "\xF0\x90\x80\x80", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"})
    EXPECT_TRUE(is_utf8(text)) << text;
  for (const std::string_view text :
       {"\x80", "a\xFF", "\xC3", "\xC3z", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xE2\x82", "\xE2\x82z",
        "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF0\x9F\x98", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80"})
    EXPECT_FALSE(is_utf8(text)) << text;
}

} // namespace
} // namespace kumihimo
