#include "hartree_fock/basis.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace kumihimo::hartree_fock {
namespace {

// Norm of u^l exp(-a r^2), l 0 or 1, is 1 with this factor.
double primitive_factor(double exponent, int l) {
  const double s = std::pow(2 * exponent / std::numbers::pi, 0.75);
  return l == 0 ? s : 2 * std::sqrt(exponent) * s;
}

// The coefficients of normalised primitives, times their factors and one more, so that the contraction's norm is 1. The
// overlap of two normalised primitives at one place is (2 sqrt(ab) / (a + b))^(l + 3/2).
std::vector<double> normalised(const std::vector<double>& exponents, std::vector<double> c, int l) {
  double norm = 0;
  for (std::size_t i = 0; i < c.size(); ++i)
    for (std::size_t j = 0; j < c.size(); ++j)
      norm +=
          c[i] * c[j] * std::pow(2 * std::sqrt(exponents[i] * exponents[j]) / (exponents[i] + exponents[j]), l + 1.5);
  for (std::size_t i = 0; i < c.size(); ++i) c[i] *= primitive_factor(exponents[i], l) / std::sqrt(norm);
  return c;
}

} // namespace

Result<Basis> make_basis(const Molecule& molecule, const BasisSet& set) {
  Basis basis;
  for (std::size_t a = 0; a < molecule.atoms.size(); ++a) {
    const Atom& atom = molecule.atoms[a];
    const auto found = set.elements.find(atom.number);
    if (found == set.elements.end() || found->second.empty())
      return wrong_value(fmt::format("the basis set {} has no functions for {}", set.name, symbol_of(atom.number)), {},
                         "name another set, or a .gbs file that has them");
    for (const ElementShell& each : found->second) {
      Shell shell{static_cast<int>(a), each.type, atom.position, each.exponents, {}, {}, basis.functions};
      shell.s = normalised(each.exponents, each.s, 0);
      shell.p = normalised(each.exponents, each.p, 1);
      basis.functions += shell.functions();
      basis.shells.push_back(std::move(shell));
    }
  }
  return basis;
}

} // namespace kumihimo::hartree_fock
