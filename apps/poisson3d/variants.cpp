#include "poisson3d/variant.hpp"

#include <vector>

namespace kumihimo::poisson3d {

using Made = Result<std::unique_ptr<LocalSolver>>;
Made make_golden(const PoissonVariant&, const sparse::CrsMatrix& matrix, const ParameterValues& parameters,
                 sparse::Factorisations&);
Made make_prepared(const PoissonVariant& variant, const sparse::CrsMatrix& matrix, const ParameterValues& parameters,
                   sparse::Factorisations&);
Made make_amg(const PoissonVariant&, const sparse::CrsMatrix& matrix, const ParameterValues& parameters,
              sparse::Factorisations&);

std::span<const PoissonVariant> variants() {
  static const std::vector<PoissonVariant> all = [] {
    std::vector<PoissonVariant> found{
        {{"golden", "compressed rows in natural order, loops of the textbooks, one thread"}, &make_golden}};
    for (const sparse::SparseVariant& each : sparse::variants())
      found.push_back({each.description, &make_prepared, &each});
    found.push_back({{"amg", "smoothed aggregation multigrid by AMGCL instead of IC(0)"}, &make_amg});
    return found;
  }();
  return all;
}

} // namespace kumihimo::poisson3d
