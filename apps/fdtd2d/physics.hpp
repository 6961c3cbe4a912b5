// What the golden copy computes against theory: the field of a line current in free space, the dispersion relation of
// Yee's grid, and the reflection of the absorbing layer.
#pragma once

#include "base/result.hpp"
#include "fdtd2d/problem.hpp"

namespace kumihimo::fdtd2d {

// Ez at distance r from the source in free space: the retarded integral of -dJ/dt with Green's function of two
// dimensions, 1 / (2 pi sqrt(t^2 - r^2)) for t > r (P. Morse and H. Feshbach, Methods of Theoretical Physics, 7.3).
double field_in_free_space(const WaveSource& source, double r, double time);

// omega of a mode: sin(omega S / 2)^2 = S^2 (sin(kx / 2)^2 + sin(ky / 2)^2) (Yee's grid, Taflove and Hagness,
// Computational Electrodynamics, 4.2), and omega of Maxwell's equations, sqrt(kx^2 + ky^2).
struct Frequencies {
  double of_grid = 0, exact = 0;
};
Frequencies frequencies_of(const FieldShape& whole, const Mode& mode);

// The largest difference from the field in free space, along an axis and a diagonal from 10 to 90 cells away, divided
// by the largest field there. In a grid of 240 x 240 nodes, wavelength 40 cells; `finer`: all lengths so many times as
// many cells. Error: memory.
Result<double> analytic_error(std::int64_t layer, double courant, int finer = 1);

// The largest difference that walls make in a grid of 100 x 100 nodes between its layers, divided by the largest field
// at the layer, until time 180: against a grid whose walls are too far away. Wavelength 20 cells. Error: memory.
Result<double> reflection(std::int64_t layer, double courant);

} // namespace kumihimo::fdtd2d
