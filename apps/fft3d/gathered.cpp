#include "fft3d/gathered.hpp"

#include "distributed_fft/exchanges.hpp"
#include "distributed_fft/transpositions.hpp"
#include "fft/golden.hpp"

#include <algorithm>
#include <vector>

namespace kumihimo::fft3d {
namespace {

using application::Runtime;
using distributed_fft::BlockExchange, distributed_fft::Transposition;
using fft::Complex, fft::PointBox, fft::TransformDirection;

// Boxes, of complex numbers or of reals. Of a real grid's spectrum they have half of the frequencies.
class BoxSide final : public DistributedSide {
 public:
  // `points`: of all boxes together.
  static Result<std::unique_ptr<DistributedSide>> make(const FftProblem& problem, const std::vector<PointBox>& boxes,
                                                       const fft::Triple& points, bool has_reals, Runtime& runtime) {
    std::unique_ptr<BoxSide> made(new BoxSide(problem.pencils.points, has_reals));
    const auto rank = static_cast<std::size_t>(runtime.rank());
    std::vector<PointBox> on_rank_0(boxes.size());
    on_rank_0[0] = fft::whole_box(points);
    made->box_ = boxes[rank];
    made->is_root_ = rank == 0;
    made->is_half_ = points != problem.pencils.points;
    made->gather_ = TRY(exchange(boxes, on_rank_0, runtime));
    made->scatter_ = TRY(exchange(on_rank_0, boxes, runtime));
    Result<Grid> values = Grid::zeros(has_reals ? made->box_.points() : 0);
    if (Status s = runtime.agree_on(values); !s) return s.error();
    made->values_ = std::move(*values);
    return std::unique_ptr<DistributedSide>(std::move(made));
  }

  Status gather(const void* own, std::int64_t band, Complex* whole) override {
    const std::int64_t points = box_.points();
    const Complex* in = static_cast<const Complex*>(own) + band * points;
    if (has_reals_) {
      std::copy_n(static_cast<const double*>(own) + band * points, points, values_.data());
      in = values_.data();
    }
    fft::scatter(in, box_, 0, gather_->target());
    if (Status s = gather_->start(); !s) return s;
    if (Status s = gather_->finish(); !s) return s;
    if (!is_root_) return Nothing{};
    fft::gather(gather_->source(), 0, fft::whole_box(grid_), whole);
    if (is_half_) fft::golden::fill_other_half(grid_, whole);
    return Nothing{};
  }

  Status scatter(const Complex* whole, void* own, std::int64_t band) override {
    const std::int64_t points = box_.points();
    if (is_root_) fft::scatter(whole, fft::whole_box(grid_), 0, scatter_->target());
    if (Status s = scatter_->start(); !s) return s;
    if (Status s = scatter_->finish(); !s) return s;
    Complex* const out = has_reals_ ? values_.data() : static_cast<Complex*>(own) + band * points;
    fft::gather(scatter_->source(), 0, box_, out);
    if (!has_reals_) return Nothing{};
    double* const reals = static_cast<double*>(own) + band * points;
    for (std::int64_t place = 0; place < points; ++place) reals[place] = out[place].real();
    return Nothing{};
  }

 private:
  BoxSide(const fft::Triple& grid, bool has_reals) : grid_(grid), has_reals_(has_reals) {}
  static Result<std::unique_ptr<Transposition>> exchange(const std::vector<PointBox>& before,
                                                         const std::vector<PointBox>& after, Runtime& runtime) {
    if (before == after) return distributed_fft::make_local(before[static_cast<std::size_t>(runtime.rank())], 1);
    return distributed_fft::make_transposition({before, after, 1}, {}, runtime);
  }

  fft::Triple grid_;
  bool has_reals_, is_root_ = false, is_half_ = false;
  PointBox box_;
  Grid values_; // of reals
  std::unique_ptr<Transposition> gather_, scatter_;
};

// Coefficients of the columns that deal_columns() gives each rank.
class SphereSide final : public DistributedSide {
 public:
  static Result<std::unique_ptr<DistributedSide>> make(const fft::Sphere& sphere, Runtime& runtime) {
    std::unique_ptr<SphereSide> made(new SphereSide(sphere, deal_columns(sphere, runtime.ranks())));
    const auto ranks = static_cast<std::size_t>(runtime.ranks());
    distributed_fft::BlockTable to_0{runtime.ranks(), std::vector<std::int64_t>(ranks * ranks)}, from_0 = to_0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::int64_t coefficients = 0;
      for (const std::int32_t each : made->dealt_[rank]) coefficients += made->column(each).coefficients();
      to_0.points[rank * ranks] = from_0.points[rank] = coefficients;
      if (rank == static_cast<std::size_t>(runtime.rank())) made->own_ = coefficients;
    }
    made->is_root_ = runtime.rank() == 0;
    made->gather_ = TRY(distributed_fft::make_exchange(to_0, {}, runtime));
    made->scatter_ = TRY(distributed_fft::make_exchange(from_0, {}, runtime));
    return std::unique_ptr<DistributedSide>(std::move(made));
  }

