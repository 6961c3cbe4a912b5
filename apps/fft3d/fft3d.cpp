// The application fft3d: transforms of a grid there and back with one variant, on all ranks.
#include "application/application.hpp"
#include "application/checkpoints.hpp"
#include "application/request.hpp"
#include "distributed_fft/distributed_fft.hpp"
#include "distributed_fft/sphere_fft.hpp"
#include "fft3d/check.hpp"
#include "fft3d/choose_exchange.hpp"
#include "fft3d/gathered.hpp"
#include "fft3d/kept_exchanges.hpp"
#include "fft3d/problem.hpp"
#include "fft3d/profile_table.hpp"
#include "fft3d/variants.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace kumihimo::fft3d {
namespace {

using application::ApplicationRequest, application::KernelTimes, application::Runtime;
using distributed_fft::DistributedFft, distributed_fft::ExchangeKind, distributed_fft::ExchangeTime,
    distributed_fft::SphereFft, distributed_fft::TransformProfile, distributed_fft::TransformWay;
using fft::Complex;
using nlohmann::json;

struct Grids {
  Grid values, transformed, back;
  Reals real_values, real_back; // in place of values and back, of a real grid
};

// One of them, behind the two calls that are timed: forward from the values to `transformed` (of a sphere from
// coefficients to the grid), and backward.
struct Transforms {
  std::unique_ptr<DistributedFft> grid;
  std::unique_ptr<SphereFft> sphere;
  std::unique_ptr<GatheredTransform> golden;

  Status forward(Grids& grids) {
    if (sphere) return sphere->to_grid(grids.values.data(), grids.transformed.data());
    const void* const in = either(grids.values, grids.real_values);
    return grid ? grid->forward(in, grids.transformed.data()) : golden->forward(in, grids.transformed.data());
  }
  Status backward(Grids& grids) {
    if (sphere) return sphere->to_coefficients(grids.transformed.data(), grids.back.data());
    void* const out = either(grids.back, grids.real_back);
    return grid ? grid->backward(grids.transformed.data(), out) : golden->backward(grids.transformed.data(), out);
  }
  // A pair of both. Of a sphere, blocks of bands one after the other, as codes of plane waves have it: of the grid, the
  // last one stays.
  Status pair(Grids& grids) {
    if (sphere)
      return sphere->there_and_back(grids.values.data(), grids.transformed.data(), grids.back.data(),
                                    [](Complex*, std::int64_t, std::int64_t) {});
    if (Status s = forward(grids); !s) return s;
    return backward(grids);
  }
  KernelTimes& times() { return grid ? grid->times() : sphere ? sphere->times() : golden->times(); }
  TransformProfile* profile() { return grid ? &grid->profile() : sphere ? &sphere->profile() : nullptr; }
  int exchanges() const { return grid ? grid->exchanges() : sphere ? 1 : 0; } // of a transform, by messages
  double bytes_sent() const { return grid ? grid->bytes_sent() : sphere ? sphere->bytes_sent() : 0; }
  double bytes_counted() const { return grid ? grid->bytes_counted() : sphere ? sphere->bytes_counted() : 0; }

