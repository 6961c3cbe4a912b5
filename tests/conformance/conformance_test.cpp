// Every row of the registry, proved, and run for real by threads and judged by the definition of its collective.
#include "cases.hpp"
#include "reduce_gather.hpp"
#include "verify/verify.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace conformance {
namespace {

using namespace kumihimo;

#ifdef KUMIHIMO_EVERY_SEVENTH_PLACE
constexpr bool at_all_places = false;
constexpr int stride = 2; // fewer places: more of their cases
#else
constexpr bool at_all_places = true;
constexpr int stride = 4;
#endif

std::vector<Place> places() {
  std::vector<Place> all = all_places();
#ifdef KUMIHIMO_EVERY_SEVENTH_PLACE
  // A ring, a torus, a mesh, a row, nodes of unequal numbers of ranks, and levels: of eight ranks at most.
  int at = 0;
  std::erase_if(all, [&](const Place&) { return at++ % 7 != 4; });
#endif
  return all;
}

class EveryRow : public ::testing::TestWithParam<const Variant*> {};

std::vector<const Variant*> rows() {
  std::vector<const Variant*> all;
  for (const Variant& v : Registry::standard().variants()) all.push_back(&v);
  all.push_back(&reduce_gather_pairwise()); // a new collective
  return all;
}

// The library may come to have what is the tests' own.
INSTANTIATE_TEST_SUITE_P(Registry, EveryRow, ::testing::ValuesIn(rows()), [](const auto& row) {
  const std::string name = std::string(name_of(row.param->kind)) + "_" + row.param->name;
  return row.param->kind.index() < collective_kinds ? name : "new_" + name;
});

// One case in `stride`, and in the next place those beside them; all with KUMIHIMO_ALL_CASES, as conformance_long has
// it.
TEST_P(EveryRow, GivesWhatItsCollectiveMeans) {
  const Variant& variant = *GetParam();
  const bool all = std::getenv("KUMIHIMO_ALL_CASES") != nullptr;
  int ran = 0, larger = 0, at_place = 0;
  for (const Place& place : places()) {
    int at = at_place++;
    for (const Case& c : cases(variant, place)) {
      if (at++ % stride != 0 && !all) continue;
      SCOPED_TRACE(place.name + ": " + c.name());
      const Result<Schedule> schedule = variant.build(c.problem.collective, place.space, c.parameters);
      if (!schedule) {
        EXPECT_EQ(schedule.error().kind, Error::Kind::not_applicable) << schedule.error().sentence();
        continue;
      }
      if (c.problem.collective.reduces() && !c.problem.collective.commutative) {
        EXPECT_TRUE(schedule->claims.keeps_rank_order);
      }
      if (c.problem.collective.in_place) { // no user should pay for a copy of the input that the steps do not show
        EXPECT_TRUE(schedule->claims.in_place_safe);
      }
      const verify::Report proof = verify::check(*schedule, place.space);
      EXPECT_TRUE(proof.ok()) << proof.text();
      const Result<Answer> answer = check(*schedule, c.problem);
      EXPECT_TRUE(answer.ok()) << answer.error().sentence();
      ++ran;
      larger += place.space.ranks() > 2;
      if (HasFailure()) return; // one is enough to read
    }
  }
  if (at_all_places) {
    EXPECT_GT(larger, 0) << "no case of more than two ranks is applicable";
  }
  RecordProperty("cases", ran);
}

} // namespace
} // namespace conformance