  Status gather(const void* own, std::int64_t band, Complex* whole) override {
    fft::copy_points(gather_->block_to(0), static_cast<const Complex*>(own) + band * own_, own_);
    if (Status s = gather_->start(); !s) return s;
    if (Status s = gather_->finish(); !s) return s;
    if (!is_root_) return Nothing{};
    const auto [nx, ny, nz] = sphere_.points;
    std::fill_n(whole, nx * ny * nz, Complex(0));
    for (std::size_t rank = 0; rank < dealt_.size(); ++rank) {
      const Complex* next = gather_->block_from(static_cast<std::int32_t>(rank)).doubles;
      for (const std::int32_t each : dealt_[rank]) {
        fft::expand(column(each), next, whole + first_of(column(each)), nz);
        next += column(each).coefficients();
      }
    }
    return Nothing{};
  }

  Status scatter(const Complex* whole, void* own, std::int64_t band) override {
    for (std::size_t rank = 0; is_root_ && rank < dealt_.size(); ++rank) {
      Complex* next = scatter_->block_to(static_cast<std::int32_t>(rank)).doubles;
      for (const std::int32_t each : dealt_[rank]) {
        fft::restrict_to(column(each), whole + first_of(column(each)), sphere_.points[2], next);
        next += column(each).coefficients();
      }
    }
    if (Status s = scatter_->start(); !s) return s;
    if (Status s = scatter_->finish(); !s) return s;
    fft::copy_points(static_cast<Complex*>(own) + band * own_, scatter_->block_from(0), own_);
    return Nothing{};
  }

 private:
  SphereSide(const fft::Sphere& sphere, std::vector<std::vector<std::int32_t>> dealt)
      : sphere_(sphere), dealt_(std::move(dealt)) {}
  const fft::WaveColumn& column(std::int32_t number) const { return sphere_.columns[static_cast<std::size_t>(number)]; }
  std::int64_t first_of(const fft::WaveColumn& column) const { // of its line in the whole grid
    return (column.x * sphere_.points[1] + column.y) * sphere_.points[2];
  }

  const fft::Sphere& sphere_;
  std::vector<std::vector<std::int32_t>> dealt_; // columns of each rank
  std::int64_t own_ = 0;                         // coefficients of a band
  bool is_root_ = false;
  std::unique_ptr<BlockExchange> gather_, scatter_;
};

} // namespace

Result<std::unique_ptr<GatheredTransform>> GatheredTransform::make(const FftProblem& problem, Runtime& runtime) {
  std::unique_ptr<GatheredTransform> made(new GatheredTransform(problem));
  const fft::Triple& n = problem.pencils.points;
  Result<Grid> whole = Grid::zeros(runtime.rank() == 0 ? n[0] * n[1] * n[2] : 0);
  if (Status s = runtime.agree_on(whole); !s) return s.error();
  made->whole_ = std::move(*whole);
  made->row_ = made->times_.declare("golden copy", {});
  if (problem.sphere) {
    made->sides_[0] = TRY(SphereSide::make(*problem.sphere, runtime));
    made->sides_[1] = TRY(BoxSide::make(problem, problem.parts_of_z(runtime.ranks()), n, false, runtime));
    return made;
  }
  const fft::RankPencils spectrum = problem.spectrum();
  made->sides_[0] = TRY(BoxSide::make(problem, problem.pencils.boxes(2), n, problem.is_real(), runtime));
  made->sides_[1] = TRY(BoxSide::make(problem, spectrum.boxes(0), spectrum.points, false, runtime));
  return made;
}

// Coefficients are transformed to the grid by the sum with the other sign.
Status GatheredTransform::transform(std::size_t from, const void* in, void* out) {
  const bool is_forward = (from == 0) == !problem_.sphere;
  const TransformDirection direction = is_forward ? TransformDirection::forward : TransformDirection::backward;
  for (std::int64_t band = 0; band < problem_.bands; ++band) {
    if (Status s = sides_[from]->gather(in, band, whole_.data()); !s) return s;
    times_.timed(row_, [&] {
      if (whole_.size() > 0) fft::golden::transform_of_any_size(problem_.pencils.points, direction, whole_.data());
      return 0;
    });
    if (Status s = sides_[1 - from]->scatter(whole_.data(), out, band); !s) return s;
  }
  return Nothing{};
}

} // namespace kumihimo::fft3d
