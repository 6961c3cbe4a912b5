// The application fft3d: transforms of a grid there and back with one variant, on all ranks.
#include "application/application.hpp"
#include "application/request.hpp"
#include "distributed_fft/distributed_fft.hpp"
#include "distributed_fft/sphere_fft.hpp"
#include "fft/golden.hpp"
#include "fft3d/check.hpp"
#include "fft3d/problem.hpp"
#include "fft3d/variants.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace kumihimo::fft3d {
namespace {

using application::ApplicationRequest, application::KernelTimes, application::Runtime;
using distributed_fft::DistributedFft, distributed_fft::SphereFft, distributed_fft::TransformWay;
using fft::Complex, fft::TransformDirection;
using nlohmann::json;

// The golden copy: the grid is gathered on rank 0, transformed there, and scattered.
class GatheredTransform {
 public:
  static Result<std::unique_ptr<GatheredTransform>> make(const FftProblem& problem, Runtime& runtime) {
    auto made = std::make_unique<GatheredTransform>();
    std::vector<fft::PointBox> on_rank_0(static_cast<std::size_t>(runtime.ranks()));
    on_rank_0[0] = fft::whole_box(problem.pencils.points);
    Result<Grid> grid = Grid::zeros(on_rank_0[static_cast<std::size_t>(runtime.rank())].points());
    if (Status s = runtime.agree_on(grid); !s) return s.error();
    made->grid_ = std::move(*grid);
    made->points_ = problem.pencils.points;
    made->row_ = made->times_.declare("golden copy", {});
    for (const std::size_t axis : {std::size_t{0}, std::size_t{2}}) {
      const std::vector<fft::PointBox> own = problem.pencils.boxes(axis);
      made->gather_[axis] = TRY(exchange(own, on_rank_0, runtime));
      made->scatter_[axis] = TRY(exchange(on_rank_0, own, runtime));
      made->box_[axis] = own[static_cast<std::size_t>(runtime.rank())];
    }
    return made;
  }

  Status transform(TransformDirection direction, const Complex* in, Complex* out, std::int64_t bands) {
    const std::size_t from = direction == TransformDirection::forward ? 2 : 0, to = 2 - from;
    for (std::int64_t band = 0; band < bands; ++band) {
      distributed_fft::Transposition &gather = *gather_[from], &scatter = *scatter_[to];
      fft::scatter(in + band * box_[from].points(), box_[from], 0, gather.target());
      if (Status s = gather.start(); !s) return s;
      if (Status s = gather.finish(); !s) return s;
      if (grid_.size() > 0) {
        fft::gather(gather.source(), 0, fft::whole_box(points_), grid_.data());
        times_.timed(row_, [&] { return fft::golden::transform(points_, direction, grid_.data()), 0; });
        fft::scatter(grid_.data(), fft::whole_box(points_), 0, scatter.target());
      }
      if (Status s = scatter.start(); !s) return s;
      if (Status s = scatter.finish(); !s) return s;
      fft::gather(scatter.source(), 0, box_[to], out + band * box_[to].points());
    }
    return Nothing{};
  }

  KernelTimes& times() { return times_; }

 private:
  static Result<std::unique_ptr<distributed_fft::Transposition>>
  exchange(const std::vector<fft::PointBox>& before, const std::vector<fft::PointBox>& after, Runtime& runtime) {
    const distributed_fft::TranspositionTask task{before, after, 1};
    if (task.moves_nothing()) return distributed_fft::make_local(task, runtime.rank());
    return distributed_fft::make_messages(task, "pairwise", runtime);
  }

