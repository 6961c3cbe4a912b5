#include "verify/post_condition.hpp"

#include "program/binding.hpp"
#include "schedule/data.hpp"

namespace kumihimo::verify {
namespace {

// Nobody sends nothing, and its place stays.
std::vector<ExpectedElements> wanted(const Collective& c, Rank rank) {
  std::vector<ExpectedElements> list;
  std::int64_t first = 0;
  for (const Contribution& part : contributions(c, rank)) {
    if (!part.is_nobody()) list.push_back({first, part.count, part.low, part.high, part.position});
    first += part.count;
  }
  return list;
}

} // namespace

PostCondition post_condition_of(const Schedule& schedule) {
  const Collective& c = schedule.collective();
  PostCondition g;
  g.contributed = [data = schedule.data](Rank rank) { return Binding(data, {}, rank).input_elements(); };
  g.wanted = [c](Rank rank) { return wanted(c, rank); };
  g.by_element = c.kind->is_vector();
  g.barrier = !c.kind->moves_data();
  g.rank_order = c.reduces() && !c.commutative;
  g.same_bits = c.reduces() && !c.has_root() && c.kind->gives_all_the_same() && schedule.claims.same_on_all_ranks;
  return g;
}

namespace {

PostCondition post_condition_of(const NamedPrograms& programs) {
  PostCondition g;
  g.contributed = [data = programs.set.data](Rank rank) { return Binding(data, {}, rank).input_elements(); };
  g.wanted = [origins = programs.origins](Rank rank) {
    std::vector<ExpectedElements> list;
    for (const ElementOrigin& o : origins ? origins(rank) : std::vector<ElementOrigin>{})
      list.push_back({o.first, o.count, o.rank, o.rank + 1, o.position});
    return list;
  };
  g.direct = programs.direct;
  return g;
}

} // namespace

Subject::Subject(const NamedPrograms& programs) : Subject(programs.set, Claims{}, post_condition_of(programs)) {}

Subject::Subject(const Schedule& schedule) : Subject(schedule, schedule.claims, post_condition_of(schedule)) {
  const Collective& c = schedule.collective();
  if (!claims.in_place_safe || c.in_place || c.kind->has_one_buffer()) return;
  Schedule in_place = schedule;
  Collective asked = c;
  asked.in_place = true;
  in_place.set_collective(std::move(asked));
  together = in_place.data;
}

} // namespace kumihimo::verify
