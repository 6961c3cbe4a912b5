// Text for people: no line passes the edge, no word is broken or lost.
#include "base/wrapped_text.hpp"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

namespace kumihimo {
namespace {

TEST(Page, BreaksAtSpacesAndIndentsWhatFollows) {
  Page page(12);
  page.line(1, "one two three four", 2);
  page.blank();
  page.line(0, "end");
  EXPECT_EQ(page.take(), " one two\n   three\n   four\n\nend\n");
}

TEST(Page, AWordLongerThanALineStandsAlone) {
  Page page(6);
  page.line(0, "a unbreakable b", 0);
  EXPECT_EQ(page.take(), "a\nunbreakable\nb\n");
}

TEST(Page, KeepsEveryWordWithinTheEdge) {
  std::mt19937 random(7);
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (std::size_t words = 1 + random() % 20; words > 0; --words)
      text += (text.empty() ? "" : " ") + std::string(1 + random() % 8, static_cast<char>('a' + random() % 26));
    const std::size_t columns = 16 + random() % 30, indent = random() % 4;
    Page page(columns);
    page.line(indent, text);
    const std::string written = page.take();
    std::istringstream lines(written), words(written);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), columns) << written;
    std::string joined;
    for (std::string word; words >> word;) joined += (joined.empty() ? "" : " ") + word;
    EXPECT_EQ(joined, text);
  }
}

} // namespace
} // namespace kumihimo
