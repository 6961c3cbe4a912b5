#include "hartree_fock_app/golden.hpp"
#include "hartree_fock_app/gpu_variants.hpp"
#include "hartree_fock_app/lanes_variants.hpp"
#include "hartree_fock_app/variant.hpp"

#include <vector>

namespace kumihimo::hartree_fock_app {

std::span<const ScfVariant> variants() {
  static const std::vector<ScfVariant> all = [] {
    std::vector<ScfVariant> made{
        {{"golden", "every integral over primitives, no symmetry, no screening"}, &make_golden},
    };
    for (const ScfVariant& each : lanes_variants()) made.push_back(each);
    for (const ScfVariant& each : gpu_variants()) made.push_back(each);
    return made;
  }();
  return all;
}

} // namespace kumihimo::hartree_fock_app
