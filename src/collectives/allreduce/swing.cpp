// swing: allreduce by exchanges over 1, 1, 3, 5, ... ranks, on all links of a torus (patterns/butterflies/swing.cpp).
#include "collectives/patterns/butterflies/nested.hpp"

kumihimo::Variant kumihimo::allreduce_swing::row() {
  using namespace cost;
  return swing_butterfly({2 * log_P * alpha + 2 * (1 - 1 / P) * n / lanes * beta + (1 - 1 / P) * n * gamma,
                          powers_of_two && whole_messages});
}
