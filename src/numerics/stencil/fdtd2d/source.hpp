// The point source: a current J(t) along z in one cell, a Ricker wavelet (the second derivative of a Gaussian).
#pragma once

#include "stencil/fdtd2d/fields.hpp"

#include <cmath>

namespace kumihimo::fdtd2d {

struct WaveSource {
  Pair node{-1, -1};      // of the whole grid; -1: no source
  double wavelength = 20; // in cells, at the largest amplitude of the spectrum

  double delay() const { return 2 * wavelength; }
  // exp(-(2 pi)^2) of its largest value at time 0, which rounds to nothing.
  double current(double time) const {
    const double a = M_PI * (time - delay()) / wavelength;
    return (1 - 2 * a * a) * std::exp(-a * a);
  }
  double current_rate(double time) const { // dJ/dt
    const double a = M_PI * (time - delay()) / wavelength;
    return (4 * a * a * a - 6 * a) * std::exp(-a * a) * M_PI / wavelength;
  }
  // What a step that begins at `step` time steps adds to Ez of the node.
  double added(std::int64_t step, double courant) const {
    return -courant * current((static_cast<double>(step) + 0.5) * courant);
  }
};

} // namespace kumihimo::fdtd2d
