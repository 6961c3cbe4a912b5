#include "verify/goal.hpp"

#include "program/binding.hpp"

namespace kumihimo::verify {
namespace {

// Elements that rank `from` sends to block `to` (alltoall), or of block `to`.
std::int64_t block_elements(const Collective& c, std::int32_t from, std::int32_t to) {
  if (c.counts.known == Counts::Known::uniform) return c.counts.each;
  if (c.counts.known == Counts::Known::local) return (*c.counts.table)[std::int64_t{from} * c.ranks + to];
  return (*c.counts.table)[to];
}

// Where block `to` begins in the input of rank `from`.
std::int64_t block_begin(const Collective& c, std::int32_t from, std::int32_t to) {
  if (c.counts.known == Counts::Known::uniform) return c.counts.each * to;
  std::int64_t sum = 0;
  for (std::int32_t b = 0; b < to; ++b) sum += block_elements(c, from, b);
  return sum;
}

std::vector<Wanted> every_block(const Collective& c, std::int32_t rank) {
  const bool all_to_all = c.kind == CollectiveKind::alltoall;
  std::vector<Wanted> list;
  std::int64_t first = 0;
  for (std::int32_t q = 0; q < c.ranks; ++q) {
    const std::int64_t n = all_to_all ? block_elements(c, q, rank) : block_elements(c, q, q);
    list.push_back({first, n, q, q + 1, all_to_all ? block_begin(c, q, rank) : 0});
    first += n;
  }
  return list;
}

// What each source sends: its input, or of that its block for this edge. Nobody sends nothing, and its place stays.
std::vector<Wanted> of_sources(const Collective& c, Rank rank) {
  std::vector<Wanted> list;
  std::int64_t first = 0;
  const auto sources = c.neighbours->sources(rank);
  for (std::size_t k = 0; k < sources.size(); ++k) {
    const Neighbourhood::End from = sources[k];
    const std::int64_t n = elements_from(c, rank, static_cast<std::int64_t>(k));
    std::int64_t position = 0;
    if (c.kind == CollectiveKind::neighbor_alltoall && from.exists())
      for (std::int32_t b = 0; b < from.block; ++b) position += elements_to(c, Rank{from.rank}, b);
    if (from.exists()) list.push_back({first, n, from.rank, from.rank + 1, position});
    first += n;
  }
  return list;
}

std::vector<Wanted> wanted(const Collective& c, Rank rank) {
  const std::int32_t r = rank.value, root = c.root.value;
  const std::int64_t n = c.counts.each;
  switch (c.kind) {
  case CollectiveKind::barrier:
    return {};
  case CollectiveKind::bcast:
    return {{0, n, root, root + 1, 0}};
  case CollectiveKind::allreduce:
    return {{0, n, 0, c.ranks, 0}};
  case CollectiveKind::reduce:
    return r == root ? std::vector<Wanted>{{0, n, 0, c.ranks, 0}} : std::vector<Wanted>{};
  case CollectiveKind::scan:
    return {{0, n, 0, r + 1, 0}};
  case CollectiveKind::exscan:
    return r > 0 ? std::vector<Wanted>{{0, n, 0, r, 0}} : std::vector<Wanted>{};
  case CollectiveKind::gather:
    return r == root ? every_block(c, r) : std::vector<Wanted>{};
  case CollectiveKind::allgather:
  case CollectiveKind::alltoall:
    return every_block(c, r);
  case CollectiveKind::neighbor_allgather:
  case CollectiveKind::neighbor_alltoall:
    return of_sources(c, rank);
  case CollectiveKind::scatter:
    return {{0, block_elements(c, r, r), root, root + 1, block_begin(c, r, r)}};
  case CollectiveKind::reduce_scatter:
    return {{0, block_elements(c, r, r), 0, c.ranks, block_begin(c, r, r)}};
  }
  return {};
}

} // namespace

Goal goal_of(const Schedule& schedule) {
  const Collective& c = schedule.collective();
  Goal g;
  g.contributed = [data = schedule.data](Rank rank) { return Binding(data, {}, rank).input_elements(); };
  g.wanted = [c](Rank rank) { return wanted(c, rank); };
  g.by_element = is_vector_kind(c.kind);
  g.barrier = c.kind == CollectiveKind::barrier;
  g.rank_order = c.reduces() && !c.commutative;
  g.same_bits = c.kind == CollectiveKind::allreduce && schedule.claims.same_on_all_ranks;
  return g;
}

namespace {

Goal goal_of(const NamedPrograms& programs) {
  Goal g;
  g.contributed = [data = programs.set.data](Rank rank) { return Binding(data, {}, rank).input_elements(); };
  g.wanted = [origins = programs.origins](Rank rank) {
    std::vector<Wanted> list;
    for (const Origin& o : origins ? origins(rank) : std::vector<Origin>{})
      list.push_back({o.first, o.count, o.rank, o.rank + 1, o.position});
    return list;
  };
  g.direct = programs.direct;
  return g;
}

} // namespace

Subject::Subject(const NamedPrograms& programs) : Subject(programs.set, Claims{}, goal_of(programs)) {}

Subject::Subject(const Schedule& schedule) : Subject(schedule, schedule.claims, goal_of(schedule)) {
  const Collective& c = schedule.collective();
  if (!claims.in_place_safe || c.in_place || c.kind == CollectiveKind::bcast) return;
  Schedule in_place = schedule;
  Collective asked = c;
  asked.in_place = true;
  in_place.ask(std::move(asked));
  together = in_place.data;
}

} // namespace kumihimo::verify
