#include "distributed_fft/distributed_fft.hpp"

#include "distributed_fft/transpositions.hpp"
#include "measure/clock.hpp"
#include "threads/array.hpp"
#include "threads/team.hpp"

#include <algorithm>
#include <utility>

namespace kumihimo::distributed_fft {
namespace {

using application::KernelTimes, application::Runtime;
using fft::Brick, fft::Complex, fft::TransformDirection, fft::LineStage, fft::RankPencils, fft::PointBox,
    fft::RealBrick, fft::StageMemory;

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

// The stages of one direction, and what is between them.
class DistributedFft::Pipeline {
 public:
  // `reals`: along z; 0: the grid is complex.
  static Result<std::unique_ptr<Pipeline>> make(const RankPencils& spectrum, std::int64_t reals, std::int64_t bands,
                                                const TransformWay& way, TransformDirection direction,
                                                fft::LineLibrary& library, Runtime& runtime, RowAndColumn& groups,
                                                KernelTimes& times, TransformProfile& profile) {
    std::unique_ptr<Pipeline> made(
        new Pipeline(spectrum, way, bands, runtime, groups, times, way.profiles ? &profile : nullptr));
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
  int exchanges() const {
    int all = 0;
    for (std::size_t stage = 0; stage + 1 < axis_.size(); ++stage)
      all += moves_nothing(pencils_, axis_[stage], axis_[stage + 1]) ? 0 : 1;
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
  double bytes_counted() const {
    double all = 0;
    for (const Slot& slot : slots_)
      for (const auto& each : slot) all += each->bytes_counted();
    for (const auto& each : rest_) all += each->bytes_counted();
    return all;
  }

 private:
  using Slot = std::vector<std::unique_ptr<Transposition>>; // between stage s and s + 1
  Pipeline(const RankPencils& pencils, TransformWay way, std::int64_t bands, Runtime& runtime, RowAndColumn& groups,
           KernelTimes& times, TransformProfile* profile)
      : pencils_(pencils), way_(std::move(way)), bands_(bands), runtime_(runtime), groups_(groups), times_(times),
        profile_(profile) {
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
      const std::size_t before = axis_[stage], after = axis_[stage + 1];
      const TranspositionTask task = task_between(pencils_, way_.kind, runtime_.rank(), before, after, bands);
      if (moves_nothing(pencils_, before, after)) {
        Result<std::unique_ptr<Transposition>> local = make_local(pencils_.box(before, runtime_.rank()), bands);
        if (Status s = runtime_.agree_on(local); !s) return s.error();
        slot.push_back(std::move(*local));
      } else if (way_.pieces > 1 && way_.kind == ExchangeKind::messages && !way_.packs) {
        slot.push_back(TRY(make_pieces(task, stages_[stage].outer_axis(), way_, groups_.ranks_between(before, after))));
      } else {
        slot.push_back(TRY(make_transposition(task, way_, groups_.ranks_between(before, after))));
      }
    }
    return slot;
  }

  Status step(std::int64_t block, std::size_t stage, const void* in, void* out) {
    const std::int64_t first = block * way_.bands_at_once, bands = std::min(way_.bands_at_once, bands_ - first);
    Slot& slot = bands < way_.bands_at_once ? rest_ : slots_[static_cast<std::size_t>(block) % slots_.size()];
    Transposition* const before = stage > 0 ? slot[stage - 1].get() : nullptr;
    Transposition* const after = stage + 1 < stages_.size() ? slot[stage].get() : nullptr;
    if (before)
      if (Status s = times_.timed(exchange_row_, [&] { return finish(*before, profile_); }); !s) return s;
    if (after)
      if (Status s = reserve(*after, profile_); !s) return s;
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
    const std::int32_t pieces = after ? after->pieces() : 1;
    for (std::int32_t piece = 0; piece < pieces; ++piece) {
      for (std::int64_t band = 0; band < bands; ++band)
        if (Status s = run_lines(stage, read, written, band, blocks_of(stages_[stage], piece, pieces)); !s) return s;
      if (piece + 1 == pieces) break;
      if (Status s = start(*after, profile_, runtime_); !s) return s;
    }
    if (after && way_.packs) pack(packed, behind, bands);
    if (before) before->release();
    return after ? start(*after, profile_, runtime_) : Status(Nothing{});
  }

  static threads::IndexRange blocks_of(const LineStage& stage, std::int32_t piece, std::int32_t pieces) {
    const std::int64_t length = stage.box().length(stage.outer_axis());
    if (stage.blocks() == 0) return {};
    const threads::IndexRange part = threads::part(length, piece, pieces);
    const std::int64_t each = stage.blocks() / length;
    return {part.begin * each, part.end * each};
  }

  Status run_lines(std::size_t number, const StageMemory& from, const StageMemory& to, std::int64_t band,
                   const threads::IndexRange& blocks) {
    const LineStage& stage = stages_[number];
    fft::StageTimes inside;
    fft::StageTimes* const measured = profile_ ? &inside : nullptr;
    const std::int64_t begin = measure::now_ns();
    Status done = Nothing{}, moved = Nothing{};
    if (way_.overlaps)
      done = runtime_.beside_messages(blocks.size(), [&](const threads::IndexRange& piece) {
        stage.run(from, to, band, blocks.begin + piece.begin, blocks.begin + piece.end, measured);
        if (moved) moved = groups_.poll();
      });
    else
      stage.run(from, to, band, blocks.begin, blocks.end, measured);
    const std::int64_t all = measure::now_ns() - begin;
    times_.add(rows_[number], all);
    if (profile_) add_to_profile(inside, all);
    return done ? moved : done;
  }

  // What threads wait for each other counts as lines; beside messages what is no work of threads moved messages.
  void add_to_profile(const fft::StageTimes& inside, std::int64_t all) {
    const std::int64_t copies = inside.copies / threads::count(), lines = inside.lines / threads::count();
    const std::int64_t messages = way_.overlaps ? std::max<std::int64_t>(0, all - copies - lines) : 0;
    profile_->add(ProfilePart::copies, copies);
    profile_->add(ProfilePart::transferring, messages);
    profile_->add(ProfilePart::lines, all - copies - messages);
  }

  void pack(const Brick& dense, std::span<const Brick> to, std::int64_t bands) {
    timed_copies(pack_row_, [&] {
      for (std::int64_t band = 0; band < bands; ++band)
        for_each_plane(dense.box, [&](const PointBox& plane, std::int64_t place) {
          fft::scatter(dense.first.doubles + band * dense.band + place, plane, band, to);
        });
    });
  }
  void unpack(std::span<const Brick> from, const Brick& dense, std::int64_t bands) {
    timed_copies(unpack_row_, [&] {
      for (std::int64_t band = 0; band < bands; ++band)
        for_each_plane(dense.box, [&](const PointBox& plane, std::int64_t place) {
          fft::gather(from, band, plane, dense.first.doubles + band * dense.band + place);
        });
    });
  }
  template <class Copies>
  void timed_copies(std::size_t row, Copies copies) {
    const std::int64_t begin = measure::now_ns();
    copies();
    const std::int64_t all = measure::now_ns() - begin;
    times_.add(row, all);
    if (profile_) profile_->add(ProfilePart::packing, all);
  }

  using Packed = threads::ThreadedArray<Complex>;
  RankPencils pencils_;
  TransformWay way_;
  std::int64_t bands_;
  Runtime& runtime_;
  RowAndColumn& groups_;
  KernelTimes& times_;
  TransformProfile* profile_; // null: none is asked for
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
  std::unique_ptr<DistributedFft> made(new DistributedFft(TRY(RowAndColumn::make(pencils, way.kind, runtime))));
  const auto pipeline = [&](TransformDirection direction) {
    return Pipeline::make(spectrum_of(pencils, kind), kind == GridKind::real ? pencils.points[2] : 0, bands, way,
                          direction, library, runtime, made->groups_, made->times_, made->profile_);
  };
  made->forward_ = TRY(pipeline(TransformDirection::forward));
  made->backward_ = TRY(pipeline(TransformDirection::backward));
  return made;
}

DistributedFft::DistributedFft(RowAndColumn groups) : groups_(std::move(groups)) {}
DistributedFft::~DistributedFft() = default;

Status DistributedFft::forward(const void* grid, Complex* spectrum) { return forward_->run(grid, spectrum); }
Status DistributedFft::backward(const Complex* spectrum, void* grid) { return backward_->run(spectrum, grid); }
double DistributedFft::flops() const { return forward_->flops(); }
int DistributedFft::exchanges() const { return forward_->exchanges(); }
double DistributedFft::bytes_sent() const { return forward_->bytes_sent(); }
double DistributedFft::bytes_counted() const { return forward_->bytes_counted() + backward_->bytes_counted(); }

std::vector<PlannedExchange> planned_exchanges(const RankPencils& spectrum, const RowAndColumn& groups,
                                               std::int32_t rank, const TransformWay& way) {
  const std::vector<Axes> stages = stages_of(spectrum, TransformDirection::forward, way.block_bytes);
  std::vector<PlannedExchange> planned;
  for (std::size_t stage = 0; stage + 1 < stages.size(); ++stage) {
    const std::size_t before = stages[stage][0], after = stages[stage + 1][0];
    if (moves_nothing(spectrum, before, after)) continue;
    const TranspositionTask task = task_between(spectrum, way.kind, rank, before, after, way.bands_at_once);
    planned.push_back({blocks_of(task), groups.ranks_between(before, after)});
  }
  return planned;
}

namespace {

// Points of the buffers of one exchange of a rank, as many as doubles, for so many bands.
double exchanged_points(const RankPencils& pencils, std::size_t before, std::size_t after, std::int32_t rank,
                        std::int64_t bands, const TransformWay& way) {
  const PointBox own = pencils.box(before, rank), next = pencils.box(after, rank);
  const auto there = static_cast<double>(bands) * static_cast<double>(own.points());
  const auto here = static_cast<double>(bands) * static_cast<double>(next.points());
  if (moves_nothing(pencils, before, after)) return there;
  if (way.kind == ExchangeKind::window) return static_cast<double>(bands) * padded_points(own);
  double points = there + here;
  if (way.kind == ExchangeKind::messages) {
    const BlockTable given = blocks_of(task_between(pencils, way.kind, rank, before, after, bands));
    const Result<BlockTable> blocks = blocks_for(way, given);
    if (blocks && blocks->points != given.points) // all as long as the longest
      points = 2.0 * static_cast<double>(given.ranks) * static_cast<double>(blocks->points[0]);
    else if (takes_unequal_blocks(way)) // the block to itself stays where it is written
      points -= static_cast<double>(bands) * static_cast<double>(common_box(own, next).points());
  }
  return way.single_precision ? points / 2 : points;
}

} // namespace

double bytes_needed(const RankPencils& grid, GridKind kind, std::int32_t rank, std::int64_t bands,
                    const TransformWay& way) {
  const RankPencils pencils = spectrum_of(grid, kind);
  const std::int64_t at_once = std::clamp<std::int64_t>(way.bands_at_once, 1, bands), rest = bands % at_once;
  const double slots = way.overlaps && bands > at_once ? 2 : 1;
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
      const std::size_t axis = stages[stage][0], next = stages[stage + 1][0];
      points += slots * exchanged_points(pencils, axis, next, rank, at_once, way);
      if (rest > 0) points += exchanged_points(pencils, axis, next, rank, rest, way);
      if (way.packs)
        points += static_cast<double>(at_once) * (own + static_cast<double>(pencils.box(next, rank).points()));
    }
  }
  return points * sizeof(Complex);
}

} // namespace kumihimo::distributed_fft
