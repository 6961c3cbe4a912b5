#include "fdtd2d/problem.hpp"

#include "base/text_parsing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace kumihimo::fdtd2d {

using application::ApplicationOption, application::ApplicationRequest;

namespace {

constexpr std::int64_t longest = 1 << 16, most_steps = 10'000'000, most_frames = 100;
constexpr std::string_view problems[] = {"source", "mode"};
constexpr std::string_view types[] = {"float32", "float64"};
constexpr ApplicationOption rows[] = {
    {"steps", "number of time steps", "N", "400"},
    {"type", "numbers of the fields", "TYPE", "float32", types},
    {"problem", "source: a pulse in a layer that absorbs; mode: a standing wave between metal walls", "PROBLEM",
     "source", problems},
    {"layer", "cells of the absorbing layer on each side", "N", "10"},
    {"courant", "Courant number, below 0.7071", "S", "0.5"},
    {"wavelength", "wavelength of the pulse in cells", "CELLS", "20"},
    {"source", "node of the source [default: the middle]", "XxY"},
    {"frames", "pictures of Ez for the page", "N", "0"},
};

std::optional<Pair> two_numbers(std::string_view text, bool one_for_both) {
  const auto x = take_number<std::int64_t>(text);
  if (!x) return std::nullopt;
  if (text.empty()) return one_for_both ? std::optional(Pair{*x, *x}) : std::nullopt;
  const auto y = take(text, "x") ? take_number<std::int64_t>(text) : std::nullopt;
  return y && text.empty() ? std::optional(Pair{*x, *y}) : std::nullopt;
}

Result<Pair> points_of(const std::string& size) {
  const std::optional<Pair> found = two_numbers(size, true);
  if (!found)
    return wrong_value("the size must be the nodes along x and y", fmt::format("'{}'", size),
                       "write for example 512 or 512x384");
  for (const std::int64_t n : *found)
    if (n < 8 || n > longest) return wrong_value(fmt::format("each axis must have 8 to {} nodes", longest), n);
  return *found;
}

Result<std::int64_t> count_of(const ApplicationRequest& request, std::string_view name, std::int64_t least,
                              std::int64_t most) {
  const std::string& word = request.option(name);
  std::int64_t value = 0;
  if (!read_number(word, value) || value < least || value > most)
    return wrong_value(fmt::format("{} must be a number from {} to {}", name, least, most), fmt::format("'{}'", word));
  return value;
}

Result<double> number_of(const ApplicationRequest& request, std::string_view name, double least, double below) {
  const std::string& word = request.option(name);
  double value = 0;
  if (!read_number(word, value) || !(value >= least && value < below))
    return wrong_value(fmt::format("{} must be a number from {:g} to below {:.4f}", name, least, below),
                       fmt::format("'{}'", word));
  return value;
}

// Of the source problem.
Status read_source(const ApplicationRequest& request, WaveProblem& problem) {
  FieldShape& whole = problem.whole;
  whole.layer = TRY(count_of(request, "layer", 0, longest));
  problem.source.wavelength = TRY(number_of(request, "wavelength", 4, 1e5));
  problem.source.node = {whole.points[0] / 2, whole.points[1] / 2};
  if (const std::string& word = request.option("source"); !word.empty()) {
    const std::optional<Pair> node = two_numbers(word, false);
    if (!node)
      return wrong_value("source must be a node", fmt::format("'{}'", word), "write for example source=100x80");
    problem.source.node = *node;
  }
  for (std::size_t a = 0; a < 2; ++a) {
    if (whole.points[a] < 2 * whole.layer + 4)
      return wrong_value(
          fmt::format("a layer of {} cells needs at least {} nodes along each axis", whole.layer, 2 * whole.layer + 4),
          whole.points[a], "use a smaller layer or a larger --size");
    const std::int64_t at = problem.source.node[a];
    if (at <= whole.layer || at >= whole.points[a] - whole.layer)
      return wrong_value(fmt::format("the source must lie between {} and {} along {}", whole.layer + 1,
                                     whole.points[a] - whole.layer - 1, a == 0 ? "x" : "y"),
                         at);
  }
  return Nothing{};
}

} // namespace

std::span<const ApplicationOption> option_rows() { return rows; }

std::vector<application::ProblemShare> shares(std::string_view size) {
  const Result<Pair> points = points_of(std::string(size));
  if (!points || (*points)[0] < 256 || (*points)[1] < 256) return {};
  return {{fmt::format("{}x{}", (*points)[0] / 2, (*points)[1] / 2), 4, 1}};
}

Result<WaveProblem> problem_of(const ApplicationRequest& request) {
  WaveProblem problem;
  problem.whole.points = problem.whole.cells = TRY(points_of(request.size));
  problem.planned_steps = TRY(count_of(request, "steps", 1, most_steps));
  problem.steps = std::min(problem.planned_steps, request.most_iterations);
  problem.is_float32 = request.option("type") == "float32";
  problem.is_mode = request.option("problem") == "mode";
  problem.frames = TRY(count_of(request, "frames", 0, most_frames));
  problem.whole.courant = TRY(number_of(request, "courant", 0.01, M_SQRT1_2));
  if (problem.is_mode)
    problem.whole.layer = 0;
  else if (Status s = read_source(request, problem); !s)
    return s.error();
  return problem;
}

} // namespace kumihimo::fdtd2d
