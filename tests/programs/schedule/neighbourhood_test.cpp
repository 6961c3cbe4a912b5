// Whose block comes from whom, by MPI 4.1, section 8.6.
#include "program/binding.hpp"
#include "schedule/data.hpp"
#include "schedule/neighbourhood.hpp"

#include <gtest/gtest.h>

namespace kumihimo {
namespace {

using End = Neighbourhood::End;
constexpr std::int32_t nobody = Neighbourhood::nobody;

std::vector<std::int32_t> ranks_of(std::span<const End> ends) {
  std::vector<std::int32_t> ranks;
  for (const End end : ends) ranks.push_back(end.rank);
  return ranks;
}

// Every edge is at both its ends, and both say the same.
void expect_sound(const Neighbourhood& n) {
  std::int64_t edges = 0;
  for (std::int32_t r = 0; r < n.ranks(); ++r) {
    const auto sources = n.sources(Rank{r}), destinations = n.destinations(Rank{r});
    for (std::size_t k = 0; k < destinations.size(); ++k) {
      if (!destinations[k].exists()) continue;
      const End back = n.sources(Rank{destinations[k].rank})[static_cast<std::size_t>(destinations[k].block)];
      EXPECT_EQ(back, (End{r, static_cast<std::int32_t>(k)}));
      ++edges;
    }
    for (const End source : sources) edges -= source.exists();
  }
  EXPECT_EQ(edges, 0);
}

TEST(Cartesian, NeighboursAreInTheOrderOfTheAxesBeforeThenAfter) {
  const Neighbourhood n = Neighbourhood::cartesian({{4, true}, {3, false}}, "cart:4x3m");
  expect_sound(n);
  EXPECT_EQ(n.ranks(), 12);
  EXPECT_EQ(ranks_of(n.destinations(Rank{0})), (std::vector<std::int32_t>{9, 3, nobody, 1}));
  EXPECT_EQ(ranks_of(n.sources(Rank{11})), (std::vector<std::int32_t>{8, 2, 10, nobody}));
  EXPECT_EQ(n.destinations(Rank{4})[2], (End{3, 3})); // arrives as from the one after
}

// What is sent backwards comes from the one after, although both neighbours are one process.
TEST(Cartesian, OnShortPeriodicAxesTheTwoSidesStayApart) {
  for (const std::int32_t length : {1, 2}) {
    const Neighbourhood n = Neighbourhood::cartesian({{length, true}}, "");
    expect_sound(n);
    const std::int32_t other = length - 1;
    EXPECT_EQ(n.sources(Rank{0})[0], (End{other, 1}));
    EXPECT_EQ(n.sources(Rank{0})[1], (End{other, 0}));
    EXPECT_EQ(n.order_of_arrival(Rank{0}), (std::vector<std::int32_t>{1, 0}));
  }
}

TEST(Cartesian, AnAxisOfOneWithoutWrapHasNobody) {
  const Neighbourhood n = Neighbourhood::cartesian({{1, false}}, "");
  EXPECT_EQ(ranks_of(n.sources(Rank{0})), (std::vector<std::int32_t>{nobody, nobody}));
}

// The k-th time that a names b meets the k-th time that b names a, whatever stands between.
TEST(Graph, RepeatedNeighboursMeetInOrder) {
  const std::vector<Neighbourhood::Lists> lists = {{{1}, {1, 0, 1}}, {{0, 1, 0}, {1, 0}}};
  EXPECT_FALSE(Neighbourhood::of_lists(lists, "").ok()); // rank 0 does not await itself
  const std::vector<Neighbourhood::Lists> sound = {{{1, 0}, {1, 0, 1}}, {{0, 1, 0}, {1, 0}}};
  const Result<Neighbourhood> n = Neighbourhood::of_lists(sound, "");
  ASSERT_TRUE(n.ok());
  expect_sound(*n);
  EXPECT_EQ(n->sources(Rank{1})[0], (End{0, 0}));
  EXPECT_EQ(n->sources(Rank{1})[2], (End{0, 2}));
  EXPECT_EQ(n->order_of_arrival(Rank{1}), (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(n->destinations_before(Rank{1}), 3);
  EXPECT_EQ(n->most_blocks(), 3);
}

TEST(Graph, WrongListsAreNamed) {
  const std::vector<Neighbourhood::Lists> stranger = {{{}, {7}}}, lonely = {{{}, {1}}, {{}, {}}};
  EXPECT_EQ(Neighbourhood::of_lists(stranger, "").error().problem, "a neighbour is a rank from 0 to 0 (got 7)");
  EXPECT_NE(
      Neighbourhood::of_lists(lonely, "").error().problem.find("rank 0 sends 1 messages to rank 1, which receives 0"),
      std::string::npos);
  const std::pair<std::int32_t, std::int32_t> edge{0, 2};
  EXPECT_FALSE(Neighbourhood::of_edges(2, {&edge, 1}, "").ok());
}

Collective collective(CollectiveKind kind, const Neighbourhood& n, std::vector<std::int64_t> counts) {
  Collective c = *with_neighbours(make_collective(kind, n.ranks(), 0), std::make_shared<const Neighbourhood>(n));
  return counts.empty() ? c : *with_counts(c, std::move(counts));
}

// Rank 0 sends to 1 twice, rank 1 to itself.
Neighbourhood three_edges() {
  const std::vector<std::pair<std::int32_t, std::int32_t>> edges = {{0, 1}, {1, 1}, {0, 1}};
  return *Neighbourhood::of_edges(2, edges, "");
}

TEST(Counts, OfNeighboursAreThoseOfTheirMessages) {
  const Collective c = collective(CollectiveKind::neighbor_alltoall, three_edges(), {3, 5, 7});
  EXPECT_EQ(Binding(data_of(c), {}, Rank{0}).input_elements(), 8);
  EXPECT_EQ(Binding(data_of(c), {}, Rank{0}).output_elements(), 0);
  EXPECT_EQ(Binding(data_of(c), {}, Rank{1}).output_elements(), 15);
  EXPECT_EQ(elements_from(c, Rank{1}, 1), 7);
  const Collective g = collective(CollectiveKind::neighbor_allgather, three_edges(), {3, 4});
  EXPECT_EQ(Binding(data_of(g), {}, Rank{0}).input_elements(), 3);
  EXPECT_EQ(Binding(data_of(g), {}, Rank{1}).output_elements(), 10);
  EXPECT_FALSE(with_counts(collective(CollectiveKind::neighbor_alltoall, three_edges(), {}), {1, 2}).ok());
}

TEST(Counts, NobodysBlocksLieThereInTheRegularFormAlone) {
  const Neighbourhood line = Neighbourhood::cartesian({{2, false}}, "");
  Collective c = collective(CollectiveKind::neighbor_alltoall, line, {});
  c.counts.each = 4;
  EXPECT_EQ(Binding(data_of(c), {}, Rank{0}).output_elements(), 8);
  EXPECT_EQ(elements_from(collective(CollectiveKind::neighbor_alltoall, line, {1, 2, 3, 4}), Rank{0}, 0), 0);
}

} // namespace
} // namespace kumihimo