  fft::Triple points_{};
  Grid grid_;                                                                       // on rank 0
  std::array<std::unique_ptr<distributed_fft::Transposition>, 3> gather_, scatter_; // by the axis of the rank's lines
  std::array<fft::PointBox, 3> box_;
  KernelTimes times_;
  std::size_t row_ = 0;
};

// One of them, behind the two calls that are timed: forward from `in` to `out` (of a sphere from coefficients to the
// grid), and backward.
struct Transforms {
  std::unique_ptr<DistributedFft> grid;
  std::unique_ptr<SphereFft> sphere;
  std::unique_ptr<GatheredTransform> golden;
  std::int64_t bands = 1;

  Status forward(const Grid& in, Grid& out) {
    if (grid) return grid->forward(in.data(), out.data());
    if (sphere) return sphere->to_grid(in.data(), out.data());
    return golden->transform(TransformDirection::forward, in.data(), out.data(), bands);
  }
  Status backward(const Grid& in, Grid& out) {
    if (grid) return grid->backward(in.data(), out.data());
    if (sphere) return sphere->to_coefficients(in.data(), out.data());
    return golden->transform(TransformDirection::backward, in.data(), out.data(), bands);
  }
  KernelTimes& times() { return grid ? grid->times() : sphere ? sphere->times() : golden->times(); }
  double bytes_sent() const { return grid ? grid->bytes_sent() : sphere ? sphere->bytes_sent() : 0; }
};

struct Grids {
  Grid values, transformed, back;
};

Result<Grids> grids_of(const FftProblem& problem, const Transforms& transforms, std::int32_t rank) {
  Grids grids;
  std::int64_t points = problem.pencils.box(0, rank).points();
  if (transforms.sphere) {
    grids.values = TRY(values_of(problem, transforms.sphere->own_columns()));
    points = transforms.sphere->own_box().points();
  } else {
    grids.values = TRY(values_of(problem, problem.pencils.box(2, rank)));
  }
  grids.transformed = TRY(Grid::zeros(problem.bands * points));
  grids.back = TRY(Grid::zeros(grids.values.size()));
  return grids;
}

Status check_memory(const FftProblem& problem, const FftVariant& variant, const TransformWay& way, Runtime& runtime) {
  const std::int32_t rank = runtime.rank();
  const auto of_box = [&](std::size_t axis) { // may be beyond 63 bits
    return static_cast<double>(problem.bands) * static_cast<double>(problem.pencils.box(axis, rank).points()) *
           sizeof(Complex);
  };
  double bytes = 2 * of_box(2) + of_box(0);
  if (problem.sphere) { // the grid, and coefficients twice
    const double share = static_cast<double>(problem.sphere->coefficients()) / problem.points();
    bytes = of_box(0) * (1 + 2 * share) + bytes_needed(*problem.sphere, runtime.ranks(), problem.bands, way);
  } else if (!variant.is_golden) {
    bytes += bytes_needed(problem.pencils, rank, problem.bands, way);
  } else if (rank == 0) {
    bytes += 3 * problem.points() * sizeof(Complex);
  }
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
  made.bands = problem.bands;
  if (variant.is_golden)
    made.golden = TRY(GatheredTransform::make(problem, runtime));
  else if (problem.sphere)
    made.sphere = TRY(SphereFft::make(*problem.sphere, problem.bands, way, *library, runtime));
  else
    made.grid = TRY(DistributedFft::make(problem.pencils, problem.bands, way, *library, runtime));
  return made;
}

json check_of(const FftProblem& problem, const Transforms& transforms, const Grids& grids, Runtime& runtime) {
  if (!transforms.sphere) return check(problem, grids.transformed, grids.back, runtime);
  const SphereFft& sphere = *transforms.sphere;
  return check_sphere(problem, sphere.own_columns(), sphere.own_box(), grids.transformed, grids.back, runtime);
}

Result<json> run(const ApplicationRequest& request, Runtime& runtime) {
  const FftProblem problem = TRY(problem_of(request, runtime.ranks()));
  const FftVariant& variant = application::variant_of(request.candidate, variants());
  const TransformWay way = way_of(variant, request.candidate.parameters, problem.exchange);
  if (way.bands_at_once > problem.bands)
    return not_applicable(fmt::format("{} bands at once need as many bands", way.bands_at_once),
                          fmt::format("bands={}", problem.bands), "use fewer at once or more bands");
  if (problem.sphere && variant.is_golden)
    return not_applicable("the golden copy transforms whole grids", {}, "leave cutoff out, or use another variant");
  if (Status s = check_memory(problem, variant, way, runtime); !s) return s.error();
  const std::int64_t begin = measure::now_ns();
  std::unique_ptr<fft::LineLibrary> library;
  if (!variant.is_golden) library = TRY(library_of(problem, runtime));
  const std::int64_t planned = measure::now_ns();
  Transforms transforms = TRY(transforms_of(problem, variant, way, library.get(), runtime));
  const double planning = measure::seconds_since(planned);
  Result<Grids> made = grids_of(problem, transforms, runtime.rank());
  if (Status s = runtime.agree_on(made); !s) return s.error();
  Grids& grids = *made;
  const double setup = measure::seconds_since(begin);

  const std::int64_t pairs = std::min(problem.transforms, request.most_iterations);
  runtime.processes().barrier();
  const std::int64_t start = measure::now_ns();
  Status done = Nothing{};
  for (std::int64_t pair = 0; done && pair < pairs; ++pair) {
    done = transforms.forward(grids.values, grids.transformed);
    if (done) done = transforms.backward(grids.transformed, grids.back);
  }
  if (Status s = runtime.agree(done); !s) return s.error();
  const std::vector<double> seconds = runtime.processes().largest({measure::seconds_since(start), setup, planning});

  const double points = problem.points(), all = 2 * static_cast<double>(pairs * problem.bands);
  const double flops = all * 5 * points * std::log2(std::max(2.0, points));
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
    facts["lines by"] = library->name();
    const double bytes = runtime.processes().total({transforms.bytes_sent()})[0];
    facts["bytes of messages a transform"] = bytes / static_cast<double>(problem.bands);
  }
  json answer = json::array();
  answer.push_back({"a transform", fmt::format("{:.4g} ms", 1e3 * seconds[0] / all)});
  if (!problem.sphere) {
    answer.push_back({"rate", fmt::format("{:.4g} GFLOPS", flops / seconds[0] * 1e-9)});
    answer.push_back({"ranks, rows x columns", fmt::format("{}x{}", problem.pencils.rows, problem.pencils.columns)});
  }
  if (library) answer.push_back({"lines by", library->name()});
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
  if (request.checks) found["checked"] = check_of(problem, transforms, grids, runtime);
  return found;
}

constexpr std::string_view exchanges[] = {"pairwise",  "linear",      "bruck",       "paced",
                                          "two_phase", "three_phase", "hierarchical"};
constexpr application::ApplicationOption options[] = {
    {"transforms", "pairs of a forward and a backward transform", "N", "10"},
    {"bands", "grids that are transformed in each", "N", "1"},
    {"cutoff",
     "sphere: the input is the frequencies of a sphere of a quarter of the shortest axis, or of this radius; none: a "
     "whole grid",
     "CUTOFF", "none"},
    {"decomposition", "of the grid: slab, pencil, rows x columns of ranks such as 4x2; auto: slabs while they suffice",
     "GRID", "auto"},
    {"exchange", "alltoall of the registry for messages", "NAME", "pairwise", exchanges},
    {"planning", "seconds that FFTW may measure for a plan; 0: estimate", "SECONDS", "1"},
    {"library", "FFTW, or a library with its interface, by path [default: the first that is found]", "PATH", ""}};

constexpr std::string_view usual[] = {"window", "fused"};

} // namespace

application::Application description() {
  return {
      .name = "fft3d",
      .summary = "Complex transforms in three dimensions, there and back, in slabs or pencils",
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
      .run = &run,
  };
}

} // namespace kumihimo::fft3d
