// What builds the two-electron part of the Fock matrix: the golden copy and every variant.
#pragma once

#include "base/result.hpp"
#include "hartree_fock/matrix.hpp"

#include <string>
#include <utility>
#include <vector>

namespace kumihimo::hartree_fock {

struct CoulombExchange {
  Matrix j, k; // J_ab = sum_cd D_cd (ab|cd) and K_ab = sum_cd D_cd (ac|bd), hartree
};
// J - K/2: of the closed-shell density D = 2 C C^T the two-electron part of the Fock matrix.
inline Matrix g_matrix(CoulombExchange sums) {
  for (std::size_t i = 0; i < sums.j.values.size(); ++i) sums.j.values[i] -= 0.5 * sums.k.values[i];
  return std::move(sums.j);
}

// Work of one class of shell quartets, such as "(ps,ss)", in all builds so far on this process.
struct ClassWork {
  std::string name;
  double quartets = 0, screened = 0; // of shells: computed; left out, as their part of G is below the threshold
  double primitives = 0;             // quartets of primitives computed
  double seconds = 0;                // of processor time, all threads together; 0: not measured
};

// A unit of work: what threads and ranks deal.
struct UnitTime {
  int of_class = 0;   // in TwoElectron::work()
  double cost = 0;    // by which units are dealt
  double seconds = 0; // of processor time, the least of all rounds
};

// Made for one basis, then used for every density of the SCF iterations.
class TwoElectron {
 public:
  virtual ~TwoElectron() = default;
  // J and K of a symmetric density, the same on all ranks. Quartets may be left out if |(ab|cd)| max |D| is below
  // `threshold`; 0: none is. Collective. Errors: those of the transport.
  virtual Result<CoulombExchange> build(const Matrix& density, double threshold) = 0;
  virtual std::vector<ClassWork> work() const { return {}; }
  // The units in the order in which they are dealt, timed one by one in so many builds on one thread. Error (not
  // applicable): the variant deals none; several threads or ranks.
  virtual Result<std::vector<UnitTime>> time_units(const Matrix& density, double threshold, int rounds) {
    static_cast<void>(density), static_cast<void>(threshold), static_cast<void>(rounds);
    return not_applicable("this variant has no units of work that could be timed");
  }
};

} // namespace kumihimo::hartree_fock
