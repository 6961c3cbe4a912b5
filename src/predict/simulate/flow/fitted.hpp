// The fitted constants of the model flow: fitted.def has the table.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace kumihimo::simulation {

struct FittedNumbers {
#define KUMIHIMO_FITTED(name, value, ...) double name = value;
#include "simulate/flow/fitted.def"
#undef KUMIHIMO_FITTED
};

enum class Fit : std::uint8_t { closest, covering, claiming };
enum class FittedCases : std::uint8_t { collectives, collectives_and_programs, collectives_without_periods, trees };

struct FittedConstant {
  std::string_view name;
  double FittedNumbers::*value;
  Fit fit;
  FittedCases cases;
  std::string_view meaning;
};

inline constexpr std::array fitted_constants{
#define KUMIHIMO_FITTED(name, value, fit, cases, meaning)                                                              \
  FittedConstant{#name, &FittedNumbers::name, Fit::fit, FittedCases::cases, meaning},
#include "simulate/flow/fitted.def"
#undef KUMIHIMO_FITTED
};

} // namespace kumihimo::simulation
