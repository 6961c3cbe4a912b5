#include "fft/stage.hpp"

#include "measure/clock.hpp"
#include "threads/team.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kumihimo::fft {
namespace {

constexpr std::int64_t line_points = 4; // of a cache line

} // namespace

Result<LineStage> LineStage::make(LineLibrary& library, const PointBox& box, std::vector<std::size_t> axes,
                                  TransformDirection direction, std::int64_t block_bytes) {
  return make_real(library, box, 0, std::move(axes), direction, block_bytes);
}

Result<LineStage> LineStage::make_real(LineLibrary& library, const PointBox& box, std::int64_t reals,
                                       std::vector<std::size_t> axes, TransformDirection direction,
                                       std::int64_t block_bytes) {
  LineStage made;
  made.box_ = box;
  made.reals_ = reals;
  made.axes_ = std::move(axes);
  made.outer_axis_ = made.axes_[0] == 0 ? 1 : 0; // also of an empty box: all ranks must cut theirs alike
  if (box.is_empty()) return made;
  // Lines along x or y: one index of the other axis, and a tile of z. Lines along z: one x, and a tile of y; with whole
  // planes one x alone.
  const bool planes = made.axes_.size() == 2;
  made.tile_axis_ = planes ? 0 : made.axes_[0] == 2 ? 1 : 2;
  std::int64_t of_tile = 1; // points
  for (const std::size_t axis : made.axes_) of_tile *= box.length(axis);
  if (planes) {
    made.outer_ = 1;
    made.tiles_ = box.length(0);
  } else {
    const std::int64_t of_line = of_tile * static_cast<std::int64_t>(sizeof(Complex));
    const std::int64_t wanted = std::max(line_points, block_bytes / of_line / line_points * line_points);
    made.tile_ = std::min(wanted, box.length(made.tile_axis_));
    made.outer_ = box.length(made.outer_axis_);
    made.tiles_ = (box.length(made.tile_axis_) + made.tile_ - 1) / made.tile_;
  }
  for (int thread = 0; thread < threads::count(); ++thread)
    made.buffers_.push_back(TRY(threads::ThreadedArray<Complex>::unwritten(made.tile_ * of_tile)));
  made.plan_ = TRY(made.plan_of(library, made.tile_, direction));
  if (const std::int64_t rest = box.length(made.tile_axis_) % made.tile_; rest > 0)
    made.last_plan_ = TRY(made.plan_of(library, rest, direction));
  return made;
}

Result<std::unique_ptr<BlockPlan>> LineStage::plan_of(LineLibrary& library, std::int64_t tile,
                                                      TransformDirection direction) const {
  Triple lengths = {1, 1, 1};
  for (const std::size_t axis : axes_) lengths[axis] = box_.length(axis);
  lengths[tile_axis_] = tile;
  if (!is_real()) return library.plan(lengths, axes_, direction);
  lengths[2] = reals_;
  return library.plan_real(lengths, axes_, direction);
}

PointBox LineStage::of_reals(PointBox box) const {
  box.end[2] = reals_;
  return box;
}

PointBox LineStage::block(std::int64_t number) const {
  PointBox block = box_;
  const std::int64_t tile = number % tiles_;
  if (outer_axis_ != tile_axis_) {
    block.begin[outer_axis_] = box_.begin[outer_axis_] + number / tiles_;
    block.end[outer_axis_] = block.begin[outer_axis_] + 1;
  }
  block.begin[tile_axis_] = box_.begin[tile_axis_] + tile * tile_;
  block.end[tile_axis_] = std::min(block.begin[tile_axis_] + tile_, box_.end[tile_axis_]);
  return block;
}

void LineStage::run(const StageMemory& from, const StageMemory& to, std::int64_t band, std::int64_t first,
                    std::int64_t last, StageTimes* times) const {
  const auto now = [times] { return times ? measure::now_ns() : 0; };
  std::int64_t copies = 0, lines = 0;
#pragma omp parallel for schedule(static) num_threads(threads::count()) reduction(+ : copies, lines)
  for (std::int64_t number = first; number < last; ++number) {
    const PointBox each = block(number);
    Complex* const buffer = buffers_[static_cast<std::size_t>(omp_get_thread_num())].data();
    auto* const reals = reinterpret_cast<double*>(buffer);
    const std::int64_t row = 2 * each.length(2); // of reals, with the gap behind them
    const std::int64_t begin = now();
    if (from.reals)
      gather_reals(*from.reals, band, of_reals(each), row, reals);
    else
      gather(from.bricks, band, each, buffer);
    const std::int64_t gathered = now();
    (each.length(tile_axis_) == tile_ ? plan_ : last_plan_)->run(buffer);
    const std::int64_t transformed = now();
    if (to.reals)
      scatter_reals(reals, row, of_reals(each), band, *to.reals);
    else
      scatter(buffer, each, band, to.bricks);
    lines += transformed - gathered;
    copies += gathered - begin + now() - transformed;
  }
  if (!times) return;
  times->copies += copies;
  times->lines += lines;
}

double LineStage::flops() const {
  double all = 0;
  for (const std::size_t axis : axes_) {
    const bool halved = axis == 2 && is_real();
    const PointBox box = halved ? real_box() : box_;
    all += (halved ? 2.5 : 5.0) * static_cast<double>(box.points()) *
           std::log2(std::max<double>(2, static_cast<double>(box.length(axis))));
  }
  return all;
}

double LineStage::bytes() const {
  const double points = sizeof(Complex) * static_cast<double>(box_.points());
  return points + (is_real() ? sizeof(double) * static_cast<double>(real_box().points()) : points);
}

} // namespace kumihimo::fft
