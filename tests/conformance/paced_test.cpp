// The paced alltoall: at every moment of a phase the links that carry anything carry the same, and the gap says for how
// many messages that is.
#include "collectives/registry.hpp"
#include "schedule/binding.hpp"
#include "schedule/builder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>

namespace kumihimo {
namespace {

using Link = std::array<std::int64_t, 3>; // from a place along an axis, up or down

// Bytes on each directed link in one iteration of a lane, over the ring between sender and peer the lane's way round.
std::map<Link, std::int64_t> loads(const Schedule& s, const Shape& shape, LaneId id, std::int64_t i, bool up) {
  std::map<Link, std::int64_t> load;
  for (std::int32_t r = 0; r < s.ranks(); ++r) {
    const Program program = s.program(Rank{r});
    const Binding binding(s.collective, s.segments, Rank{r});
    for (const Lane& lane : program.lanes) {
      if (lane.id != id) continue;
      const Loop& loop = std::get<Loop>(lane.body.back());
      const std::array<std::int64_t, 2> values{0, i};
      for (const Step& step : std::get<Round>(loop.body[0]).steps) {
        if (!step.sends()) continue;
        const std::int64_t bytes = binding.length(step.source.extent, values) * s.collective.type_bytes;
        const Coordinates to = shape.coordinates(static_cast<std::int32_t>(step.peer.evaluate(values)));
        std::int32_t at = r;
        for (std::int32_t a = 0; a < shape.dimensions(); ++a)
          while (shape.coordinate(at, a) != to[static_cast<std::size_t>(a)]) {
            load[{at, a, up}] += bytes;
            at = shape.shifted(at, a, up ? 1 : -1);
          }
      }
    }
  }
  return load;
}

TEST(Paced, LinksInUseCarryTheSameAndTheGapIsForThem) {
  int phases = 0;
  for (const char* text : {"7", "8", "5x4", "3x4x5"}) {
    const Shape shape = *Shape::parse(text);
    const Collective c = make_collective(CollectiveKind::alltoall, shape.places(), 60);
    const auto row = *Registry::standard().find(CollectiveKind::alltoall, "paced");
    Parameters one_order;
    one_order.trees = 1;
    const Schedule s = *row->build(c, RankSpace::box(shape), one_order);
    for (const Lane& lane : s.program(Rank{0}).lanes) {
      if (!std::holds_alternative<Loop>(lane.body.back())) continue;
      const bool up = lane.role.ends_with("forwards");
      const Loop& loop = std::get<Loop>(lane.body.back());
      for (std::int64_t i = 0; i < loop.trip; ++i, ++phases) {
        const auto load = loads(s, shape, lane.id, i, up);
        double most = 0, sum = 0;
        for (const auto& [link, bytes] : load) {
          most = std::max(most, static_cast<double>(bytes));
          sum += static_cast<double>(bytes);
        }
        ASSERT_FALSE(load.empty());
        EXPECT_LE(most / (sum / static_cast<double>(load.size())), 1.01) << text << ": " << lane.role << ", " << i;
        // h = i + 1 messages share a link: each idles for the h - 1 others.
        const Round& round = std::get<Round>(loop.body[0]);
        const std::array<std::int64_t, 2> values{0, i};
        const Binding binding(c, s.segments, Rank{0});
        const std::int64_t message = binding.length(round.steps[0].source.extent, values) * c.type_bytes;
        EXPECT_EQ(round.gap.evaluate(values), i * message) << text << ": " << lane.role << ", " << i;
        EXPECT_EQ(static_cast<std::int64_t>(most), (i + 1) * message) << text << ": " << lane.role << ", " << i;
      }
    }
  }
  EXPECT_GT(phases, 15);
}

// Where ranks send to their own distances in another order, links differ: the comparison can fail.
TEST(Paced, UnpacedDistancesByRankNumberLoadLinksUnequally) {
  const Shape shape = *Shape::parse("5x4");
  const auto row = *Registry::standard().find(CollectiveKind::alltoall, "pairwise");
  const Schedule s =
      *row->build(make_collective(CollectiveKind::alltoall, 20, 60), RankSpace::box(shape), Parameters{});
  const auto load = loads(s, shape, LaneId{0}, 6, true);
  std::int64_t most = 0, sum = 0;
  for (const auto& [link, bytes] : load) most = std::max(most, bytes), sum += bytes;
  EXPECT_GT(static_cast<double>(most) * static_cast<double>(load.size()) / static_cast<double>(sum), 1.01);
}

} // namespace
} // namespace kumihimo
