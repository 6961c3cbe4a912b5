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
#include <vector>

namespace kumihimo {

struct Parameter {
  std::string_view name, meaning;
  // Of a number.
  std::string_view symbol = {};
  std::int64_t least = 1, most = std::numeric_limits<std::int64_t>::max();
  std::array<std::int64_t, 3> tried = {}; // by tuning beside the default; 0: no more

  Status check(std::int64_t number) const; // is it in the range?
  // What tuning tries where the default is `initial`, which is the first.
  std::vector<std::int64_t> values(std::int64_t initial) const;
};

// One of a variant's row, with the default there.
struct TakenParameter {
  const Parameter* parameter;
  std::int64_t initial;
};

using ParameterValues = std::map<std::string, std::int64_t, std::less<>>; // by name
ParameterValues with_defaults(std::span<const TakenParameter> taken, ParameterValues given = {});

} // namespace kumihimo
