// Operations and rating by the rules of HPCG 3.1: the operations of the reference algorithm count, whatever the
// optimised one does; iterations beyond the 50 of the reference count as time, not as work; a tenth of the time of
// set-up and optimisation is added to the time of each set of iterations.
#pragma once

#include "hpcg/grid.hpp"

#include <cstdint>

namespace kumihimo::hpcg {

inline constexpr int reference_iterations = 50;

struct Operations {
  double dot = 0, update = 0, product = 0, preconditioner = 0;
  double total() const { return dot + update + product + preconditioner; }
};

// Of `sets` solutions of `iterations` iterations each.
Operations operations(const HpcgGrid& grid, double sets, double iterations);

struct HpcgTimes {
  double sets = 0;         // seconds of all sets together
  double set_up = 0;       // of making the matrices
  double optimisation = 0; // of making the optimised system
};
// GFLOPS: the rating. `iterations`: of each set, at least 50.
double rating(const HpcgGrid& grid, double sets, double iterations, const HpcgTimes& times);

} // namespace kumihimo::hpcg
