// The golden copy as the two-electron part of an SCF.
#pragma once

#include "hartree_fock/golden.hpp"

namespace kumihimo::hartree_fock {

class GoldenTwoElectron final : public TwoElectron {
 public:
  explicit GoldenTwoElectron(const Basis& basis) : basis_(basis) {}
  Result<CoulombExchange> build(const Matrix& density, double) override {
    if (++builds == failing_build) return failed("the build failed");
    return coulomb_exchange_golden(basis_, density);
  }
  int builds = 0, failing_build = 0;

 private:
  const Basis& basis_;
};

} // namespace kumihimo::hartree_fock
