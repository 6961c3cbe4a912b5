// The basis functions of a molecule: contracted Cartesian Gaussians, s and p, with exponents that sp shells share.
#pragma once

#include "hartree_fock/basis_set.hpp"
#include "hartree_fock/molecule.hpp"

#include <vector>

namespace kumihimo::hartree_fock {

// Functions sum_k c_k exp(-a_k r^2) (s) and sum_k c_k u exp(-a_k r^2), u = x, y, z (p), r from the centre. Coefficients
// contain the normalisation, so that each function has norm 1.
struct Shell {
  int atom = 0;
  ShellType type = ShellType::s;
  Point center{}; // bohr
  std::vector<double> exponents;
  std::vector<double> s, p; // coefficients; empty: the type has none
  int first = 0;            // its functions are first, first + 1, ... in the order s, x, y, z

  int functions() const { return type == ShellType::s ? 1 : type == ShellType::p ? 3 : 4; }
};

struct Basis {
  std::vector<Shell> shells; // in the order of atoms
  int functions = 0;
};

// Error: the set has no functions for an element of the molecule.
Result<Basis> make_basis(const Molecule& molecule, const BasisSet& set);

} // namespace kumihimo::hartree_fock
