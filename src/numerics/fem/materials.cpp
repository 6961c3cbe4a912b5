#include "fem/materials.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace kumihimo::fem {

Result<Materials> make_materials(std::span<const double> young, std::span<const double> poisson) {
  if (young.size() != poisson.size())
    return wrong_value(fmt::format("{} moduli need as many Poisson ratios", young.size()), poisson.size());
  Materials made;
  const auto count = static_cast<std::int64_t>(young.size());
  made.lambda = TRY(threads::ThreadedArray<double>::zeros(count));
  made.mu = TRY(threads::ThreadedArray<double>::zeros(count));
  for (std::int64_t e = 0; e < count; ++e) {
    const double modulus = young[static_cast<std::size_t>(e)], ratio = poisson[static_cast<std::size_t>(e)];
    if (!(modulus > 0) || !std::isfinite(modulus))
      return wrong_value(fmt::format("Young's modulus of element {} must be positive and finite", e),
                         fmt::format("{}", modulus));
    if (!(ratio > -1 && ratio < 0.5))
      return wrong_value(fmt::format("Poisson's ratio of element {} must be above -1 and below 0.5", e),
                         fmt::format("{}", ratio));
    made.lambda[e] = modulus * ratio / ((1 + ratio) * (1 - 2 * ratio));
    made.mu[e] = modulus / (2 * (1 + ratio));
  }
  return made;
}

Result<Materials> varied_materials(const Mesh& mesh, double young, double poisson, double spread) {
  if (!(spread >= 0) || !std::isfinite(spread))
    return wrong_value("the spread of moduli must be at least 0", fmt::format("{}", spread));
  std::vector<double> moduli, ratios(mesh.global_elements.size(), poisson);
  moduli.reserve(ratios.size());
  for (const std::int64_t e : mesh.global_elements) {
    // The fractional parts of multiples of the golden ratio fill [0, 1) evenly.
    const double u = std::fmod(static_cast<double>(e) * 0.6180339887498949, 1.0);
    moduli.push_back(young * (1 + spread * u));
  }
  return make_materials(moduli, ratios);
}

} // namespace kumihimo::fem
