#include "distributed_fft/distributed_fft.hpp"

#include "threads/array.hpp"
#include "threads/team.hpp"

#include <algorithm>
#include <utility>

namespace kumihimo::distributed_fft {
namespace {

using application::KernelTimes, application::Runtime, application::SubCommunicator;
using fft::Brick, fft::Complex, fft::TransformDirection, fft::LineStage, fft::RankPencils, fft::PointBox,
    fft::RealBrick, fft::StageMemory, fft::Triple;

using Axes = std::vector<std::size_t>;

// Planes of y and z are one block where they are not much longer than asked for.
constexpr std::int64_t longest_plane = 8; // blocks

// The axes of each stage: lines along z, y and x, or planes of y and z and then lines along x.
std::vector<Axes> stages_of(const RankPencils& pencils, TransformDirection direction, std::int64_t block_bytes) {
  const double plane =
      static_cast<double>(pencils.points[1]) * static_cast<double>(pencils.points[2]) * sizeof(Complex);
  const bool planes = pencils.columns == 1 && plane <= static_cast<double>(longest_plane * block_bytes);
  std::vector<Axes> stages = planes ? std::vector<Axes>{{1, 2}, {0}} : std::vector<Axes>{{2}, {1}, {0}};
  if (direction == TransformDirection::backward) std::reverse(stages.begin(), stages.end());
  return stages;
}

std::string name_of(const Axes& axes) {
  constexpr const char* names[] = {"lines along x", "lines along y", "lines along z"};
  return axes.size() == 2 ? "planes of y and z" : names[axes[0]];
}

std::string in_direction(std::string kernel, TransformDirection direction) {
  return kernel + (direction == TransformDirection::forward ? "" : ", back");
}

// Loops that pack and unpack: x by x over the threads.
template <class Copy>
void for_each_plane(const PointBox& box, Copy copy) {
#pragma omp parallel for schedule(static) num_threads(threads::count())
  for (std::int64_t x = box.begin[0]; x < box.end[0]; ++x) {
    PointBox plane = box;
    plane.begin[0] = x;
    plane.end[0] = x + 1;
    copy(plane, (x - box.begin[0]) * box.length(1) * box.length(2));
  }
}

} // namespace

// A window has one barrier, of all ranks.
Result<DistributedFft::RowAndColumn> DistributedFft::RowAndColumn::make(const RankPencils& pencils,
                                                                        const TransformWay& way, Runtime& runtime) {
  RowAndColumn made;
  if (pencils.rows == 1 || pencils.columns == 1 || way.through_window) return made;
  const std::int32_t row = runtime.rank() / pencils.columns, column = runtime.rank() % pencils.columns;
  made.row = TRY(SubCommunicator::make(TRY(runtime.processes().split(row))));
  made.column = TRY(SubCommunicator::make(TRY(runtime.processes().split(column))));
  return made;
}

Status DistributedFft::RowAndColumn::poll() {
  for (SubCommunicator* const each : {row.get(), column.get()})
    if (each)
      if (Status s = each->poll(); !s) return s;
  return Nothing{};
}

// The stages of one direction, and what is between them.
class DistributedFft::Pipeline {
 public:
  // `reals`: along z; 0: the grid is complex.
  static Result<std::unique_ptr<Pipeline>> make(const RankPencils& spectrum, std::int64_t reals, std::int64_t bands,
                                                const TransformWay& way, TransformDirection direction,
                                                fft::LineLibrary& library, Runtime& runtime, RowAndColumn& groups,
                                                KernelTimes& times) {
    std::unique_ptr<Pipeline> made(new Pipeline(spectrum, way, bands, runtime, groups, times));
    const Result<Nothing> stages = made->plan(direction, reals, library);
    if (Status s = runtime.agree_on(stages); !s) return s.error();
    const std::int64_t at_once = made->way_.bands_at_once, rest = bands % at_once;
    const std::int64_t slots = way.overlaps && bands > at_once ? 2 : 1;
    for (std::int64_t slot = 0; slot < slots; ++slot) made->slots_.push_back(TRY(made->slot_of(at_once)));
    if (rest > 0) made->rest_ = TRY(made->slot_of(rest));
    return made;
  }

