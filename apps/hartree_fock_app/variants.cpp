#include "hartree_fock_app/golden.hpp"
#include "hartree_fock_app/gpu_variants.hpp"
#include "hartree_fock_app/lanes_variants.hpp"
#include "hartree_fock_app/variant.hpp"

#include <vector>

namespace kumihimo::hartree_fock_app {

std::span<const Variant> variants() {
  static const std::vector<Variant> all = [] {
    std::vector<Variant> made{
        {{"golden", "every integral over primitives, no symmetry, no screening"}, &make_golden},
    };
    for (const Variant& each : lanes_variants()) made.push_back(each);
    for (const Variant& each : gpu_variants()) made.push_back(each);
    return made;
  }();
  return all;
}

} // namespace kumihimo::hartree_fock_app
