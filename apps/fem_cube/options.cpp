#include "fem_cube/options.hpp"

#include "base/text_parsing.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kumihimo::fem_cube {

using application::ApplicationOption, application::ApplicationRequest;

namespace {

constexpr std::string_view loads[] = {"stretch", "body_force", "patch", "manufactured"};
constexpr std::string_view preconditioners[] = {"block_diagonal", "gauss_seidel", "additive_schwarz"};
constexpr std::string_view overlaps[] = {"0", "1"};
constexpr std::string_view no_or_yes[] = {"no", "yes"};
constexpr std::int64_t most_parts = 1 << 20, most_assemblies = 1000;
constexpr ApplicationOption rows[] = {
    {"load", "load case: stretch (face x = 1 moved), body_force, patch (linear displacement), manufactured", "CASE",
     "stretch", loads},
    {"preconditioner", "preconditioner of a rank's nodes", "NAME", "block_diagonal", preconditioners},
    {"parts", "parts of a rank's nodes, with additive_schwarz [default: 8, or as many as nodes]", "N"},
    {"overlap", "layers of nodes that parts share, with additive_schwarz", "N", "1", overlaps},
    {"distortion", "largest displacement of inner nodes, as a share of their distance, 0 to 0.25", "SHARE", "0"},
    {"spread", "the modulus of an element is 1 to 1 + SPREAD", "SPREAD", "0"},
    {"poisson_ratio", "Poisson's ratio, above -1 and below 0.5", "RATIO", "0.3"},
    {"assembly_only", "time the assembly of the matrix, without a solve", "YES", "no", no_or_yes},
    {"assemblies", "assemblies of a run; the time is their median", "N", "1"},
};

template <std::size_t n>
std::size_t place_in(const std::string_view (&words)[n], std::string_view word) {
  for (std::size_t i = 0; i < n; ++i)
    if (words[i] == word) return i;
  return 0; // unreachable: the frame checks choices
}

Result<double> number_of(const ApplicationRequest& request, std::string_view name) {
  const std::string& word = request.option(name);
  double value = 0;
  if (!read_number(word, value) || !std::isfinite(value))
    return wrong_value(fmt::format("{} must be a number", name), fmt::format("'{}'", word));
  return value;
}

Result<std::int64_t> count_of(const ApplicationRequest& request, std::string_view name, std::int64_t most) {
  const std::string& word = request.option(name);
  std::int64_t value = 0;
  if (!read_number(word, value) || value < 1 || value > most)
    return wrong_value(fmt::format("{} must be a number from 1 to {}", name, most), fmt::format("'{}'", word));
  return value;
}

} // namespace

std::span<const ApplicationOption> option_rows() { return rows; }

Result<FemOptions> options_of(const ApplicationRequest& request) {
  FemOptions found;
  found.load = static_cast<Load>(place_in(loads, request.option("load")));
  found.preconditioning = static_cast<Preconditioning>(place_in(preconditioners, request.option("preconditioner")));
  found.distortion = TRY(number_of(request, "distortion"));
  found.spread = TRY(number_of(request, "spread"));
  found.poisson_ratio = TRY(number_of(request, "poisson_ratio"));
  if (!request.option("parts").empty()) found.parts = TRY(count_of(request, "parts", most_parts));
  found.overlap = request.option("overlap") == "1" ? 1 : 0;
  found.assembly_only = request.option("assembly_only") == "yes";
  found.assemblies = TRY(count_of(request, "assemblies", most_assemblies));
  const bool uniform = found.load == Load::patch || found.load == Load::manufactured;
  if (uniform && found.spread != 0)
    return wrong_value(fmt::format("the load {} needs one modulus, spread 0", request.option("load")),
                       request.option("spread"), "leave spread out");
  if (!(found.poisson_ratio > -1 && found.poisson_ratio < 0.5))
    return wrong_value("poisson_ratio must be above -1 and below 0.5", request.option("poisson_ratio"));
  return found;
}

} // namespace kumihimo::fem_cube