  // Block k of the bands is in stage s at step k + s if exchanges go on beside stages: a block starts its exchange in
  // one step, and waits for it in the next one, after the stages of the blocks that follow it.
  Status run(const void* in, void* out) {
    const auto stages = static_cast<std::int64_t>(stages_.size());
    const std::int64_t blocks = (bands_ + way_.bands_at_once - 1) / way_.bands_at_once;
    if (!way_.overlaps) {
      for (std::int64_t block = 0; block < blocks; ++block)
        for (std::int64_t stage = 0; stage < stages; ++stage)
          if (Status s = step(block, static_cast<std::size_t>(stage), in, out); !s) return s;
      return Nothing{};
    }
    for (std::int64_t now = 0; now < blocks + stages - 1; ++now)
      for (std::int64_t stage = 0; stage < stages; ++stage)
        if (const std::int64_t block = now - stage; block >= 0 && block < blocks)
          if (Status s = step(block, static_cast<std::size_t>(stage), in, out); !s) return s;
    return Nothing{};
  }

  double flops() const {
    double all = 0;
    for (const LineStage& stage : stages_) all += static_cast<double>(bands_) * stage.flops();
    return all;
  }
  double bytes_sent() const {
    const std::int64_t rest = bands_ % way_.bands_at_once;
    double all = 0;
    for (const auto& each : slots_[0]) all += each->bytes_sent() * static_cast<double>(bands_ / way_.bands_at_once);
    if (rest > 0)
      for (const auto& each : rest_) all += each->bytes_sent();
    return all;
  }

 private:
  using Slot = std::vector<std::unique_ptr<Transposition>>; // between stage s and s + 1
  Pipeline(const RankPencils& pencils, TransformWay way, std::int64_t bands, Runtime& runtime, RowAndColumn& groups,
           KernelTimes& times)
      : pencils_(pencils), way_(std::move(way)), bands_(bands), runtime_(runtime), groups_(groups), times_(times) {
    way_.bands_at_once = std::clamp<std::int64_t>(way_.bands_at_once, 1, bands);
  }

  Result<Nothing> plan(TransformDirection direction, std::int64_t reals, fft::LineLibrary& library) {
    const std::vector<Axes> stages = stages_of(pencils_, direction, way_.block_bytes);
    for (const Axes& axes : stages) {
      const PointBox box = pencils_.box(axes[0], runtime_.rank());
      axis_.push_back(axes[0]);
      stages_.push_back(
          TRY(LineStage::make_real(library, box, axes.back() == 2 ? reals : 0, axes, direction, way_.block_bytes)));
      const LineStage& made = stages_.back();
      rows_.push_back(times_.declare(in_direction(name_of(axes), direction), {made.bytes(), made.flops()}));
      const bool first = packed_.empty(), last = packed_.size() + 1 == stages.size();
      const std::int64_t packed = way_.packs ? way_.bands_at_once * box.points() : 0;
      unpacked_.push_back(TRY(Packed::zeros(first ? 0 : packed)));
      packed_.push_back(TRY(Packed::zeros(last ? 0 : packed)));
    }
    exchange_row_ = times_.declare(in_direction("waiting for the exchange", direction), {});
    if (way_.packs) {
      pack_row_ = times_.declare(in_direction("pack", direction), {});
      unpack_row_ = times_.declare(in_direction("unpack", direction), {});
    }
    return Nothing{};
  }

  Result<Slot> slot_of(std::int64_t bands) {
    Slot slot;
    for (std::size_t stage = 0; stage + 1 < stages_.size(); ++stage) {
      const TranspositionTask task{pencils_.boxes(axis_[stage]), pencils_.boxes(axis_[stage + 1]), bands};
      if (task.moves_nothing()) {
        Result<std::unique_ptr<Transposition>> local = make_local(task, runtime_.rank());
        if (Status s = runtime_.agree_on(local); !s) return s.error();
        slot.push_back(std::move(*local));
      } else if (way_.through_window) {
        slot.push_back(TRY(make_window(task, runtime_)));
      } else {
        slot.push_back(TRY(messages_between(axis_[stage], axis_[stage + 1], bands)));
      }
    }
    return slot;
  }

