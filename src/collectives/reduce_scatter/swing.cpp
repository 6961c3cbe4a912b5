// swing: reduce_scatter by exchanges over 1, 1, 3, 5, ... ranks, on all links of a torus
// (patterns/butterflies/swing.cpp).
#include "collectives/patterns/butterflies/nested.hpp"

kumihimo::Variant kumihimo::reduce_scatter_swing::row() {
  using namespace cost;
  return swing_butterfly({(log_P + 1) * alpha + P * n / lanes * beta + (P - 1) * n * gamma,
                          powers_of_two && more_than_two && whole_messages});
}
