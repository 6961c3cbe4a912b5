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
  LineStage made;
  made.box_ = box;
  made.axes_ = std::move(axes);
  made.outer_axis_ = made.axes_[0] == 0 ? 1 : 0; // also of an empty box: all ranks must cut theirs alike
  if (box.is_empty()) return made;
  // Lines along x or y: one index of the other axis, and a tile of z. Lines along z: one x, and a tile of y; with whole
  // planes one x alone.
  const bool planes = made.axes_.size() == 2;
  made.tile_axis_ = planes ? 0 : made.axes_[0] == 2 ? 1 : 2;
  Triple lengths = {1, 1, 1};
  for (const std::size_t axis : made.axes_) lengths[axis] = box.length(axis);
  if (planes) {
    made.outer_ = 1;
    made.tiles_ = box.length(0);
  } else {
    const std::int64_t of_line = lengths[made.axes_[0]] * static_cast<std::int64_t>(sizeof(Complex));
    const std::int64_t wanted = std::max(line_points, block_bytes / of_line / line_points * line_points);
    made.tile_ = std::min(wanted, box.length(made.tile_axis_));
    made.outer_ = box.length(made.outer_axis_);
    made.tiles_ = (box.length(made.tile_axis_) + made.tile_ - 1) / made.tile_;
  }
  lengths[made.tile_axis_] = made.tile_;
  const std::int64_t points = lengths[0] * lengths[1] * lengths[2];
  for (int thread = 0; thread < threads::count(); ++thread)
    made.buffers_.push_back(TRY(threads::ThreadedArray<Complex>::unwritten(points)));
  made.plan_ = TRY(library.plan(lengths, made.axes_, direction));
  if (const std::int64_t rest = box.length(made.tile_axis_) % made.tile_; rest > 0) {
    lengths[made.tile_axis_] = rest;
    made.last_plan_ = TRY(library.plan(lengths, made.axes_, direction));
  }
  return made;
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

void LineStage::run(std::span<const Brick> from, std::span<const Brick> to, std::int64_t band, std::int64_t first,
                    std::int64_t last, StageTimes* times) const {
  const auto now = [times] { return times ? measure::now_ns() : 0; };
  std::int64_t copies = 0, lines = 0;
#pragma omp parallel for schedule(static) num_threads(threads::count()) reduction(+ : copies, lines)
  for (std::int64_t number = first; number < last; ++number) {
    const PointBox each = block(number);
    Complex* const buffer = buffers_[static_cast<std::size_t>(omp_get_thread_num())].data();
    const std::int64_t begin = now();
    gather(from, band, each, buffer);
    const std::int64_t gathered = now();
    (each.length(tile_axis_) == tile_ ? plan_ : last_plan_)->run(buffer);
    const std::int64_t transformed = now();
    scatter(buffer, each, band, to);
    lines += transformed - gathered;
    copies += gathered - begin + now() - transformed;
  }
  if (!times) return;
  times->copies += copies;
  times->lines += lines;
}

double LineStage::flops() const {
  double all = 0;
  for (const std::size_t axis : axes_)
    all +=
        5 * static_cast<double>(box_.points()) * std::log2(std::max<double>(2, static_cast<double>(box_.length(axis))));
  return all;
}

} // namespace kumihimo::fft
