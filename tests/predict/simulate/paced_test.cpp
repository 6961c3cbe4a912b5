// The paced alltoall as the simulator loads the links: in every round those that carry anything carry the same, and the
// gap says for how many messages that is.
#include "support.hpp"

#include <fmt/format.h>

namespace kumihimo::simulate_test {
namespace {

constexpr Variable iteration{1};

Chunk fixed(Chunk chunk, std::int64_t i) {
  for (RunList& list : chunk.extent.runs) list.first = list.first.substitute(iteration, i);
  return chunk;
}

// As it is in one iteration, so that it can stand outside its loop.
Round fixed(Round round, std::int64_t i) {
  round.gap = round.gap.substitute(iteration, i);
  for (Step& step : round.steps) {
    step.peer = step.peer.substitute(iteration, i);
    step.source = fixed(step.source, i), step.target = fixed(step.target, i);
  }
  return round;
}

// The rounds of a lane that exchange, one after another, loops unrolled.
std::vector<Round> exchanges(const Lane& lane) {
  std::vector<Round> rounds;
  for (const Node& node : lane.body) {
    const Loop* loop = std::get_if<Loop>(&node);
    const Round& round = std::get<Round>(loop ? loop->body[0] : node);
    for (std::int64_t i = 0; round.steps[0].sends() && i < (loop ? loop->trip : 1); ++i)
      rounds.push_back(fixed(round, i));
  }
  return rounds;
}

// One round of one lane at all ranks, and nothing else.
Schedule alone(const Schedule& whole, LaneId id, std::size_t nth) {
  Schedule s = whole;
  s.program = [whole, id, nth](Rank r) {
    Program program = whole.program(r);
    Lane one;
    for (const Lane& lane : program.lanes)
      if (lane.id == id) one = Lane{id, 1, {}, lane.role, {exchanges(lane)[nth]}};
    program.lanes = {one};
    return program;
  };
  return s;
}

struct Loads {
  double most = 0, sum = 0;
  std::int64_t links = 0;                                                    // in use
  double unequal() const { return most * static_cast<double>(links) / sum; } // the most by the mean
};

Loads loads(const Schedule& s, const Machine& machine) {
  Loads l;
  for (const double bytes : predicted(s, machine).link_bytes)
    if (bytes > 0) l.most = std::max(l.most, bytes), l.sum += bytes, ++l.links;
  return l;
}

// A message of it and the gap behind: what of a link's time it is meant to take.
double with_gap(const Round& round, const Collective& c) {
  const Extent& extent = round.steps[0].source.extent;
  const std::int64_t blocks = extent.runs[0].count.constant() * extent.runs[0].inner.runs;
  return static_cast<double>(round.gap.constant()) +
         static_cast<double>(blocks * c.bytes().value) / static_cast<double>(extent.parts);
}

Schedule paced(const Machine& machine) {
  const RankSpace space = Job(machine).rank_space();
  return *algorithm("paced", CollectiveKind::alltoall)
              .build(make_collective(CollectiveKind::alltoall, space.ranks(), 120), space);
}

template <class F>
void for_each_round(const Schedule& s, const Machine& machine, F&& fn) {
  for (const Lane& lane : s.program(Rank{0}).lanes) {
    const std::vector<Round> rounds = exchanges(lane);
    for (std::size_t i = 0; i < rounds.size(); ++i)
      fn(rounds[i], loads(alone(s, lane.id, i), machine), fmt::format("{} {}, round {}", lane.id.value, lane.role, i));
  }
}

class Paced : public testing::TestWithParam<const char*> {};

// Even rings, odd ones, and those that are twice an odd number, where a network's choice of the way to the opposite
// place would load links unequally.
TEST_P(Paced, LinksInUseCarryTheSameAndTheGapIsForThem) {
  const Machine machine = described("k-computer", GetParam());
  const Schedule s = paced(machine);
  int rounds = 0;
  for_each_round(s, machine, [&](const Round& round, const Loads& load, const std::string& where) {
    ++rounds;
    EXPECT_EQ(load.links, s.ranks()) << where << ": one axis in one direction";
    EXPECT_LE(load.unequal(), 1.01) << where;
    EXPECT_DOUBLE_EQ(with_gap(round, s.collective()), load.most) << where << ": h messages, and a gap of h - 1";
  });
  EXPECT_GT(rounds, 0);
}

INSTANTIATE_TEST_SUITE_P(Simulate, Paced,
                         testing::Values("2", "3", "4", "5", "6", "7", "8", "9", "10", "14", "16", "18", "22", "23",
                                         "24", "27", "32", "46", "48", "54", "5x4", "6x2", "6x10", "3x4x5", "4x2x6",
                                         "24x3", "23x2x4", "6x18x2"),
                         [](const auto& test) { return std::string(test.param); });

// Tofu's virtual axes of up to four places are rings of cables as well ...
TEST(PacedOnTofu, ShortVirtualAxesAreAsRings) {
  const Machine machine = job_on("k-computer", "4x3x4");
  const Schedule s = paced(machine);
  for_each_round(s, machine, [&](const Round& round, const Loads& load, const std::string& where) {
    EXPECT_LE(load.unequal(), 1.01) << where;
    EXPECT_DOUBLE_EQ(with_gap(round, s.collective()), load.most) << where;
  });
}

// ... in longer ones messages take shorter ways than along the ring: then some links have less to carry, none more.
TEST(PacedOnTofu, NoLinkOfALongOneCarriesMoreThanTheGapIsFor) {
  double most_unequal = 0;
  for (const char* shape : {"6", "12", "8x6", "4x6x4", "36"}) {
    const Machine machine = job_on("k-computer", shape);
    const Schedule s = paced(machine);
    for_each_round(s, machine, [&](const Round& round, const Loads& load, const std::string& where) {
      EXPECT_LE(load.most, with_gap(round, s.collective()) * (1 + 1e-12)) << shape << ": " << where;
      most_unequal = std::max(most_unequal, load.unequal());
    });
  }
  EXPECT_GT(most_unequal, 1.5) << "if links are equal here too, the header of by_axes.cpp says too little";
}

double most_unequal(const Machine& machine) {
  const Schedule s = paced(machine);
  double most = 0;
  for_each_round(s, machine, [&](const Round& round, const Loads& load, const std::string& where) {
    most = std::max(most, load.unequal());
    EXPECT_LE(load.most, with_gap(round, s.collective()) * (1 + 1e-12)) << machine.topology->name() << ": " << where;
  });
  return most;
}

// So exactly short axes have equal links on Tofu (ADR 0024): up to four places, and five and six where they are laid
// into y and b, whose three places are a ring, as they are where nothing else needs these.
TEST(PacedOnTofu, LinksAreEqualOnShortAxesAlone) {
  for (const char* shape : {"2x2x2", "2x2x3", "2x2x4", "2x2x5", "2x2x6", "4x6x4"})
    EXPECT_LE(most_unequal(job_on("k-computer", shape)), 1.01) << shape;
  for (const char* shape : {"6x6x6", "2x2x8", "2x2x9", "2x2x10", "2x2x12", "2x2x18", "2x2x24", "2x2x46", "2x2x48"})
    EXPECT_GT(most_unequal(job_on("k-computer", shape)), 1.01) << shape;
}

// The comparison can fail: exchanged by rank numbers, links differ.
TEST(Unpaced, DistancesByRankNumberLoadLinksUnequally) {
  const Machine machine = described("k-computer", "5x4");
  const Schedule s = built(algorithm("pairwise", CollectiveKind::alltoall), machine, 960);
  double most_unequal = 0;
  for_each_round(s, machine, [&](const Round&, const Loads& load, const std::string&) {
    most_unequal = std::max(most_unequal, load.unequal());
  });
  EXPECT_GT(most_unequal, 1.2);
}

} // namespace
} // namespace kumihimo::simulate_test
