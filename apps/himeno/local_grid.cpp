#include "himeno/local_grid.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kumihimo::himeno {
namespace {

using application::RankGrid, application::Runtime;

bool is_wavefront(const HimenoVariant& variant) { return !variant.sweep && !variant.upload; }

// The frame's axes x, y, z are k, j, i.
Triple reversed(const Triple& t) { return {t[2], t[1], t[0]}; }

GridShape shape_of(const Triple& points, const RankGrid& ranks, std::int32_t rank, std::int64_t layers) {
  GridShape shape{points, {}, {}, layers};
  const Triple inside = reversed({points[0] - 2, points[1] - 2, points[2] - 2});
  const auto part = ranks.part(inside, rank);
  for (std::size_t a = 0; a < 3; ++a) {
    shape.first[a] = part[2 - a].begin;
    shape.cells[a] = part[2 - a].size();
  }
  return shape;
}

} // namespace

Result<std::unique_ptr<LocalGrid>> LocalGrid::make(const Triple& points, bool varied, const HimenoVariant& variant,
                                                   const ParameterValues& parameters, Runtime& runtime) {
  std::unique_ptr<LocalGrid> made(new LocalGrid(variant, runtime));
  made->ranks_ = TRY(runtime.grid(reversed({points[0] - 2, points[1] - 2, points[2] - 2})));
  if (variant.upload && runtime.ranks() > 1)
    return not_applicable(fmt::format("the variant {} runs on one rank", variant.name), {}, "use --ranks 1");
  std::int64_t layers = 1;
  if (is_wavefront(variant)) {
    made->wavefront_.levels = static_cast<int>(parameters.at("levels"));
    made->wavefront_.rows = parameters.at("rows");
    if (runtime.ranks() > 1) layers = made->wavefront_.levels;
  }
  GridShape shape = shape_of(points, made->ranks_, runtime.rank(), layers);
  shape.varied = varied;
  const std::array<std::int32_t, 3> at = made->ranks_.coordinates(runtime.rank());
  Status fits = Nothing{};
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int32_t along = made->ranks_.ranks[2 - a];
    made->wavefront_.has_neighbour[2 * a] = at[2 - a] > 0;
    made->wavefront_.has_neighbour[2 * a + 1] = at[2 - a] + 1 < along;
    if (along > 1 && shape.cells[a] < layers)
      fits = not_applicable(fmt::format("{} levels need as many cells of a rank along each axis", layers),
                            shape.cells[a], "use fewer levels or ranks");
  }
  if (fits) fits = runtime.check_memory(HimenoGrid::bytes(shape));
  if (Status s = runtime.agree(fits); !s) return s.error();
  Result<HimenoGrid> grid = HimenoGrid::make(shape);
  if (Status s = runtime.agree_on(grid); !s) return s.error();
  made->grid_ = std::move(*grid);
  Halo halo;
  halo.cells = reversed(shape.cells);
  halo.layers.fill(layers);
  halo.padding = made->grid_.padding();
  halo.points = 27;
  halo.type = DataType::float32;
  halo.periodic.fill(false);
  made->halo_ = TRY(runtime.halo(halo, made->ranks_));
  made->gosa_.resize(static_cast<std::size_t>(made->grid_.rows() * made->wavefront_.levels));
  made->declare_kernels();
  if (variant.upload)
    made->device_ = TRY(made->times_.timed(made->upload_row_, [&] { return variant.upload(made->grid_); }));
  return made;
}

void LocalGrid::declare_kernels() {
  const auto cells = static_cast<double>(grid_.all().cells());
  // A pass reads the coefficients and p once for all its levels.
  sweep_row_ = times_.declare("sweep", {bytes_of_cell * cells / wavefront_.levels, flops_of_cell * cells});
  if (variant_.copies_back) copy_row_ = times_.declare("copy back", {12 * cells, 0});
  if (runtime_.ranks() > 1) ghosts_row_ = times_.declare("waiting for ghosts", {});
  if (!variant_.upload) return;
  upload_row_ = times_.declare("copy to the device", {}, true);
  download_row_ = times_.declare("copy from the device", {}, true);
}

HimenoBox LocalGrid::inner_box() const {
  HimenoBox inner = grid_.all();
  for (std::size_t a = 0; a < 3; ++a) {
    inner.begin[a] += wavefront_.has_neighbour[2 * a];
    inner.end[a] -= wavefront_.has_neighbour[2 * a + 1];
  }
  return inner;
}

