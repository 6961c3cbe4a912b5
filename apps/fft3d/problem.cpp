#include "fft3d/problem.hpp"

#include "application/rank_grid.hpp"
#include "base/text_parsing.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo::fft3d {
namespace {

constexpr std::int64_t most_points = 1 << 20; // along an axis
constexpr std::int64_t most_bands = 1 << 16, most_transforms = 1'000'000;
constexpr double most_planning_seconds = 600;

Result<std::int64_t> number_of(const application::ApplicationRequest& request, std::string_view name,
                               std::int64_t most) {
  const std::string& word = request.option(name);
  std::int64_t number = 0;
  if (!read_number(word, number) || number < 1 || number > most)
    return wrong_value(fmt::format("{} must be a number from 1 to {}", name, most), fmt::format("'{}'", word));
  return number;
}

// splitmix64 (G. Steele, D. Lea and C. Flood, OOPSLA 2014).
double from_minus_one_to_one(std::uint64_t place) {
  place = (place + 1) * 0x9e3779b97f4a7c15;
  place = (place ^ (place >> 30)) * 0xbf58476d1ce4e5b9;
  place = (place ^ (place >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>(static_cast<std::int64_t>(place ^ (place >> 31))) * 0x1p-63;
}

} // namespace

Result<FftProblem> problem_of(const application::ApplicationRequest& request, std::int32_t ranks) {
  FftProblem problem;
  const fft::Triple points = TRY(application::parse_box(request.size, most_points));
  problem.pencils = TRY(fft::parse_pencils(points, ranks, request.option("decomposition")));
  problem.bands = TRY(number_of(request, "bands", most_bands));
  problem.transforms = TRY(number_of(request, "transforms", most_transforms));
  problem.exchange = request.option("exchange");
  if (request.option("kind") == "real") problem.kind = distributed_fft::GridKind::real;
  problem.library = request.option("library");
  problem.single_precision = request.option("wire") == "float32";
  problem.profiles = request.option("profile") == "yes";
  const std::string& seconds = request.option("planning");
  if (!read_number(seconds, problem.planning_seconds) || !(problem.planning_seconds >= 0) ||
      problem.planning_seconds > most_planning_seconds)
    return wrong_value(fmt::format("planning must be seconds from 0 to {}", most_planning_seconds),
                       fmt::format("'{}'", seconds));
  if (const std::string& cutoff = request.option("cutoff"); cutoff != "none") {
    double radius = static_cast<double>(*std::min_element(points.begin(), points.end()) / 4);
    if (cutoff != "sphere" && !read_number(cutoff, radius))
      return wrong_value("cutoff must be none, sphere, or the radius of a sphere of frequencies",
                         fmt::format("'{}'", cutoff));
    if (const std::string& given = request.option("decomposition"); given != "auto")
      return not_applicable("a sphere takes no decomposition", given, "leave it out");
    if (problem.is_real())
      return wrong_value("a sphere of frequencies belongs to a complex grid", "kind=real", "use kind=complex");
    problem.sphere = TRY(fft::Sphere::make(points, radius));
  }
  return problem;
}

fft::Complex value_at(const FftProblem& problem, std::int64_t band, std::int64_t x, std::int64_t y, std::int64_t z) {
  const fft::Triple& points = problem.pencils.points;
  const auto place = static_cast<std::uint64_t>(((band * points[0] + x) * points[1] + y) * points[2] + z);
  return {from_minus_one_to_one(2 * place), problem.is_real() ? 0 : from_minus_one_to_one(2 * place + 1)};
}

namespace {

// set(place, value) for each point of the bands of a box.
template <class Set>
void for_each_value(const FftProblem& problem, const fft::PointBox& box, Set set) {
  const std::int64_t planes = box.length(0), rows = box.length(1), row = box.length(2);
#pragma omp parallel for schedule(static) num_threads(threads::count())
  for (std::int64_t plane = 0; plane < problem.bands * planes; ++plane)
    for (std::int64_t y = 0; y < rows; ++y)
      for (std::int64_t z = 0; z < row; ++z)
        set((plane * rows + y) * row + z,
            value_at(problem, plane / planes, box.begin[0] + plane % planes, box.begin[1] + y, box.begin[2] + z));
}

} // namespace

Result<Grid> values_of(const FftProblem& problem, const fft::PointBox& box) {
  Grid grid = TRY(Grid::unwritten(problem.bands * box.points()));
  for_each_value(problem, box, [&](std::int64_t place, const fft::Complex& value) { grid[place] = value; });
  return grid;
}

Result<Reals> reals_of(const FftProblem& problem, const fft::PointBox& box) {
  Reals reals = TRY(Reals::unwritten(problem.bands * box.points()));
  for_each_value(problem, box, [&](std::int64_t place, const fft::Complex& value) { reals[place] = value.real(); });
  return reals;
}

Result<Grid> values_of(const FftProblem& problem, std::span<const std::int32_t> columns) {
  const fft::Triple& n = problem.pencils.points;
  std::int64_t coefficients = 0;
  for (const std::int32_t column : columns)
    coefficients += problem.sphere->columns[static_cast<std::size_t>(column)].coefficients();
  Grid values = TRY(Grid::unwritten(problem.bands * coefficients));
  fft::Complex* next = values.data();
  for (std::int64_t band = 0; band < problem.bands; ++band)
    for (const std::int32_t number : columns) {
      const fft::WaveColumn& column = problem.sphere->columns[static_cast<std::size_t>(number)];
      for (std::int64_t k = -column.reach; k <= column.reach; ++k)
        *next++ = value_at(problem, band, column.x, column.y, fft::place_of(k, n[2]));
    }
  return values;
}

} // namespace kumihimo::fft3d
