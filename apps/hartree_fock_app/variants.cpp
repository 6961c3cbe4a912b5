#include "hartree_fock_app/golden.hpp"
#include "hartree_fock_app/variant.hpp"

#include <vector>

namespace kumihimo::hartree_fock_app {

std::span<const Variant> variants() {
  static const std::vector<Variant> all{
      {{"golden", "every integral over primitives, no symmetry, no screening"}, &make_golden},
  };
  return all;
}

} // namespace kumihimo::hartree_fock_app