 private:
  static void* either(Grid& grid, Reals& reals) {
    return reals.size() > 0 ? static_cast<void*>(reals.data()) : grid.data();
  }
};

// What this rank has of the spectrum; of a sphere, columns of coefficients, and of the grid.
struct OwnParts {
  std::vector<std::int32_t> columns;
  fft::PointBox box; // after the forward transform
};

OwnParts own_parts(const FftProblem& problem, Runtime& runtime) {
  if (!problem.sphere) return {{}, problem.spectrum().box(0, runtime.rank())};
  const auto rank = static_cast<std::size_t>(runtime.rank());
  return {deal_columns(*problem.sphere, runtime.ranks())[rank], problem.parts_of_z(runtime.ranks())[rank]};
}

Result<Grids> grids_of(const FftProblem& problem, const OwnParts& own, std::int32_t rank) {
  Grids grids;
  const fft::PointBox given = problem.pencils.box(2, rank);
  grids.transformed = TRY(Grid::zeros(problem.bands * own.box.points()));
  if (problem.is_real()) {
    grids.real_values = TRY(reals_of(problem, given));
    grids.real_back = TRY(Reals::zeros(grids.real_values.size()));
    return grids;
  }
  grids.values = TRY(problem.sphere ? values_of(problem, own.columns) : values_of(problem, given));
  grids.back = TRY(Grid::zeros(grids.values.size()));
  return grids;
}

Status check_memory(const FftProblem& problem, const FftVariant& variant, const TransformWay& way, Runtime& runtime) {
  const std::int32_t rank = runtime.rank();
  const auto of_box = [&](const fft::RankPencils& pencils, std::size_t axis) { // may be beyond 63 bits
    return static_cast<double>(problem.bands) * static_cast<double>(pencils.box(axis, rank).points()) * sizeof(Complex);
  };
  double bytes = (problem.is_real() ? 1 : 2) * of_box(problem.pencils, 2) + of_box(problem.spectrum(), 0);
  if (problem.sphere) { // the grid, and coefficients twice
    const double share = static_cast<double>(problem.sphere->coefficients()) / problem.points();
    bytes = of_box(problem.pencils, 0) * (1 + 2 * share) +
            bytes_needed(*problem.sphere, runtime.ranks(), problem.bands, way);
  } else if (!variant.is_golden) {
    bytes += bytes_needed(problem.pencils, problem.kind, rank, problem.bands, way);
  }
  if (variant.is_golden && rank == 0) bytes += 3 * problem.points() * sizeof(Complex);
  return runtime.agree(runtime.check_memory(bytes));
}

Result<std::unique_ptr<fft::LineLibrary>> library_of(const FftProblem& problem, Runtime& runtime) {
  Result<std::unique_ptr<fft::LineLibrary>> opened = fft::LineLibrary::open(problem.library);
  if (Status s = runtime.agree_on(opened); !s) return s.error();
  (*opened)->set_planning_seconds(problem.planning_seconds);
  return opened;
}

Result<Transforms> transforms_of(const FftProblem& problem, const FftVariant& variant, const TransformWay& way,
                                 fft::LineLibrary* library, Runtime& runtime) {
  Transforms made;
  if (variant.is_golden)
    made.golden = TRY(GatheredTransform::make(problem, runtime));
  else if (problem.sphere)
    made.sphere = TRY(SphereFft::make(*problem.sphere, problem.bands, way, *library, runtime));
  else
    made.grid = TRY(DistributedFft::make(problem.pencils, problem.kind, problem.bands, way, *library, runtime));
  return made;
}

json check_of(const FftProblem& problem, const OwnParts& own, int exchanges, const Grids& grids, Runtime& runtime) {
  const int rounded = problem.single_precision ? 2 * exchanges : 0;
  const Grid &transformed = grids.transformed, &back = grids.back;
  if (problem.sphere) return check_sphere(problem, own.columns, own.box, transformed, back, runtime, rounded);
  if (problem.is_real()) return check(problem, transformed, grids.real_back, runtime, rounded);
  return check(problem, transformed, back, runtime, rounded);
}

Status run_pairs(std::int64_t pairs, Transforms& transforms, Grids& grids) {
  for (std::int64_t pair = 0; pair < pairs; ++pair)
    if (Status s = transforms.pair(grids); !s) return s;
  return Nothing{};
}

// With checkpoints. Every pair transforms the same values anew, so the number of pairs that are done is all of a state.
Status run_pairs(std::int64_t pairs, Transforms& transforms, Grids& grids, Runtime& runtime) {
  application::Checkpoints& checkpoints = runtime.checkpoints();
  for (std::int64_t done = 0; done < pairs;) {
    TRY(checkpoints.at_iteration(done, [&](StateList& list) { list.number("pairs", done); }));
    if (done >= pairs) return application::nothing_left(done, pairs);
    const std::int64_t part = std::min(pairs - done, checkpoints.steps_to_next(done));
    if (Status s = runtime.agree(run_pairs(part, transforms, grids)); !s) return s;
    done += part;
  }
  return Nothing{};
}

std::string planning_text(double seconds, double budget, bool has_read) {
  return fmt::format("{:.3g} s of a budget of {:.3g} s{}", seconds, budget,
                     has_read ? ", with measurements of earlier runs" : "");
}

std::string exchange_name(const TransformWay& way) {
  if (way.kind == ExchangeKind::window) return "shared memory";
  return way.kind == ExchangeKind::library ? "MPI_Alltoallw" : way.exchange;
}

std::string exchange_text(const ChosenExchange& chosen) {
  const std::vector<ExchangeTime>& times = chosen.times;
  const char* const by = chosen.is_from_wisdom ? ", by measurement of an earlier run:" : ", by measurement:";
  std::string text = times[0].exchange;
  for (const ExchangeTime& each : times)
    text += fmt::format("{} {} {:.4g} ms", &each == &times[0] ? by : ",", each.exchange, 1e3 * each.seconds);
  return text;
}

Result<json> run(const ApplicationRequest& request, Runtime& runtime) {
  const FftProblem problem = TRY(problem_of(request, runtime.ranks()));
  const FftVariant& variant = application::variant_of(request.candidate, variants());
  if (Status s = check_exchange(variant, request.candidate.parameters, problem); !s) return s.error();
  TransformWay way = way_of(variant, request.candidate.parameters, problem);
  if (way.bands_at_once > problem.bands)
    return not_applicable(fmt::format("{} bands at once need as many bands", way.bands_at_once),
                          fmt::format("bands={}", problem.bands), "use fewer at once or more bands");
  if (variant.is_golden && (problem.single_precision || problem.profiles))
    return not_applicable("the golden copy has no messages of floats and no profile", {},
                          "leave wire and profile out, or use another variant");
  if (Status s = check_memory(problem, variant, way, runtime); !s) return s.error();
  const std::int64_t begin = measure::now_ns();
  std::unique_ptr<fft::LineLibrary> library;
  if (!variant.is_golden) library = TRY(library_of(problem, runtime));
  const std::string kept = library ? kept_plans_file(request.wisdom_folder, *library) : "";
  const bool has_read = !kept.empty() && library->read_measurements(kept);
  const std::int64_t planned = measure::now_ns();
  // Exchanges have up to half of the budget; plans have what they leave.
  ChosenExchange tried;
  if (library) tried = TRY(choose_exchange(problem, problem.planning_seconds / 2, request.wisdom_folder, way, runtime));
  double planning = measure::seconds_since(planned);
  if (library) library->set_planning_seconds(std::max(0.0, problem.planning_seconds - planning));
  Transforms transforms = TRY(transforms_of(problem, variant, way, library.get(), runtime));
  const double buffers = measure::seconds_since(planned);
  if (library) planning += library->planning_seconds();
  const Status stored = kept.empty() ? Status(Nothing{}) : library->keep_measurements(kept);
  const OwnParts own = own_parts(problem, runtime);
  Result<Grids> made = grids_of(problem, own, runtime.rank());
  if (Status s = runtime.agree_on(made); !s) return s.error();
  Grids& grids = *made;
  const double setup = measure::seconds_since(begin);

  const std::int64_t pairs = std::min(problem.transforms, request.most_iterations);
  // The first pair opens connections and touches memory: it is not counted.
  if (Status s = runtime.agree(run_pairs(1, transforms, grids)); !s) return s.error();
  transforms.times().clear();
  if (TransformProfile* const profile = transforms.profile()) profile->clear();
  const double bytes_before = transforms.bytes_counted();
  runtime.processes().barrier();
  const std::int64_t start = measure::now_ns();
  if (Status s = run_pairs(pairs, transforms, grids, runtime); !s) return s.error();
  const double own_seconds = measure::seconds_since(start);
  const std::vector<double> seconds = runtime.processes().largest({own_seconds, setup, buffers, planning});

  const double points = problem.points(),
               all = 2 * static_cast<double>(runtime.checkpoints().made(pairs) * problem.bands);
  const double flops = all * (problem.is_real() ? 2.5 : 5.0) * points * std::log2(std::max(2.0, points));
  json facts = {{"seconds of a transform", seconds[0] / all}};
  if (problem.sphere) {
    facts["coefficients"] = problem.sphere->coefficients();
    facts["columns of the sphere, of all"] =
        static_cast<double>(problem.sphere->columns.size()) / static_cast<double>(points / problem.pencils.points[2]);
  } else {
    facts["GFLOPS"] = flops / seconds[0] * 1e-9;
    facts["rows x columns of ranks"] = fmt::format("{}x{}", problem.pencils.rows, problem.pencils.columns);
  }
  if (library) {
    facts["seconds of plans and buffers"] = seconds[2];
    facts["seconds of planning"] = seconds[3];
    facts["exchange"] = exchange_name(way);
    if (!tried.times.empty()) facts["exchange from wisdom"] = tried.is_from_wisdom;
    for (const ExchangeTime& each : tried.times) facts["seconds of an exchange"][each.exchange] = each.seconds;
    facts["lines by"] = library->name();
    const std::vector<double> bytes =
        runtime.processes().total({transforms.bytes_sent(), transforms.bytes_counted() - bytes_before});
    facts["bytes of messages a transform"] = bytes[0] / static_cast<double>(problem.bands);
    if (way.kind == ExchangeKind::messages || way.kind == ExchangeKind::leaders)
      facts["bytes of messages a transform, counted"] = bytes[1] / all;
  }
  json answer = json::array();
  answer.push_back({"a transform", fmt::format("{:.4g} ms", 1e3 * seconds[0] / all)});
  if (!problem.sphere) {
    answer.push_back({"rate", fmt::format("{:.4g} GFLOPS", flops / seconds[0] * 1e-9)});
    answer.push_back({"ranks, rows x columns", fmt::format("{}x{}", problem.pencils.rows, problem.pencils.columns)});
  }
  if (library) {
    answer.push_back({"lines by", library->name()});
    answer.push_back({"planning", planning_text(seconds[3], problem.planning_seconds, has_read)});
    if (!tried.times.empty()) answer.push_back({"exchange", exchange_text(tried)});
  }
  json found = {{"seconds", seconds[0]},
                {"setup_seconds", seconds[1]},
                {"iterations", pairs},
                {"planned_iterations", problem.transforms},
                {"residual", nullptr},
                {"converged", true},
                {"history", json::array()},
                {"unknowns", points * static_cast<double>(problem.bands)},
                {"facts", std::move(facts)},
                {"answer", std::move(answer)},
                {"kernels", to_json(transforms.times(), runtime.processes())}};
  if (problem.profiles) {
    found["profile"] = profile_of(*transforms.profile(), own_seconds, runtime.processes());
    found["tables"] = json::array({profile_table(found["profile"])});
  }
  for (const Status& each : {stored, tried.kept})
    if (!each) found["warnings"].push_back(each.error().sentence());
  if (request.checks && transforms.sphere) // the grids of all bands
    if (Status s = runtime.agree(transforms.forward(grids)); !s) return s.error();
  if (request.checks) found["checked"] = check_of(problem, own, transforms.exchanges(), grids, runtime);
  return found;
}

constexpr std::string_view exchange_words[] = {
    automatic_exchange, "pairwise", "linear", "two_phase", "paced", "bruck", "three_phase", "hierarchical"};
constexpr std::string_view kinds[] = {"complex", "real"};
constexpr std::string_view wires[] = {"float64", "float32"};
constexpr std::string_view yes_or_no[] = {"yes", "no"};
constexpr application::ApplicationOption options[] = {
    {"transforms", "pairs of a forward and a backward transform", "N", "10"},
    {"bands", "grids that are transformed in each", "N", "1"},
    {"kind", "of the numbers of a grid; of a real one half of the spectrum is kept", "KIND", "complex", kinds},
    {"cutoff",
     "sphere: the input is the frequencies of a sphere of a quarter of the shortest axis, or of this radius; none: a "
     "whole grid",
     "CUTOFF", "none"},
    {"decomposition", "of the grid: slab, pencil, rows x columns of ranks such as 4x2; auto: slabs while they suffice",
     "GRID", "auto"},
    {"exchange", "alltoall of the registry for messages; auto: pairwise on one node, the fastest on several", "NAME",
     automatic_exchange, exchange_words},
    {"wire", "numbers of messages: float32 halves the bytes and rounds each to 24 bits", "TYPE", "float64", wires},
    {"profile", "a table of where the time goes; ranks then meet before each exchange", "yes|no", "no", yes_or_no},
    {"planning", "seconds for all measurements of plans and exchanges; 0: estimate", "SECONDS", "1"},
    {"library", "FFTW, or a library with its interface, by path [default: the first that is found]", "PATH", ""}};

constexpr std::string_view usual[] = {"window", "fused"};

} // namespace

application::Application description() {
  return {
      .name = "fft3d",
      .summary = "Complex and real transforms in three dimensions, there and back, in slabs or pencils",
      .paper = "I. Foster and P. Worley, SIAM J. Sci. Comput. 18 (1997) 806",
      .sizes = "points along x, y and z: 128 or 128x96x64 (z contiguous)",
      .default_size = "128",
      .golden_hash = KUMIHIMO_GOLDEN_HASH,
      .variants = application::descriptions(variants()),
      .methods = {},
      .options = options,
      .sample = 3,
      .usual = usual,
      .golden_may_be_chosen = false,
      .has_grid = false,
      .restart_on = [](const ApplicationRequest&) { return application::RestartOn::any_variant; },
      .run = &run,
  };
}

} // namespace kumihimo::fft3d
