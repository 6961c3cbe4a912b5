// Boys function F_m(x) = integral over t from 0 to 1 of t^(2m) exp(-x t^2), which Coulomb integrals of Gaussians need.
#pragma once

namespace kumihimo::hartree_fock {

// values[m] = F_m(x) for m = 0 .. highest, x >= 0, to 1e-14 relative. Ascending series and downward recursion for small
// x, error function and upward recursion for large x (T. Helgaker, P. Jorgensen, J. Olsen, Molecular
// Electronic-Structure Theory, 2000, section 9.8).
void boys(double x, int highest, double* values);

} // namespace kumihimo::hartree_fock
