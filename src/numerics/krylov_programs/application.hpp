// The applications of applications.def.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kumihimo::krylov_programs {

struct ModelledPreconditioner {
  std::string_view name;
  double bytes = 0, flops = 0; // of a cell
};

struct ModelledApplication {
  std::string_view name;
  int points = 7;
  std::int64_t fields = 1;                             // unknowns of a cell
  double bytes = 0, flops = 0;                         // of a product, of a cell
  std::vector<ModelledPreconditioner> preconditioners; // the first one is the default
  std::string_view summary;
};
std::span<const ModelledApplication> applications();
Result<const ModelledApplication*> find_application(std::string_view name);

} // namespace kumihimo::krylov_programs
