#include "base/terminal_text.hpp"

#include <gtest/gtest.h>

namespace kumihimo {
namespace {

TEST(TerminalText, CommandsAreShown) {
  EXPECT_EQ(visible("a\tb\nc é € \xf0\x9f\x98\x80"), "a\tb\nc é € \xf0\x9f\x98\x80");
  EXPECT_EQ(visible("\x1b[2J\r\a"), "\\x1b[2J\\x0d\\x07");
  EXPECT_EQ(visible("\x7f"), "\\x7f");
  EXPECT_EQ(visible("a\xc2\x9b"
                    "31m"),
            "a\\xc2\\x9b31m");
  EXPECT_EQ(visible("\xe2\x80\xae"
                    "x\xe2\x81\xa6"),
            "\\xe2\\x80\\xaex\\xe2\\x81\\xa6");
  EXPECT_EQ(visible("\xc2"), "\xc2");
  EXPECT_EQ(visible(std::string_view("\0", 1)), "\\x00");
}

} // namespace
} // namespace kumihimo
