// binomial: gather and scatter over a binomial tree.
//
// Idea: relative to the root, the subtree of rank v holds v .. v + 2^k - 1, so that its blocks are one range and one
//   message: gathered towards the root in the order of growing subtrees, scattered in the reverse order.
// Wins: short blocks: ceil(log2 P) messages at the root instead of P - 1.
// Special cases: any number of ranks and any root; equal counts alone, since a relay must know those of its subtree.
// Reference: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.
#include "collectives/patterns/ranges/range_tree.hpp"

#include <bit>

namespace kumihimo {
namespace {

Result<RangePlace> binomial_place(std::int32_t P, std::int64_t root, std::int64_t r) {
  const std::int64_t v = floor_mod(r - root, P);
  const int levels = v == 0 ? 62 : std::countr_zero(static_cast<std::uint64_t>(v));
  const auto size = [&](std::int64_t child, int k) { return std::min(std::int64_t{1} << k, P - child); };
  RangePlace place;
  place.held = {r, v == 0 ? P : size(v, levels)};
  if (v != 0) place.parent = (root + (v & (v - 1))) % P;
  for (int k = 0; k < levels && v + (std::int64_t{1} << k) < P; ++k) {
    const std::int64_t child = v + (std::int64_t{1} << k), rank = (root + child) % P;
    place.children.push_back({rank, {rank, size(child, k)}});
  }
  return place;
}

Variant binomial_row() {
  using namespace cost;
  return range_tree("ranges of blocks travel up (gather) or down (scatter) a binomial tree",
                    {log_P * alpha + (P - 1) * n * beta, powers_of_two},
                    "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005", binomial_place);
}

} // namespace

Variant gather_binomial::row() { return binomial_row(); }
Variant scatter_binomial::row() { return binomial_row(); }

} // namespace kumihimo