// All cells that are not in the inner box, each in one box.
std::vector<HimenoBox> LocalGrid::outer_boxes(const HimenoBox& inner) const {
  std::vector<HimenoBox> boxes;
  HimenoBox rest = grid_.all();
  if (inner.is_empty()) return {rest};
  for (std::size_t a = 0; a < 3; ++a) {
    HimenoBox low = rest, high = rest;
    low.end[a] = rest.begin[a] = inner.begin[a];
    high.begin[a] = rest.end[a] = inner.end[a];
    for (const HimenoBox& each : {low, high})
      if (!each.is_empty()) boxes.push_back(each);
  }
  return boxes;
}

void LocalGrid::sweep_timed(const HimenoBox& box) {
  const std::int64_t begin = measure::now_ns();
  variant_.sweep(grid_, box, gosa_.data());
  times_.add(sweep_row_, 0, measure::seconds_since(begin));
}

Status LocalGrid::sweep(double* gosa) {
  std::fill(gosa_.begin(), gosa_.end(), 0.0);
  if (runtime_.ranks() == 1) {
    sweep_timed(grid_.all());
  } else {
    if (Status s = halo_->start(grid_.p); !s) return s;
    const HimenoBox inner = inner_box();
    const auto sweep_planes = [&](const threads::IndexRange& planes) {
      HimenoBox piece = inner;
      piece.begin[0] = inner.begin[0] + planes.begin;
      piece.end[0] = inner.begin[0] + planes.end;
      sweep_timed(piece);
    };
    if (Status s = runtime_.beside_messages(inner.is_empty() ? 0 : inner.length(0), sweep_planes); !s) return s;
    if (Status s = times_.timed(ghosts_row_, [&] { return halo_->wait(); }); !s) return s;
    for (const HimenoBox& box : outer_boxes(inner)) sweep_timed(box);
  }
  times_.add(sweep_row_, 1, 0);
  const std::int64_t begin = measure::now_ns();
  variant_.finish(grid_);
  if (variant_.copies_back) times_.add(copy_row_, measure::now_ns() - begin);
  *gosa = std::accumulate(gosa_.begin(), gosa_.end(), 0.0);
  return Nothing{};
}

Status LocalGrid::pass(int levels, double* gosa) {
  if (runtime_.ranks() > 1)
    if (Status s = times_.timed(ghosts_row_, [&] { return halo_->run(grid_.p); }); !s) return s;
  const std::int64_t begin = measure::now_ns();
  Wavefront how = wavefront_;
  how.levels = levels;
  run_wavefront(grid_, how, gosa_.data());
  times_.add(sweep_row_, levels, measure::seconds_since(begin));
  for (int level = 0; level < levels; ++level)
    gosa[level] =
        std::accumulate(gosa_.begin() + level * grid_.rows(), gosa_.begin() + (level + 1) * grid_.rows(), 0.0);
  return Nothing{};
}

Result<std::vector<double>> LocalGrid::run(std::int64_t sweeps) {
  std::vector<double> gosa(static_cast<std::size_t>(sweeps));
  if (device_) {
    const std::int64_t begin = measure::now_ns();
    TRY(device_->run(sweeps, gosa.data()));
    times_.add(sweep_row_, sweeps, measure::seconds_since(begin));
  }
  for (std::int64_t n = 0; n < sweeps && !device_;) {
    const auto levels = static_cast<int>(std::min<std::int64_t>(wavefront_.levels, sweeps - n));
    if (Status s = is_wavefront(variant_) ? pass(levels, &gosa[static_cast<std::size_t>(n)])
                                          : sweep(&gosa[static_cast<std::size_t>(n)]);
        !s)
      return s.error();
    n += levels;
  }
  if (Status s = runtime_.sums().sum(gosa); !s) return s.error(); // one reduction for all sweeps
  return gosa;
}

void LocalGrid::list_state(StateList& list) {
  const GridShape& shape = grid_.shape();
  StateGrid p;
  p.element_bytes = sizeof(float);
  p.cells = reversed({shape.points[0] - 2, shape.points[1] - 2, shape.points[2] - 2});
  p.ranks = ranks_.ranks;
  p.begin = reversed(shape.first);
  p.size = reversed(shape.cells);
  p.first = reinterpret_cast<std::byte*>(grid_.p + grid_.at(0, 0, 0));
  p.row = grid_.row();
  p.plane = grid_.plane();
  list.grid("p", p);
}

Status LocalGrid::take_state() {
  if (!device_) return Nothing{};
  device_.reset(); // its memory first
  device_ = TRY(times_.timed(upload_row_, [&] { return variant_.upload(grid_); }));
  return Nothing{};
}

Status LocalGrid::download() {
  if (!device_) return Nothing{};
  return times_.timed(download_row_, [&] { return device_->download(); });
}

} // namespace kumihimo::himeno
