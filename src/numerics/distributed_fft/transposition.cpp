#include "distributed_fft/transposition.hpp"

#include "application/shared_window.hpp"
#include "collectives/registry.hpp"
#include "threads/array.hpp"

#include <limits>
#include <utility>

namespace kumihimo::distributed_fft {
namespace {

using application::Runtime;
using fft::Brick, fft::Complex, fft::PointBox;
using Array = threads::ThreadedArray<Complex>;

// The common boxes of one box with those of all ranks, one brick behind the other: as messages have them.
std::vector<Brick> bricks_of_messages(const PointBox& own, const std::vector<PointBox>& others, std::int64_t bands,
                                      Complex* first) {
  std::vector<Brick> bricks;
  for (const PointBox& other : others) {
    const PointBox both = fft::common_box(own, other);
    if (both.is_empty()) continue;
    bricks.push_back(fft::dense_brick(both, first));
    first += bands * both.points();
  }
  return bricks;
}

class LocalTransposition final : public Transposition {
 public:
  static Result<std::unique_ptr<Transposition>> make(const TranspositionTask& task, std::int32_t rank) {
    auto made = std::make_unique<LocalTransposition>();
    made->array_ = TRY(Array::zeros(task.points_before(rank)));
    made->target_ = {fft::dense_brick(task.before[static_cast<std::size_t>(rank)], made->array_.data())};
    made->source_ = made->target_;
    return std::unique_ptr<Transposition>(std::move(made));
  }

 private:
  Array array_;
};

class MessageTransposition final : public Transposition {
 public:
  static Result<std::unique_ptr<Transposition>> make(const TranspositionTask& task, const std::string& algorithm,
                                                     Runtime& runtime) {
    const std::int32_t rank = runtime.rank();
    auto made = std::make_unique<MessageTransposition>();
    Status mine = made->allocate(task, rank);
    if (Status s = runtime.agree(mine); !s) return s.error();
    const auto own = static_cast<std::size_t>(rank);
    made->target_ = bricks_of_messages(task.before[own], task.after, task.bands, made->sent_.data());
    made->source_ = bricks_of_messages(task.after[own], task.before, task.bands, made->received_.data());
    made->bytes_ = static_cast<double>(sizeof(Complex)) *
                   static_cast<double>(task.points_before(rank) -
                                       task.bands * fft::common_box(task.before[own], task.after[own]).points());
    const Result<Schedule> schedule = schedule_of(task, algorithm, runtime);
    if (Status s = runtime.agree_on(schedule); !s) return s.error();
    made->run_ = TRY(runtime.run_of(*schedule));
    return std::unique_ptr<Transposition>(std::move(made));
  }

  Status start() override { return run_->start({sent_.data(), received_.data()}); }
  Status finish() override { return run_->wait(); }
  double bytes_sent() const override { return bytes_; }

 private:
  Status allocate(const TranspositionTask& task, std::int32_t rank) {
    sent_ = TRY(Array::zeros(task.points_before(rank)));
    received_ = TRY(Array::zeros(task.points_after(rank)));
    return Nothing{};
  }

  // A point is two doubles.
  static Result<Schedule> schedule_of(const TranspositionTask& task, const std::string& algorithm, Runtime& runtime) {
    const Variant* const variant = TRY(Registry::standard().find(CollectiveKind::alltoall, algorithm));
    std::vector<std::int64_t> counts;
    for (const PointBox& before : task.before)
      for (const PointBox& after : task.after) {
        counts.push_back(2 * task.bands * fft::common_box(before, after).points());
      }
    const Collective equal = make_collective(CollectiveKind::alltoall, runtime.ranks(), 1);
    const Collective exchange = TRY(with_counts(equal, std::move(counts)));
    return variant->build(exchange, RankSpace::on_nodes(runtime.processes().node_of_rank()));
  }

  Array sent_, received_;
  std::unique_ptr<application::ProgramRun> run_;
  double bytes_ = 0;
};

class WindowTransposition final : public Transposition {
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

  void reserve() override { window_->wait(); }
  Status start() override {
    window_->arrive();
    return Nothing{};
  }
  Status finish() override {
    window_->wait();
    return Nothing{};
  }
  void release() override { window_->arrive(); }

 private:
  // A plane of a power of two would map all planes of a line to a few sets of the caches.
  static Brick padded(const PointBox& box, Complex* first) {
    constexpr std::int64_t padding = 20; // 5 cache lines
    Brick brick = fft::dense_brick(box, first);
    brick.plane += padding;
    brick.band = brick.plane * box.length(0);
    return brick;
  }

  std::unique_ptr<application::SharedWindow> window_;
};

} // namespace

Result<std::unique_ptr<Transposition>> make_local(const TranspositionTask& task, std::int32_t rank) {
  return LocalTransposition::make(task, rank);
}

Result<std::unique_ptr<Transposition>> make_messages(const TranspositionTask& task, const std::string& algorithm,
                                                     Runtime& runtime) {
  return MessageTransposition::make(task, algorithm, runtime);
}

Result<std::unique_ptr<Transposition>> make_window(const TranspositionTask& task, Runtime& runtime) {
  return WindowTransposition::make(task, runtime);
}

} // namespace kumihimo::distributed_fft
