// The golden copy of the two-electron part: every integral over primitives by the textbook's formula, no symmetry, no
// screening. Every variant is compared with it.
//
// L. E. McMurchie, E. R. Davidson, J. Comput. Phys. 26 (1978) 218; in the notation of T. Helgaker, P. Jorgensen,
// J. Olsen, Molecular Electronic-Structure Theory, 2000, section 9.9.
#pragma once

#include "hartree_fock/basis.hpp"
#include "hartree_fock/two_electron.hpp"

#include <vector>

namespace kumihimo::hartree_fock {

// All integrals (ab|cd) of functions of four shells, hartree: function d runs fastest.
std::vector<double> repulsion_golden(const Shell& a, const Shell& b, const Shell& c, const Shell& d);

// J and K (two_electron.hpp) of a symmetric density.
CoulombExchange coulomb_exchange_golden(const Basis& basis, const Matrix& density);
// G = J - K/2 of the closed-shell density D = 2 C C^T:
// G_ab = sum_cd D_cd ((ab|cd) - (ac|bd)/2). D and G are symmetric.
Matrix g_matrix_golden(const Basis& basis, const Matrix& density);
// The entries of G of the functions of shells a (rows) and b, function of b fastest.
std::vector<double> g_block_golden(const Basis& basis, const Matrix& density, const Shell& a, const Shell& b);

} // namespace kumihimo::hartree_fock
