#include "placement/orders.hpp"
#include "placement/text.hpp"

#include <gtest/gtest.h>

namespace kumihimo {
namespace {

const Slots slots = *Slots::of_nodes({2, 0, 3, 1});
const std::vector<std::string> names = {"cn1", "cn2", "cn3", "login"};

std::string refused(std::string_view text, std::span<const std::string> known = {}) {
  const auto placement = parse_placement(text, "p.txt", slots, known);
  return placement ? "" : placement.error().sentence();
}

TEST(PlacementText, IsReadAsItIsWritten) {
  for (const char* order : {"block", "round-robin", "random:7"}) {
    const Placement placement = *placement_in_order(order, slots, {});
    const auto read = parse_placement(to_text(placement), "p.txt", slots);
    ASSERT_TRUE(read.ok()) << read.error().sentence();
    for (std::int32_t r = 0; r < slots.size(); ++r) EXPECT_EQ(read->slot(Rank{r}), placement.slot(Rank{r}));
  }
}

TEST(PlacementText, TakesAnyOrderOfLinesNamesAndFewerRanksThanSlots) {
  const auto read = parse_placement("# three\n\n  2 3 0\r\n0\tcn3 2 # the last\n1 0 1", "p.txt", slots, names);
  ASSERT_TRUE(read.ok()) << read.error().sentence();
  EXPECT_EQ(read->ranks(), 3);
  EXPECT_EQ(read->slot(Rank{0}), (Slot{NodeId{2}, 2}));
  EXPECT_EQ(read->slot(Rank{2}), (Slot{NodeId{3}, 0}));
  EXPECT_EQ(read->rank_in({NodeId{0}, 0}), std::nullopt);
}

TEST(PlacementText, ReadsARankfileOfOpenMpi) {
  const auto read = parse_placement("rank 0=cn3 slot=2\nrank 1 = +n0 slot=1\nrank 2=login slot=0\n", "p", slots, names);
  ASSERT_TRUE(read.ok()) << read.error().sentence();
  EXPECT_EQ(read->slot(Rank{0}), (Slot{NodeId{2}, 2}));
  EXPECT_EQ(read->slot(Rank{1}), (Slot{NodeId{0}, 1}));
  EXPECT_EQ(parse_placement("rank 0=cn3 slot=0:1-3", "p", slots, names)->slot(Rank{0}), (Slot{NodeId{2}, 0}));
  EXPECT_NE(refused("rank 0=cn3 slot", names).find("a line of a rankfile"), std::string::npos);
  EXPECT_NE(refused("rank 0=+n9 slot=0", names).find("'+n9'"), std::string::npos);
}

TEST(PlacementText, RefusalsNameTheLine) {
  EXPECT_EQ(refused("0 0 0\n0 0 1"), "p.txt:2: the file must name each rank once (got rank 0 as in line 1)");
  EXPECT_EQ(refused("0 0 0\n\n1 0 0"),
            "p.txt:3: the file must name each slot once (got slot 0 of node 0 as in line 1)");
  EXPECT_EQ(refused("0 0 2"), "p.txt:1: node 0 has slots 0 to 1 (got 2); give more ranks per node");
  EXPECT_EQ(refused("0 1 0"), "p.txt:1: the node must have slots of the job (got 1)");
  EXPECT_EQ(refused("0 4 0"), "p.txt:1: the node must be 0 to 3 (got '4')");
  EXPECT_EQ(refused("0 cn1 0"),
            "p.txt:1: the node must be 0 to 3 (got 'cn1'); write numbers, or name the nodes in the machine file");
  EXPECT_EQ(refused("0 0\r\v0\rx"), "p.txt:1: a line has rank, node and slot, such as '5 2 0' (got '0 0  0 x')");
  const std::vector<std::string> more = {"cn1", "cn2", "cn3", "login", "cn5"};
  EXPECT_EQ(refused("0 cn5 0", more), "p.txt:1: the node must be 0 to 3 or its name (got 'cn5')");
  EXPECT_EQ(refused("0 cn9 0", names), "p.txt:1: the node must be 0 to 3 or its name (got 'cn9')");
  EXPECT_EQ(refused("0 0 0\n3 0 1"), "p.txt: rank 1 is missing; add it");
  EXPECT_EQ(refused("# nothing\n"), "p.txt: the file must name each rank (got none)");
  for (const char* line : {"0 0", "0 0 0 0", "a 0 0", "0 0 b", "-1 0 0", "0 0 -1", "99999999999 0 0", "rank", "rank 0"})
    EXPECT_EQ(refused(line).substr(0, 8), "p.txt:1:") << line;
}

} // namespace
} // namespace kumihimo
