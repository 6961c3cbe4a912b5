// Irregular counts: a program is made of what its rank knows of them. Each rank is asked again with every count that it
// does not know replaced; its program, and where its steps find their data, must stay the same.
#include "cases.hpp"
#include "program/builder.hpp"
#include "program/cursor.hpp"

#include <gtest/gtest.h>

namespace conformance {
namespace {

using namespace kumihimo;

// What it sends, and what its sources send to it.
bool knows_edge(const Collective& c, Rank rank, std::int64_t entry) {
  const bool one = c.kind == CollectiveKind::neighbor_allgather;
  const Neighbourhood& n = *c.neighbours;
  const std::int64_t own = n.destinations_before(rank);
  bool known =
      one ? entry == rank.value : entry >= own && entry < own + static_cast<std::int64_t>(n.destinations(rank).size());
  for (const Neighbourhood::End from : n.sources(rank))
    if (from.exists()) known |= entry == (one ? from.rank : n.destinations_before(Rank{from.rank}) + from.block);
  return known;
}

bool knows(const Collective& c, std::int64_t rank, std::int64_t entry) {
  switch (c.counts.known) {
  case Counts::Known::local: return entry / c.ranks == rank || entry % c.ranks == rank;
  case Counts::Known::rooted: return rank == c.root.value || entry == rank;
  case Counts::Known::neighbours: return knows_edge(c, Rank{static_cast<std::int32_t>(rank)}, entry);
  default: return true;
  }
}

// The collective as the rank knows it.
Collective poisoned(const Collective& c, std::int64_t rank) {
  std::vector<std::int64_t> table = *c.counts.table;
  const auto entries = static_cast<std::int64_t>(table.size());
  for (std::int64_t i = 0; i < entries; ++i)
    if (!knows(c, rank, i)) table[static_cast<std::size_t>(i)] = 5 + table[static_cast<std::size_t>(i)] * 3 % 7;
  return *with_counts(c, std::move(table));
}

// What every step of the rank does, in elements.
std::vector<std::vector<ElementRun>> elements(const Schedule& s, Rank rank) {
  const Binding binding(s, rank);
  const Program program = s.program(rank);
  std::vector<std::vector<ElementRun>> all;
  for (const Lane& lane : program.lanes)
    for (std::int64_t segment = 0; segment < s.segments.count; ++segment)
      for_each_round(lane, segment, [&](const Round& round, Values values) {
        for (const Step& step : round.steps)
          for (const Chunk* chunk : {&step.source, &step.right, &step.target}) {
            all.emplace_back();
            if (chunk->exists()) binding.append_chunk(program, *chunk, values, all.back());
          }
      });
  return all;
}

// The first rank whose program depends on counts that it does not know.
std::optional<Rank> knows_too_much(const Variant& v, const Case& c, const RankSpace& space) {
  const Collective& asked = c.problem.collective;
  const Result<Schedule> whole = v.build(asked, space, c.parameters);
  if (!whole) return std::nullopt;
  for (std::int32_t r = 0; r < asked.ranks; ++r) {
    const Result<Schedule> known = v.build(poisoned(asked, r), space, c.parameters);
    if (!known || known->segments != whole->segments || known->program(Rank{r}) != whole->program(Rank{r}) ||
        elements(*known, Rank{r}) != elements(*whole, Rank{r}))
      return Rank{r};
  }
  return std::nullopt;
}

TEST(Knowledge, ProgramsAreMadeOfWhatTheirRankKnows) {
  int asked = 0;
  for (const Variant& v : Registry::standard().variants())
    for (const Place& place : all_places()) {
      if (place.space.ranks() > 12 || !v.all_counts.empty()) continue;
      for (const Case& c : cases(v, place)) {
        if (c.spread.empty()) continue;
        const auto rank = knows_too_much(v, c, place.space);
        EXPECT_FALSE(rank) << name_of(v.kind) << " " << v.name << ", " << place.name << ", " << c.name() << ": rank "
                           << rank.value_or(Rank{}).value;
        ++asked;
      }
    }
  EXPECT_GT(asked, 100);
}

// What needs more than MPI tells a rank says so, and is not had where a rank knows its own lengths alone.
TEST(Knowledge, OneThatNeedsAllCountsIsRefusedWhereNobodyHasThem) {
  const Variant& v = **Registry::standard().find(CollectiveKind::alltoall, "hierarchical");
  const RankSpace space = RankSpace::box(*Shape::parse("2"), 2);
  const Collective c = make_collective(CollectiveKind::alltoall, 4, 1);
  EXPECT_TRUE(v.build(*with_counts(c, std::vector<std::int64_t>(16, 1)), space).ok());
  const Result<Schedule> own = v.build(with_local_counts(c, Rank{1}), space);
  ASSERT_FALSE(own.ok());
  EXPECT_EQ(own.error().kind, Error::Kind::not_applicable);
  EXPECT_NE(own.error().sentence().find("because leaders relay blocks"), std::string::npos) << own.error().sentence();
}

// A gather whose ranks skip a message where another rank's block is empty, and one that puts its data by its length.
TEST(Knowledge, OneThatKnowsTooMuchIsFound) {
  for (const bool by_length : {false, true}) {
    Variant v;
    v.kind = CollectiveKind::gather;
    v.name = "knows_too_much";
    v.recipe = [by_length](const Collective& c, const RankSpace&, const Parameters&) -> Result<Schedule> {
      Schedule s(c);
      s.program = [c, by_length](Rank r) {
        ProgramBuilder program;
        LaneBuilder lane(LaneId{0}, "", 1);
        const std::int64_t next = (r.value + 1) % c.ranks;
        const Array aside = program.named_blocks(LaneId{0}, Layout::output_blocks, 0, c.ranks);
        if (by_length)
          lane.step(copy(aside[blocks(Layout::output_blocks, next)], aside[blocks(Layout::output_blocks, next)]));
        else if ((*c.counts.table)[static_cast<std::size_t>(next)] > 0)
          lane.step(signal(next));
        program.add(std::move(lane));
        return program.finish();
      };
      return s;
    };
    Case c;
    c.problem.collective = make_collective(CollectiveKind::gather, 4, 5);
    c.problem.collective = *with_counts(c.problem.collective, {0, 0, 0, 9});
    EXPECT_TRUE(knows_too_much(v, c, RankSpace::row(4))) << by_length;
  }
}

} // namespace
} // namespace conformance
