// A variant: a way to build G, made for one basis and the ranks of a run.
#pragma once

#include "application/runtime.hpp"
#include "base/parameter.hpp"
#include "hartree_fock/basis.hpp"
#include "hartree_fock/two_electron.hpp"

#include <memory>
#include <span>

namespace kumihimo::hartree_fock_app {

struct VariantSetting {
  const hartree_fock::Basis& basis; // lives as long as what is made
  bool reproducible;                // the same bits on any threads and ranks
};

struct ScfVariant : VariantDescription {
  // Collective. Errors (not applicable): what the variant needs is not here.
  Result<std::unique_ptr<hartree_fock::TwoElectron>> (*make)(const VariantSetting& setting,
                                                             const ParameterValues& parameters,
                                                             application::Runtime& runtime) = nullptr;
};

// The golden copy first.
std::span<const ScfVariant> variants();

} // namespace kumihimo::hartree_fock_app
