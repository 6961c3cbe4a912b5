#include "distributed_fft/transpositions.hpp"

#include "distributed_fft/exchanges.hpp"
#include "distributed_fft/library_exchange.hpp"
#include "distributed_fft/through_window.hpp"
#include "threads/array.hpp"
#include "threads/partition.hpp"

#include <utility>

namespace kumihimo::distributed_fft {
namespace {

using application::Runtime;
using fft::Brick, fft::Complex, fft::PointBox;
using Array = threads::ThreadedArray<Complex>;

constexpr std::int64_t padding = 20; // 5 cache lines

// The common boxes of one box with those of all ranks, each dense where first(rank) says.
template <class First>
std::vector<Brick> bricks_of_blocks(const PointBox& own, const std::vector<PointBox>& others, First first) {
  std::vector<Brick> bricks;
  for (std::size_t rank = 0; rank < others.size(); ++rank)
    if (const PointBox both = fft::common_box(own, others[rank]); !both.is_empty())
      bricks.push_back(fft::dense_brick(both, first(static_cast<std::int32_t>(rank))));
  return bricks;
}

class LocalTransposition final : public Transposition {
 public:
  static Result<std::unique_ptr<Transposition>> make(const PointBox& box, std::int64_t bands) {
    auto made = std::make_unique<LocalTransposition>();
    made->array_ = TRY(Array::zeros(bands * box.points()));
    made->target_ = {fft::dense_brick(box, made->array_.data())};
    made->source_ = made->target_;
    return std::unique_ptr<Transposition>(std::move(made));
  }

 private:
  Array array_;
};

// Through blocks, whatever carries them.
class BlockTransposition final : public Transposition {
 public:
  static Result<std::unique_ptr<Transposition>> make(const TranspositionTask& task, const TransformWay& way,
                                                     ExchangeRanks ranks) {
    auto made = std::make_unique<BlockTransposition>();
    made->exchange_ = TRY(make_exchange(blocks_of(task), way, ranks));
    BlockExchange& exchange = *made->exchange_;
    const auto own = static_cast<std::size_t>(ranks.rank());
    made->target_ =
        bricks_of_blocks(task.before[own], task.after, [&](std::int32_t rank) { return exchange.block_to(rank); });
    made->source_ =
        bricks_of_blocks(task.after[own], task.before, [&](std::int32_t rank) { return exchange.block_from(rank); });
    return std::unique_ptr<Transposition>(std::move(made));
  }

  Status reserve() override { return exchange_->reserve(); }
  Status start() override { return exchange_->start(); }
  Status finish() override { return exchange_->finish(); }
  void release() override { exchange_->release(); }
  double bytes_sent() const override { return exchange_->bytes_sent(); }
  double bytes_counted() const override { return exchange_->bytes_counted(); }

 private:
  std::unique_ptr<BlockExchange> exchange_;
};

// Several, one for each piece.
class PieceTransposition final : public Transposition {
 public:
  static Result<std::unique_ptr<Transposition>> make(const TranspositionTask& task, std::size_t axis,
                                                     const TransformWay& way, ExchangeRanks ranks) {
    auto made = std::make_unique<PieceTransposition>();
    for (std::int64_t piece = 0; piece < way.pieces; ++piece) {
      TranspositionTask of_piece = task;
      for (PointBox& box : of_piece.before) {
        const threads::IndexRange part = threads::part(box.length(axis), piece, way.pieces);
        box.end[axis] = box.begin[axis] + part.end;
        box.begin[axis] += part.begin;
      }
      made->pieces_.push_back(TRY(BlockTransposition::make(of_piece, way, ranks)));
      const Transposition& last = *made->pieces_.back();
      made->target_.insert(made->target_.end(), last.target().begin(), last.target().end());
      made->source_.insert(made->source_.end(), last.source().begin(), last.source().end());
    }
    return std::unique_ptr<Transposition>(std::move(made));
  }

  Status start() override { return pieces_[started_++]->start(); }
  Status finish() override {
    started_ = 0;
    for (const auto& each : pieces_)
      if (Status s = each->finish(); !s) return s;
    return Nothing{};
  }
  double bytes_sent() const override {
    double all = 0;
    for (const auto& each : pieces_) all += each->bytes_sent();
    return all;
  }
  double bytes_counted() const override {
    double all = 0;
    for (const auto& each : pieces_) all += each->bytes_counted();
    return all;
  }
  std::int32_t pieces() const override { return static_cast<std::int32_t>(pieces_.size()); }

 private:
  std::vector<std::unique_ptr<Transposition>> pieces_;
  std::size_t started_ = 0;
};

class WindowTransposition final : public ThroughWindow<Transposition> {
 public:
  static Result<std::unique_ptr<Transposition>> make(const TranspositionTask& task, Runtime& runtime) {
    const auto rank = static_cast<std::size_t>(runtime.rank());
    auto made = std::make_unique<WindowTransposition>();
    const Brick of_bytes = padded(task.before[rank], nullptr);
    made->window_ = TRY(application::SharedWindow::make(
        runtime.processes(), task.bands * of_bytes.band * static_cast<std::int64_t>(sizeof(Complex))));
    for (std::int32_t other = 0; other < runtime.ranks(); ++other) {
      const PointBox& before = task.before[static_cast<std::size_t>(other)];
      const Brick theirs = padded(before, reinterpret_cast<Complex*>(made->window_->part(other)));
      if (other == runtime.rank()) made->target_ = {theirs};
      const PointBox both = fft::common_box(before, task.after[rank]);
      if (!both.is_empty()) made->source_.push_back(fft::part_of(theirs, both));
    }
    made->release(); // nobody reads at first
    return std::unique_ptr<Transposition>(std::move(made));
  }

 private:
  static Brick padded(const PointBox& box, Complex* first) {
    Brick brick = fft::dense_brick(box, first);
    brick.plane += padding;
    brick.band = brick.plane * box.length(0);
    return brick;
  }
};

} // namespace

double padded_points(const PointBox& box) {
  const double plane = static_cast<double>(box.length(1)) * static_cast<double>(box.length(2));
  return static_cast<double>(box.length(0)) * (plane + padding);
}

Result<std::unique_ptr<Transposition>> make_local(const PointBox& box, std::int64_t bands) {
  return LocalTransposition::make(box, bands);
}

Result<std::unique_ptr<Transposition>> make_pieces(const TranspositionTask& task, std::size_t axis,
                                                   const TransformWay& way, ExchangeRanks ranks) {
  return PieceTransposition::make(task, axis, way, ranks);
}

Result<std::unique_ptr<Transposition>> make_transposition(const TranspositionTask& task, const TransformWay& way,
                                                          ExchangeRanks ranks) {
  if (way.kind == ExchangeKind::window && !way.single_precision) return WindowTransposition::make(task, ranks.all());
  if (way.kind == ExchangeKind::library) return exchange_by_library(task, way, ranks);
  return BlockTransposition::make(task, way, ranks);
}

} // namespace kumihimo::distributed_fft
