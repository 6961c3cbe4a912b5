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
using fft::Brick, fft::Complex, fft::TransformDirection, fft::LineStage, fft::RankPencils, fft::PointBox, fft::Triple;

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
  static Result<std::unique_ptr<Pipeline>> make(const RankPencils& pencils, std::int64_t bands, const TransformWay& way,
                                                TransformDirection direction, fft::LineLibrary& library,
                                                Runtime& runtime, KernelTimes& times, TransformProfile& profile) {
    std::unique_ptr<Pipeline> made(new Pipeline(way, bands, runtime, times, way.profiles ? &profile : nullptr));
    const Result<Nothing> stages =
        made->plan(stages_of(pencils, direction, way.block_bytes), pencils, direction, library);
    if (Status s = runtime.agree_on(stages); !s) return s.error();
    const std::int64_t at_once = made->way_.bands_at_once, rest = bands % at_once;
    const std::int64_t slots = way.overlaps && bands > at_once ? 2 : 1;
    for (std::int64_t slot = 0; slot < slots; ++slot) made->slots_.push_back(TRY(made->slot_of(at_once)));
    if (rest > 0) made->rest_ = TRY(made->slot_of(rest));
    return made;
  }

  // Block k of the bands is in stage s at step k + s if exchanges go on beside stages: a block starts its exchange in
  // one step, and waits for it in the next one, after the stages of the blocks that follow it.
  Status run(const Complex* in, Complex* out) {
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
    for (std::size_t stage = 0; stage + 1 < boxes_.size(); ++stage) all += boxes_[stage] == boxes_[stage + 1] ? 0 : 1;
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
  Pipeline(TransformWay way, std::int64_t bands, Runtime& runtime, KernelTimes& times, TransformProfile* profile)
      : way_(std::move(way)), bands_(bands), runtime_(runtime), times_(times), profile_(profile) {
    way_.bands_at_once = std::clamp<std::int64_t>(way_.bands_at_once, 1, bands);
  }

  Result<Nothing> plan(const std::vector<Axes>& stages, const RankPencils& pencils, TransformDirection direction,
                       fft::LineLibrary& library) {
    for (const Axes& axes : stages) {
      const PointBox box = pencils.box(axes[0], runtime_.rank());
      boxes_.push_back(pencils.boxes(axes[0]));
      stages_.push_back(TRY(LineStage::make(library, box, axes, direction, way_.block_bytes)));
      const double bytes = 2.0 * sizeof(Complex) * static_cast<double>(box.points());
      rows_.push_back(times_.declare(in_direction(name_of(axes), direction), {bytes, stages_.back().flops()}));
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
      const TranspositionTask task{boxes_[stage], boxes_[stage + 1], bands};
      if (task.moves_nothing()) {
        Result<std::unique_ptr<Transposition>> local = make_local(task, runtime_.rank());
        if (Status s = runtime_.agree_on(local); !s) return s.error();
        slot.push_back(std::move(*local));
      } else if (way_.pieces > 1 && way_.kind == ExchangeKind::messages && !way_.packs) {
        slot.push_back(TRY(make_pieces(task, stages_[stage].outer_axis(), way_, runtime_)));
      } else {
        slot.push_back(TRY(make_transposition(task, way_, runtime_)));
      }
    }
    return slot;
  }

  Status step(std::int64_t block, std::size_t stage, const Complex* in, Complex* out) {
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
    // It is not written.
    const Brick input = fft::dense_brick(box, const_cast<Complex*>(in) + first * points);
    const Brick output = fft::dense_brick(box, out + first * points);
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
    const std::int32_t pieces = after ? after->pieces() : 1;
    for (std::int32_t piece = 0; piece < pieces; ++piece) {
      for (std::int64_t band = 0; band < bands; ++band)
        if (Status s = run_lines(stage, from, to, band, blocks_of(stages_[stage], piece, pieces)); !s) return s;
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

  Status run_lines(std::size_t number, std::span<const Brick> from, std::span<const Brick> to, std::int64_t band,
                   const threads::IndexRange& blocks) {
    const LineStage& stage = stages_[number];
    fft::StageTimes inside;
    fft::StageTimes* const measured = profile_ ? &inside : nullptr;
    const std::int64_t begin = measure::now_ns();
    Status done = Nothing{};
    if (way_.overlaps)
      done = runtime_.beside_messages(blocks.size(), [&](const threads::IndexRange& piece) {
        stage.run(from, to, band, blocks.begin + piece.begin, blocks.begin + piece.end, measured);
      });
    else
      stage.run(from, to, band, blocks.begin, blocks.end, measured);
    const std::int64_t all = measure::now_ns() - begin;
    times_.add(rows_[number], all);
    if (profile_) add_to_profile(inside, all);
    return done;
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
  TransformWay way_;
  std::int64_t bands_;
  Runtime& runtime_;
  KernelTimes& times_;
  TransformProfile* profile_; // null: none is asked for
  std::vector<LineStage> stages_;
  std::vector<std::vector<PointBox>> boxes_; // of each stage, of each rank
  std::vector<Packed> packed_, unpacked_;    // of each stage, of the way that packs
  std::vector<Slot> slots_;
  Slot rest_; // of the last block of bands, if it has fewer
  std::vector<std::size_t> rows_;
  std::size_t exchange_row_ = 0, pack_row_ = 0, unpack_row_ = 0;
};

Result<std::unique_ptr<DistributedFft>> DistributedFft::make(const RankPencils& pencils, std::int64_t bands,
                                                             const TransformWay& way, fft::LineLibrary& library,
                                                             Runtime& runtime) {
  std::unique_ptr<DistributedFft> made(new DistributedFft);
  made->forward_ = TRY(
      Pipeline::make(pencils, bands, way, TransformDirection::forward, library, runtime, made->times_, made->profile_));
  made->backward_ = TRY(Pipeline::make(pencils, bands, way, TransformDirection::backward, library, runtime,
                                       made->times_, made->profile_));
  return made;
}

DistributedFft::~DistributedFft() = default;

Status DistributedFft::forward(const Complex* in, Complex* out) { return forward_->run(in, out); }
Status DistributedFft::backward(const Complex* in, Complex* out) { return backward_->run(in, out); }
double DistributedFft::flops() const { return forward_->flops(); }
int DistributedFft::exchanges() const { return forward_->exchanges(); }
double DistributedFft::bytes_sent() const { return forward_->bytes_sent(); }

std::vector<BlockTable> block_tables(const RankPencils& pencils, const TransformWay& way) {
  const std::vector<Axes> stages = stages_of(pencils, TransformDirection::forward, way.block_bytes);
  std::vector<BlockTable> tables;
  for (std::size_t stage = 0; stage + 1 < stages.size(); ++stage) {
    const TranspositionTask task{pencils.boxes(stages[stage][0]), pencils.boxes(stages[stage + 1][0]),
                                 way.bands_at_once};
    if (!task.moves_nothing()) tables.push_back(blocks_of(task));
  }
  return tables;
}

namespace {

// Points of the buffers of one exchange of a rank, as many as doubles, for so many bands.
double exchanged_points(const std::vector<PointBox>& before, const std::vector<PointBox>& after, std::int32_t rank,
                        std::int64_t bands, const TransformWay& way) {
  const PointBox& own = before[static_cast<std::size_t>(rank)];
  const auto there = static_cast<double>(bands) * static_cast<double>(own.points());
  const auto here = static_cast<double>(bands) * static_cast<double>(after[static_cast<std::size_t>(rank)].points());
  if (before == after) return there;
  if (way.kind == ExchangeKind::window) return static_cast<double>(bands) * padded_points(own);
  double points = there + here;
  if (way.kind == ExchangeKind::messages)
    if (const Result<BlockTable> blocks = blocks_for(way, blocks_of({before, after, bands})))
      points = static_cast<double>(begins_of(*blocks, rank, true).back() + begins_of(*blocks, rank, false).back());
  return way.single_precision ? points / 2 : points;
}

} // namespace

double bytes_needed(const RankPencils& pencils, std::int32_t rank, std::int64_t bands, const TransformWay& way) {
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
      const std::vector<PointBox> boxes = pencils.boxes(stages[stage][0]), next = pencils.boxes(stages[stage + 1][0]);
      points += slots * exchanged_points(boxes, next, rank, at_once, way);
      if (rest > 0) points += exchanged_points(boxes, next, rank, rest, way);
      if (way.packs)
        points +=
            static_cast<double>(at_once) * (own + static_cast<double>(next[static_cast<std::size_t>(rank)].points()));
    }
  }
  return points * sizeof(Complex);
}

} // namespace kumihimo::distributed_fft
