// Texts of machine files that toml++ must not be given, or must be given as they are.
#include "machine/job.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kumihimo {
namespace {

TEST(TextOfMachineFiles, RefusesKeysOfManyParts) {
  std::string key = "a";
  for (int part = 0; part < 50'000; ++part) key += ".a";
  for (const std::string& text : {key + " = 1", "[" + key + "]", "b = { " + key + " = 1 }"})
    EXPECT_EQ(parse_machine("# a comment\n" + text, "deep.toml").error().sentence(),
              "deep.toml:2: a key must have at most 64 parts (got more); correct this line");
  const std::string dots(200, '.');
  const std::string three = "\"\"\"";
  for (const std::string& text : {"a = \"\\\"" + dots + "\" # " + dots, "a = '" + dots + "'", "# " + dots,
                                  "a = " + three + "\n" + dots + "\\" + three + "\n" + dots + three,
                                  "a = '''" + dots + "\n\"" + dots + "'''", "a = " + three, three + "\\" + three})
    EXPECT_EQ(parse_machine(text, "dots.toml").error().sentence().find("parts"), std::string::npos) << text;
}

// toml++ asserts that a key begins a header.
TEST(TextOfMachineFiles, RefusesHeadersThatBeginWithNoKey) {
  const std::string rule = "a header must begin with a key";
  for (const std::string text : {"[%]", "[\\", "a = 1\n \t[ \\]", "[[%]]", "[[ [a]]]", "[.a]", "\xEF\xBB\xBF[%]",
                                 "a = []\n[=]", "a = \"\"\"\n[a\n\"\"\"\n[{"}) {
    const std::string told = parse_machine(text, "mine.toml").error().sentence();
    EXPECT_NE(told.find(rule), std::string::npos) << text << ": " << told;
  }
  EXPECT_NE(parse_machine("a = 1\n\n[%]", "mine.toml").error().sentence().find("mine.toml:3: "), std::string::npos);
}

TEST(TextOfMachineFiles, AcceptsHeadersWithKeysAndArraysInLines) {
  for (const std::string text : {"[a]", "[ 'a.b' ]", "[\"a\"]", "[[-a]]", "[_1]", "a = [\n[+1], # ]\n[{}]\n]",
                                 "a = \"\"\"\n[%]\n\"\"\"", "# [%]", "[]", "["})
    EXPECT_EQ(parse_machine(text, "mine.toml").error().sentence().find("must begin with a key"), std::string::npos)
        << text;
}

// toml++ 3.3 has no defined behaviour for them.
TEST(TextOfMachineFiles, RefusesLettersWhereTheyCannotStand) {
  const std::string three = "\"\"\"", rule = "letters outside ASCII must be in quotes or comments";
  const std::vector<std::string> refused = {"a = 1é",
                                            "a = \"b\"é",
                                            "aé = 1",
                                            "[a]é",
                                            "a = " + three + "\\é" + three,
                                            "a = " + three + "b \\ \n\t\n é" + three,
                                            "a = " + three + "b" + three + "\"\"é",
                                            "a = '\\'é",
                                            "a = '''b''''é",
                                            "a = \"\\\\\"é"};
  for (const std::string& text : refused)
    EXPECT_NE(parse_machine(text, "mine.toml").error().sentence().find(rule), std::string::npos) << text;
  EXPECT_EQ(parse_machine("# ä\na = \"ö\"\nb = ü", "mine.toml").error().sentence(),
            "mine.toml:3: " + rule +
                " (got one elsewhere, or after a backslash at the end of a line); correct this line");
  const std::vector<std::string> allowed = {"a = \"é\" # é",
                                            "\"é\" = 'é'",
                                            "\xEF\xBB\xBF# a byte-order mark",
                                            "a = " + three + "\\\\é \\\"é\n\\\n b é" + three + " # é",
                                            "a = " + three + "é" + three + "\" # é",
                                            "a = '''\\é''' # é",
                                            "a = [\"é\", 'é']"};
  for (const std::string& text : allowed) {
    const std::string sentence = parse_machine(text, "mine.toml").error().sentence();
    EXPECT_EQ(sentence.find(rule), std::string::npos) << text;
    EXPECT_EQ(sentence.find("not TOML"), std::string::npos) << text << ": " << sentence;
  }
  EXPECT_EQ(parse_machine("a = '\xE9'", "mine.toml").error().sentence(),
            "mine.toml: the file must be UTF-8 (got other bytes); convert it");
}

} // namespace
} // namespace kumihimo
