// Requests of a caller to algorithms: the parameters of parameters.def, as values and as declarations.
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

// An absent member takes the algorithm's default.
struct Parameters {
#define NUMBER(name, ...) std::optional<std::int64_t> name = {};
#define FLAG(name, ...) std::optional<bool> name = {};
#define CHOICE(name, ...) std::optional<std::string> name = {};
#define HINT(name, ...) bool name = false;
#include "collectives/parameters.def"

  // The segment size where neither it nor the number of segments is asked for: the machine's, not the caller's wish, so
  // that an algorithm which does not pipeline by default ignores it.
  std::int64_t default_segment_bytes = std::int64_t{1} << 20;

  Hints hints() const {
    Hints hints;
#define HINT(name, ...) hints.name = name;
#include "collectives/parameters.def"
    return hints;
  }
};

// On real ranks, whoever runs them, so that a program gets what bench and tune measured. Half a slot of a node's
// channels, and with its header below the 64 KiB that Open MPI sends by TCP without asking first: of longer segments in
// flight the last bytes queue behind all the others, so that nothing is passed on before the whole vector is there (a
// broadcast of 256 KiB by a chain of 27 ranks with 50 Mbit/s takes 6 times as long).
constexpr std::int64_t real_segment_bytes = std::int64_t{32} << 10;
inline Parameters on_real_ranks() {
  Parameters p;
  p.default_segment_bytes = real_segment_bytes;
  return p;
}

struct ParameterDeclaration : Parameter {
  using Number = std::optional<std::int64_t> Parameters::*;
  using Flag = std::optional<bool> Parameters::*;
  using Choice = std::optional<std::string> Parameters::*;
  using Hint = bool Parameters::*;

  std::variant<Number, Flag, Choice, Hint> value;
  std::string_view tuning_scope = {}; // the cases in which tune tries it
  Number alternative_to = nullptr;    // an algorithm that takes that parameter takes this one, too

  std::string_view kind() const { return std::array{"number", "flag", "choice", "hint"}[value.index()]; }
  bool is_given(const Parameters& p) const;
  void set_default(Parameters& p, const ParameterDefault& default_value) const; // not if it is given, or of words
  std::string text(const Parameters& p) const; // "window=4", "overlap"; empty where it is not given
};

inline constexpr std::array declared_parameters = {
#define unlimited std::numeric_limits<std::int64_t>::max()
#define NUMBER(name, min, max, symbol, meaning, tuning_scope, ...)                                                     \
  ParameterDeclaration{{#name, meaning, symbol, min, max, {__VA_ARGS__}}, &Parameters::name, #tuning_scope},
#define ALTERNATIVE(name, other, min, max, symbol, meaning, tuning_scope)                                              \
  ParameterDeclaration{{#name, meaning, symbol, min, max}, &Parameters::name, #tuning_scope, &Parameters::other},
#define FLAG(name, meaning, tuning_scope) ParameterDeclaration{{#name, meaning}, &Parameters::name, #tuning_scope},
#define CHOICE(name, meaning) ParameterDeclaration{{#name, meaning}, &Parameters::name},
#define HINT(name, meaning, tuning_scope) ParameterDeclaration{{#name, meaning}, &Parameters::name, #tuning_scope},
#include "collectives/parameters.def"
#undef unlimited
};

// The declarations by name, for rows and code that ask for one of them.
namespace parameter {

enum ParameterIndex : std::size_t {
#define PARAMETER(name) at_##name,
#include "collectives/parameters.def"
};
#define PARAMETER(name) inline constexpr const ParameterDeclaration& name = declared_parameters[at_##name];
#include "collectives/parameters.def"

} // namespace parameter

const ParameterDeclaration* find_parameter(std::string_view name); // null: there is none of this name
// The text of a schedule's parameters and the hints: "segments=2 single_copy".
std::string with_hints(std::string schedule_parameters, const Parameters& p);

} // namespace kumihimo
