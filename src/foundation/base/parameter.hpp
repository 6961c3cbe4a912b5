// What a way to compute something may be asked for, declared once: algorithms of collectives and variants of kernels
// name a declaration in their rows, each with its own default. Reading, checks, help and tuning are made from it.
#pragma once

#include "base/result.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kumihimo {

struct Parameter {
  std::string_view name, meaning;
  // Of a number.
  std::string_view symbol = {};
  std::int64_t min = 1, max = std::numeric_limits<std::int64_t>::max();
  std::array<std::int64_t, 3> tuning_values = {}; // beside the default; 0: no more
  bool of_ranks = false;                          // without effect on one rank, where tuning tries the default alone

  Status check(std::int64_t number) const; // is it in the range?
};

// Words for a default that follows from the case, such as "2 x dimensions".
struct DerivedDefault {
  std::string words;
  bool operator==(const DerivedDefault&) const = default;
};
// A number, a flag, the name of an algorithm, or words.
using ParameterDefault = std::variant<std::int64_t, bool, std::string, DerivedDefault>;
std::string text_of(const ParameterDefault& value); // "4", "false", "ring", "2 x dimensions"

// A parameter that a variant takes, with its default there.
template <class Declaration, class Default>
struct Taken {
  const Declaration* parameter;
  Default default_value;
};
using TakenParameter = Taken<Parameter, std::int64_t>;

// A way to compute the answer of a problem whose parameters are numbers, as kernels have them.
struct VariantDescription {
  std::string_view name, summary;
  std::span<const TakenParameter> parameters = {};
};

using ParameterValues = std::map<std::string, std::int64_t, std::less<>>; // by name
ParameterValues with_defaults(std::span<const TakenParameter> taken, ParameterValues given = {});
std::vector<std::int64_t> tuning_values(const TakenParameter& taken); // the default first

} // namespace kumihimo