  // Lines along z and y meet in rows of ranks, lines along y and x in columns.
  Result<std::unique_ptr<Transposition>> messages_between(std::size_t before, std::size_t after, std::int64_t bands) {
    const bool in_row = before == 2 || after == 2;
    TranspositionTask task{{}, {}, bands};
    for (const std::int32_t rank : in_row ? pencils_.row_of(runtime_.rank()) : pencils_.column_of(runtime_.rank())) {
      task.before.push_back(pencils_.box(before, rank));
      task.after.push_back(pencils_.box(after, rank));
    }
    SubCommunicator* const some = in_row ? groups_.row.get() : groups_.column.get();
    return make_messages(task, way_.exchange, some ? ExchangeRanks(runtime_, *some) : ExchangeRanks(runtime_));
  }

  Status step(std::int64_t block, std::size_t stage, const void* in, void* out) {
    const std::int64_t first = block * way_.bands_at_once, bands = std::min(way_.bands_at_once, bands_ - first);
    Slot& slot = bands < way_.bands_at_once ? rest_ : slots_[static_cast<std::size_t>(block) % slots_.size()];
    Transposition* const before = stage > 0 ? slot[stage - 1].get() : nullptr;
    Transposition* const after = stage + 1 < stages_.size() ? slot[stage].get() : nullptr;
    if (before)
      if (Status s = times_.timed(exchange_row_, [&] { return before->finish(); }); !s) return s;
    if (after)
      if (Status s = after->reserve(); !s) return s;
    const PointBox& box = stages_[stage].box();
    const std::int64_t points = box.points();
    // The input is not written.
    const Brick input = fft::dense_brick(box, static_cast<Complex*>(const_cast<void*>(in)) + first * points);
    const Brick output = fft::dense_brick(box, static_cast<Complex*>(out) + first * points);
    const PointBox real_box = stages_[stage].real_box();
    const std::int64_t first_real = first * real_box.points();
    const RealBrick reals_in{real_box, static_cast<double*>(const_cast<void*>(in)) + first_real};
    const RealBrick reals_out{real_box, static_cast<double*>(out) + first_real};
    const Brick packed = fft::dense_brick(box, packed_[stage].data());
    const Brick unpacked = fft::dense_brick(box, unpacked_[stage].data());
    std::span<const Brick> from = before ? before->source() : std::span<const Brick>(&input, 1);
    std::span<const Brick> to = after ? after->target() : std::span<const Brick>(&output, 1);
    if (before && way_.packs) {
      unpack(from, unpacked, bands);
      from = {&unpacked, 1};
    }
    const std::span<const Brick> behind = to;
    if (after && way_.packs) to = {&packed, 1};
    const bool is_real = stages_[stage].is_real();
    const StageMemory read{from, is_real && !before ? &reals_in : nullptr};
    const StageMemory written{to, is_real && !after ? &reals_out : nullptr};
    for (std::int64_t band = 0; band < bands; ++band)
      if (Status s = run_lines(stage, read, written, band); !s) return s;
    if (after && way_.packs) pack(packed, behind, bands);
    if (before) before->release();
    return after ? after->start() : Status(Nothing{});
  }

  Status run_lines(std::size_t number, const StageMemory& from, const StageMemory& to, std::int64_t band) {
    const LineStage& stage = stages_[number];
    return times_.timed(rows_[number], [&]() -> Status {
      if (way_.overlaps) {
        Status moved = Nothing{};
        const auto work = [&](const threads::IndexRange& piece) {
          stage.run(from, to, band, piece.begin, piece.end);
          if (moved) moved = groups_.poll();
        };
        if (Status s = runtime_.beside_messages(stage.blocks(), work); !s) return s;
        return moved;
      }
      stage.run(from, to, band, 0, stage.blocks());
      return Nothing{};
    });
  }

  void pack(const Brick& dense, std::span<const Brick> to, std::int64_t bands) {
    times_.timed(pack_row_, [&] {
      for (std::int64_t band = 0; band < bands; ++band)
        for_each_plane(dense.box, [&](const PointBox& plane, std::int64_t place) {
          fft::scatter(dense.first + band * dense.band + place, plane, band, to);
        });
      return 0;
    });
  }
  void unpack(std::span<const Brick> from, const Brick& dense, std::int64_t bands) {
    times_.timed(unpack_row_, [&] {
      for (std::int64_t band = 0; band < bands; ++band)
        for_each_plane(dense.box, [&](const PointBox& plane, std::int64_t place) {
          fft::gather(from, band, plane, dense.first + band * dense.band + place);
        });
      return 0;
    });
  }

