#include "schedule/contributions.hpp"

namespace kumihimo {
namespace {

// Elements that rank `from` has for rank `to`, or of block `to`.
std::int64_t block(const Collective& c, std::int32_t from, std::int32_t to) {
  if (!c.counts.irregular()) return c.counts.each;
  const std::int64_t at = c.counts.known == Known::local ? std::int64_t{from} * c.ranks + to : to;
  return (*c.counts.table)[static_cast<std::size_t>(at)];
}

// Where that begins in an input that has a block for each rank.
std::int64_t begin(const Collective& c, std::int32_t from, std::int32_t to) {
  if (!c.counts.irregular()) return c.counts.each * to;
  std::int64_t sum = 0;
  for (std::int32_t b = 0; b < to; ++b) sum += block(c, from, b);
  return sum;
}

std::vector<Contribution> of_sources(const Collective& c, Rank rank) {
  std::vector<Contribution> all;
  for (std::int64_t k = 0; const Neighbourhood::End from : c.neighbours->sources(rank)) {
    Contribution part{elements_from(c, rank, k++), from.rank, from.rank + 1, 0};
    for (std::int32_t b = 0; c.kind->sends_to_each() && from.exists() && b < from.block; ++b)
      part.position += elements_to(c, Rank{from.rank}, b);
    all.push_back(part);
  }
  return all;
}

struct Span { // of ranks
  std::int32_t low = 0, high = 0;
};
Span contributors(const Collective& c, Rank rank) {
  switch (c.kind->from) {
  case Contributors::root:
    return {c.root.value, c.root.value + 1};
  case Contributors::all:
    return {0, c.ranks};
  case Contributors::up_to_itself:
    return {0, rank.value + 1};
  case Contributors::before_itself:
    return {0, rank.value};
  default:
    return {};
  }
}

} // namespace

std::vector<Contribution> contributions(const Collective& c, Rank rank) {
  if (c.neighbours) return of_sources(c, rank);
  if (c.kind->output.whose == Ranks::root && rank != c.root) return {};
  const auto [low, high] = contributors(c, rank);
  if (low == high) return {};
  if (c.kind->is_vector()) return {{c.counts.each, low, high, 0}};
  const std::int32_t r = rank.value;
  if (!c.kind->receives_from_each()) return {{block(c, low, r), low, high, begin(c, low, r)}};
  std::vector<Contribution> all;
  const bool sums = c.kind->reduces(), for_each = c.kind->sends_to_each();
  for (std::int32_t b = 0; b < c.ranks; ++b) // a sum of each block; or what each rank has for this one, or for all
    all.push_back(sums       ? Contribution{block(c, low, b), low, high, begin(c, low, b)}
                  : for_each ? Contribution{block(c, b, r), b, b + 1, begin(c, b, r)}
                             : Contribution{block(c, b, b), b, b + 1, 0});
  return all;
}

} // namespace kumihimo
