#include "application/changed_lines.hpp"

#include <gtest/gtest.h>

namespace kumihimo::application {
namespace {

constexpr const char* plain = "#include <a>\nnamespace a {\nvoid f() {\n  for (;;)\n    work();\n}\n} // namespace a\n";

TEST(ChangedLines, CountWhatAVariantAddsOrChanges) {
  EXPECT_EQ(changed_lines(plain, plain), 0);
  EXPECT_EQ(changed_lines(plain, "void f() {\n#pragma omp parallel for\n  for (;;)\n    work();\n}\n"), 1);
  EXPECT_EQ(changed_lines(plain, "void f() {\n  for (;;)\n    other();\n  more();\n}\n"), 2);
  EXPECT_EQ(changed_lines("", "a\nb\na"), 3);
}

TEST(ChangedLines, LeaveOutBlanksCommentsBracesAndNames) {
  EXPECT_EQ(changed_lines(plain, "// new\n#include <b>\nnamespace b {\n\nvoid f() {\nfor (;;)\n\twork();\r\n}\n}"), 0);
}

} // namespace
} // namespace kumihimo::application