  using Packed = threads::ThreadedArray<Complex>;
  RankPencils pencils_;
  TransformWay way_;
  std::int64_t bands_;
  Runtime& runtime_;
  RowAndColumn& groups_;
  KernelTimes& times_;
  std::vector<LineStage> stages_;
  std::vector<std::size_t> axis_;         // of each stage, whole on each rank
  std::vector<Packed> packed_, unpacked_; // of each stage, of the way that packs
  std::vector<Slot> slots_;
  Slot rest_; // of the last block of bands, if it has fewer
  std::vector<std::size_t> rows_;
  std::size_t exchange_row_ = 0, pack_row_ = 0, unpack_row_ = 0;
};

RankPencils spectrum_of(const RankPencils& grid, GridKind kind) {
  RankPencils spectrum = grid;
  if (kind == GridKind::real) spectrum.points[2] = fft::half_spectrum(grid.points[2]);
  return spectrum;
}

Result<std::unique_ptr<DistributedFft>> DistributedFft::make(const RankPencils& pencils, GridKind kind,
                                                             std::int64_t bands, const TransformWay& way,
                                                             fft::LineLibrary& library, Runtime& runtime) {
  std::unique_ptr<DistributedFft> made(new DistributedFft);
  made->groups_ = TRY(RowAndColumn::make(pencils, way, runtime));
  const auto pipeline = [&](TransformDirection direction) {
    return Pipeline::make(spectrum_of(pencils, kind), kind == GridKind::real ? pencils.points[2] : 0, bands, way,
                          direction, library, runtime, made->groups_, made->times_);
  };
  made->forward_ = TRY(pipeline(TransformDirection::forward));
  made->backward_ = TRY(pipeline(TransformDirection::backward));
  return made;
}

DistributedFft::~DistributedFft() = default;

Status DistributedFft::forward(const void* grid, Complex* spectrum) { return forward_->run(grid, spectrum); }
Status DistributedFft::backward(const Complex* spectrum, void* grid) { return backward_->run(spectrum, grid); }
double DistributedFft::flops() const { return forward_->flops(); }
double DistributedFft::bytes_sent() const { return forward_->bytes_sent(); }

double bytes_needed(const RankPencils& grid, GridKind kind, std::int32_t rank, std::int64_t bands,
                    const TransformWay& way) {
  const RankPencils pencils = spectrum_of(grid, kind);
  const std::int64_t at_once = std::clamp<std::int64_t>(way.bands_at_once, 1, bands), rest = bands % at_once;
  const double slots = way.overlaps && bands > at_once ? 2 : 1;
  const double exchanged = slots * static_cast<double>(at_once) + static_cast<double>(rest);
  double points = 0;
  for (const TransformDirection direction : {TransformDirection::forward, TransformDirection::backward}) {
    const std::vector<Axes> stages = stages_of(pencils, direction, way.block_bytes);
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      const PointBox before = pencils.box(stages[stage][0], rank);
      const auto own = static_cast<double>(before.points());
      const double block = std::max(static_cast<double>(way.block_bytes) / sizeof(Complex),
                                    stages[stage].size() == 2
                                        ? static_cast<double>(before.length(1)) * static_cast<double>(before.length(2))
                                        : 4 * static_cast<double>(pencils.points[stages[stage][0]]));
      points += std::min(block, own) * threads::count();
      if (stage + 1 == stages.size()) continue;
      const PointBox after = pencils.box(stages[stage + 1][0], rank);
      const auto next = static_cast<double>(after.points());
      const bool moves = pencils.boxes(stages[stage][0]) != pencils.boxes(stages[stage + 1][0]);
      points += exchanged * (!moves ? own : way.through_window ? padded_points(before) : own + next);
      if (way.packs) points += static_cast<double>(at_once) * (own + next);
    }
  }
  return points * sizeof(Complex);
}

} // namespace kumihimo::distributed_fft
