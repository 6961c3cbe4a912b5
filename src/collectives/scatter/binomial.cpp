// binomial: scatter over a binomial tree of ranges (patterns/ranges/binomial.cpp).
#include "collectives/patterns/ranges/range_tree.hpp"

kumihimo::Variant kumihimo::scatter_binomial::row() {
  using namespace cost;
  return binomial_ranges({log_P * alpha + (P - 1) * n * beta, powers_of_two});
}
