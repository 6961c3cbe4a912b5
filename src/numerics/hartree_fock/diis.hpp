// Direct inversion in the iterative subspace: the Fock matrix whose error is least among the combinations of the last
// ones. P. Pulay, J. Comput. Chem. 3 (1982) 556.
#pragma once

#include "base/state_list.hpp"
#include "hartree_fock/matrix.hpp"

#include <cstddef>
#include <deque>

namespace kumihimo::hartree_fock {

class Diis {
 public:
  explicit Diis(std::size_t most = 8) : most_(most) {}
  // Takes a Fock matrix with its error, and returns the combination with coefficients of sum 1.
  Matrix extrapolate(const Matrix& fock, const Matrix& error);
  // The matrices that it holds.
  void list_state(StateList& list);

 private:
  struct Pair {
    Matrix fock, error;
    double norm; // of the error
  };
  std::size_t most_;
  std::deque<Pair> pairs_;
};

} // namespace kumihimo::hartree_fock
