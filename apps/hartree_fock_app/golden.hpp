// The golden copy as a variant.
#pragma once

#include "hartree_fock_app/variant.hpp"

namespace kumihimo::hartree_fock_app {

// Every rank builds all of G. Error: never.
Result<std::unique_ptr<hartree_fock::TwoElectron>>
make_golden(const VariantSetting& setting, const ParameterValues& parameters, application::Runtime& runtime);

} // namespace kumihimo::hartree_fock_app
