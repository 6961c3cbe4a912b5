#include "patterns.hpp"

#include <gtest/gtest.h>

namespace kumihimo::mapping {
namespace {

struct Totals {
  std::int64_t flows = 0, bytes = 0, messages = 0;
  std::int64_t hash = 0; // sum of (31 from + 17 to + 1) mod 1009 times bytes, mod 1000003: who sends what to whom
  bool operator==(const Totals&) const = default;
};

Totals totals_of(const Traffic& traffic) {
  Totals totals{traffic.flows(), traffic.bytes(), traffic.messages(), 0};
  for (std::int32_t rank = 0; rank < traffic.ranks(); ++rank)
    for (const Traffic::Flow& flow : traffic.from(Rank{rank}))
      totals.hash = (totals.hash + (rank * 31 + flow.to.value * 17 + 1) % 1009 * (flow.bytes % 1000003)) % 1000003;
  return totals;
}

void PrintTo(const Totals& t, std::ostream* out) {
  *out << t.flows << " flows, " << t.bytes << " bytes, " << t.messages << " messages, hash " << t.hash;
}

// The totals are of an independent generator of the same patterns.
TEST(Patterns, HaveKnownTotals) {
  using namespace patterns;
  EXPECT_EQ(totals_of(halo({16, 16, 16}, false)), (Totals{24576, 805306368, 24576, 868808}));
  EXPECT_EQ(totals_of(halo({16, 16, 16}, true)), (Totals{106496, 830734336, 106496, 860839}));
  EXPECT_EQ(totals_of(lu(1024, 102)), (Totals{3968, 36188160000, 100192000, 599455}));
  EXPECT_EQ(totals_of(bt(1024, 162)), (Totals{6144, 217300316160, 39321600, 775158}));
  EXPECT_EQ(totals_of(ft(1024)), (Totals{63488, 20803747840, 1269760, 88021}));
  EXPECT_EQ(totals_of(cg(1024, 75000)), (Totals{6112, 223561305600, 32270400, 666191}));
  EXPECT_EQ(totals_of(cg(8192, 1500000, 100)), (Totals{65408, 27925835673600, 473984000, 519070}));
  EXPECT_EQ(totals_of(mg(1024, 256)), (Totals{7576, 4017899520, 2737920, 959193}));
  EXPECT_EQ(totals_of(bruck(4096)), (Totals{49152, 17175674880, 49152, 832326}));
}

TEST(Patterns, ShufflingKeepsSums) {
  const Traffic plain = patterns::halo({8, 8}, false), mixed = patterns::shuffled(plain, 1);
  EXPECT_EQ(mixed.flows(), plain.flows());
  EXPECT_EQ(mixed.bytes(), plain.bytes());
  EXPECT_NE(mixed, plain);
  EXPECT_NE(patterns::shuffled(plain, 2), mixed);
}

TEST(Patterns, MeshPartsAreIrregularAndSymmetric) {
  const Traffic traffic = patterns::mesh_parts(1024, 3);
  EXPECT_EQ(traffic, patterns::mesh_parts(1024, 3));
  std::size_t fewest = 1024, most = 0;
  for (std::int32_t rank = 0; rank < traffic.ranks(); ++rank) {
    fewest = std::min(fewest, traffic.from(Rank{rank}).size());
    most = std::max(most, traffic.from(Rank{rank}).size());
    for (const Traffic::Flow& flow : traffic.from(Rank{rank})) {
      const auto back = traffic.from(flow.to);
      ASSERT_TRUE(std::any_of(back.begin(), back.end(), [&](const Traffic::Flow& other) {
        return other.to == Rank{rank} && other.bytes == flow.bytes;
      }));
    }
  }
  EXPECT_LT(fewest, 8u);
  EXPECT_GT(most, 20u);
  EXPECT_GT(traffic.flows(), 8 * 1024);
  EXPECT_LT(traffic.flows(), 28 * 1024);
}

} // namespace
} // namespace kumihimo::mapping
