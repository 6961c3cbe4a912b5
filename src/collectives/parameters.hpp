// What a caller may ask of algorithms: the parameters of parameters.def, as values and as declarations.
#pragma once

#include "base/parameter.hpp"
#include "program/hints.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace kumihimo {

// What is absent takes the algorithm's default.
struct Parameters {
#define NUMBER(name, ...) std::optional<std::int64_t> name = {};
#define FLAG(name, ...) std::optional<bool> name = {};
#define CHOICE(name, ...) std::optional<std::string> name = {};
#define HINT(name, ...) bool name = false;
#include "collectives/parameters.def"
#undef NUMBER
#undef FLAG
#undef CHOICE
#undef HINT

  // The segment size where neither it nor the number of segments is asked for: the machine's, not the caller's wish, so
  // that an algorithm which does not pipeline by default ignores it.
  std::int64_t default_segment_bytes = std::int64_t{1} << 20;

  Hints hints() const {
    Hints hints;
#define NUMBER(...)
#define FLAG(...)
#define CHOICE(...)
#define HINT(name, ...) hints.name = name;
#include "collectives/parameters.def"
#undef NUMBER
#undef FLAG
#undef CHOICE
#undef HINT
    return hints;
  }
};

struct ParameterDeclaration : Parameter {
  using Number = std::optional<std::int64_t> Parameters::*;
  using Flag = std::optional<bool> Parameters::*;
  using Choice = std::optional<std::string> Parameters::*;
  using Hint = bool Parameters::*;

  std::variant<Number, Flag, Choice, Hint> value;
  std::string_view pays = {}; // where, so that tune tries it there alone

  std::string_view kind() const { return std::array{"number", "flag", "choice", "hint"}[value.index()]; }
  bool is_given(const Parameters& p) const;
  std::string text(const Parameters& p) const; // "window=4", "overlap"; empty where it is not given
};

inline constexpr std::array declared_parameters = {
#define unlimited std::numeric_limits<std::int64_t>::max()
#define NUMBER(name, least, most, symbol, meaning, pays, ...)                                                          \
  ParameterDeclaration{{#name, meaning, symbol, least, most, {__VA_ARGS__}}, &Parameters::name, #pays},
#define FLAG(name, meaning, pays) ParameterDeclaration{{#name, meaning}, &Parameters::name, #pays},
#define CHOICE(name, meaning) ParameterDeclaration{{#name, meaning}, &Parameters::name},
#define HINT(name, meaning, pays) ParameterDeclaration{{#name, meaning}, &Parameters::name, #pays},
#include "collectives/parameters.def"
#undef NUMBER
#undef FLAG
#undef CHOICE
#undef HINT
#undef unlimited
};

const ParameterDeclaration* find_parameter(std::string_view name); // null: there is none of this name
std::string hints_text(const Parameters& p);                       // "single_copy streaming_stores"

} // namespace kumihimo
