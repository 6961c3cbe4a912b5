#include "fem_cube/variant.hpp"

#include <fmt/format.h>

#include <vector>

namespace kumihimo::fem_cube {

std::span<const FemVariant> variants() {
  static const std::vector<FemVariant> all = [] {
    std::vector<FemVariant> found;
    for (const fem::AssemblyVariant& each : fem::assembly_variants()) found.push_back({each, &each, nullptr});
    for (const fem::OperatorVariant& each : fem::operator_variants()) found.push_back({each, nullptr, &each});
    return found;
  }();
  return all;
}

bool FemVariant::is_golden() const { return assembly == &fem::assembly_variants().front(); }

Status FemVariant::check_applicable(const FemOptions& options) const {
  if (!(assembly ? assembly->runs_here : operation->runs_here))
    return not_applicable(fmt::format("{} needs instructions that this processor does not have", name));
  if (assembly) return Nothing{};
  if (options.assembly_only) return not_applicable(fmt::format("{} assembles no matrix", name));
  if (options.preconditioning != Preconditioning::block_diagonal)
    return not_applicable(fmt::format("{} has no matrix, which this preconditioner needs", name), {},
                          "use preconditioner=block_diagonal");
  return Nothing{};
}

} // namespace kumihimo::fem_cube
