#include "poisson3d/variant.hpp"

#include <vector>

namespace kumihimo::poisson3d {

#define VARIANT(name, ...)                                                                                             \
  Result<std::unique_ptr<LocalSolver>> make_##name(const LocalMatrix& matrix, const ParameterValues& parameters);
#include "poisson3d/variants.def"
#undef VARIANT

namespace {

constexpr std::span<const TakenParameter> no_parameters;

} // namespace

std::span<const Variant> variants() {
#define VARIANT(name, parameters, summary) Variant{{#name, summary, parameters}, &make_##name},
  static const std::vector<Variant> all{
#include "poisson3d/variants.def"
  };
#undef VARIANT
  return all;
}

} // namespace kumihimo::poisson3d
