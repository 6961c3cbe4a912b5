// Every sabotage of every registered algorithm must be found, and the finding must say where.
#include "collectives/named_neighbours.hpp"
#include "collectives/registry.hpp"
#include "sabotage/sabotage.hpp"
#include "verify/verify.hpp"

#include <gtest/gtest.h>

namespace kumihimo::verify {
namespace {

struct Subject {
  std::string name;
  Schedule schedule;
};

// The algorithms on a shape, segmented where they can be.
std::vector<Subject> subjects(const RankSpace& space, std::int64_t count) {
  std::vector<Subject> list;
  for (const Variant& v : Registry::standard().variants()) {
    const Collective c = make_collective(v.kind, space.ranks(), v.kind->is_vector() ? count : 7);
    Parameters p;
    p.segments = 3;
    Result<Schedule> s = v.build(c, space, p);
    if (!s) s = v.build(c, space, {});
    if (s) list.push_back({std::string(name_of(v.kind)) + " " + v.name, *s});
    if (std::ranges::any_of(v.parameters, [](const auto& p) { return p.parameter == &parameter::send_window; })) {
      Parameters windows;
      windows.send_window = 2, windows.receive_window = 3;
      s = v.build(c, space, windows);
      if (s) list.push_back({std::string(name_of(v.kind)) + " " + v.name + " in windows", *s});
    }
    if (c.neighbours && space.has_shape()) { // among them neighbours on both sides of one rank
      s = v.build(*with_neighbours(c, *named_neighbours("cart:" + space.shape().text(), c.ranks)), space, {});
      list.push_back({std::string(name_of(v.kind)) + " " + v.name + " of the shape", *s});
      Parameters windows;
      windows.send_window = 2, windows.receive_window = 3;
      s = v.build(*with_neighbours(c, *named_neighbours("cart:" + space.shape().text(), c.ranks)), space, windows);
      list.push_back({std::string(name_of(v.kind)) + " " + v.name + " of the shape in windows", *s});
    }
    if (v.kind->irregular == Counts::Known::uniform) continue;
    s = v.build(*with_counts(c, *spread_counts("random:3", c)), space, {});
    if (s) list.push_back({std::string(name_of(v.kind)) + "v " + v.name, *s});
  }
  return list;
}

class EverySabotage : public testing::TestWithParam<Sabotage> {};

TEST_P(EverySabotage, IsFoundAndNamed) {
  int tried = 0;
  // The second has powers of two alone, and nodes of two ranks.
  for (const RankSpace& space : {RankSpace::box(*Shape::parse("4x3x2")), RankSpace::box(*Shape::parse("4x2"), 2)})
    for (const Subject& subject : subjects(space, 1009)) {
      const std::optional<Schedule> wrong = GetParam().apply(subject.schedule);
      if (!wrong) continue;
      ++tried;
      ASSERT_TRUE(check(subject.schedule, space).ok()) << subject.name;
      const Report report = check(*wrong, space);
      EXPECT_FALSE(report.ok()) << subject.name;
      if (report.ok() || GetParam().name == "wrong_height" || GetParam().name == "unclaimed_offload") continue;
      const StepLocation& place = report.findings.front().place;
      EXPECT_GE(place.rank, 0) << subject.name << ": " << report.text();
      EXPECT_GE(place.lane, 0) << subject.name << ": " << report.text();
      EXPECT_GE(place.segment, 0) << subject.name << ": " << report.text();
      EXPECT_GE(place.step, 0) << subject.name << ": " << report.text();
    }
  if (GetParam().name == "missing_shuffle") { // of lengths that are powers of two
    const RankSpace cube = RankSpace::box(*Shape::parse("4x2x2"));
    const auto row = *Registry::standard().find(CollectiveKind::allgather, "non_minimal");
    const std::optional<Schedule> wrong =
        GetParam().apply(*row->build(make_collective(CollectiveKind::allgather, 16, 7), cube));
    ASSERT_TRUE(wrong);
    EXPECT_FALSE(check(*wrong, cube).ok());
    return;
  }
  // No registered algorithm shares scratch; features_test has schedules that do.
  EXPECT_TRUE(tried > 0 || GetParam().name == "late_readers");
}

INSTANTIATE_TEST_SUITE_P(Registry, EverySabotage, testing::ValuesIn(sabotages().begin(), sabotages().end()),
                         [](const auto& sabotage) { return std::string(sabotage.param.name); });

} // namespace
} // namespace kumihimo::verify
