#include "hartree_fock_app/golden.hpp"

#include "hartree_fock/golden.hpp"

namespace kumihimo::hartree_fock_app {
namespace {

class GoldenRepulsion final : public hartree_fock::TwoElectron {
 public:
  explicit GoldenRepulsion(const hartree_fock::Basis& basis) : basis_(basis) {}
  Result<hartree_fock::CoulombExchange> build(const hartree_fock::Matrix& density, double) override {
    return hartree_fock::coulomb_exchange_golden(basis_, density);
  }

 private:
  const hartree_fock::Basis& basis_;
};

} // namespace

Result<std::unique_ptr<hartree_fock::TwoElectron>> make_golden(const VariantSetting& setting, const ParameterValues&,
                                                               application::Runtime&) {
  return std::unique_ptr<hartree_fock::TwoElectron>(std::make_unique<GoldenRepulsion>(setting.basis));
}

} // namespace kumihimo::hartree_fock_app
