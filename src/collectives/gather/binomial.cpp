// binomial: gather over a binomial tree of ranges (patterns/ranges/binomial.cpp).
#include "collectives/patterns/ranges/range_tree.hpp"

namespace kumihimo::gather_binomial {

Variant row() {
  using namespace cost;
  return binomial_ranges({log_P * alpha + (P - 1) * n * beta, powers_of_two});
}

} // namespace kumihimo::gather_binomial
