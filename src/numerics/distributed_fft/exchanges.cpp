#include "distributed_fft/exchanges.hpp"

#include "distributed_fft/leader_exchange.hpp"
#include "distributed_fft/point_buffer.hpp"
#include "distributed_fft/through_window.hpp"

#include <utility>

namespace kumihimo::distributed_fft {
namespace {

using application::Runtime;
using fft::Complex, fft::PointPointer;

class MessageExchange final : public BlockExchange {
 public:
  static Result<std::unique_ptr<BlockExchange>> make(const BlockTable& given, const TransformWay& way,
                                                     ExchangeRanks ranks) {
    auto made = std::make_unique<MessageExchange>();
    const std::int32_t rank = ranks.rank();
    const Result<BlockTable> found = blocks_for(way, given);
    if (Status s = ranks.all().agree_on(found); !s) return s.error();
    BlockTable table = *found;
    const std::int64_t own = table.at(rank, rank);
    made->rank_ = rank;
    made->has_own_ = ranks.ranks() == 1 || takes_unequal_blocks(way);
    if (made->has_own_)
      for (std::int32_t each = 0; each < table.ranks; ++each) table.at(each, each) = 0;
    made->first_sent_ = begins_of(table, rank, true);
    made->first_received_ = begins_of(table, rank, false);
    if (Status s = ranks.all().agree(made->allocate(way.single_precision, ranks.ranks() > 1, made->has_own_ ? own : 0));
        !s)
      return s.error();
    if (ranks.ranks() == 1) return std::unique_ptr<BlockExchange>(std::move(made));
    made->bytes_ = static_cast<double>(point_bytes(way.single_precision)) *
                   static_cast<double>(made->first_sent_.back() - table.at(rank, rank));
    const Result<Schedule> schedule = alltoall_of(table, way, ranks.space());
    if (Status s = ranks.all().agree_on(schedule); !s) return s.error();
    made->run_ = TRY(ranks.run_of(*schedule));
    return std::unique_ptr<BlockExchange>(std::move(made));
  }

  PointPointer block_to(std::int32_t rank) override {
    return sent_.at(is_own(rank) ? first_sent_.back() : first_sent_[static_cast<std::size_t>(rank)]);
  }
  PointPointer block_from(std::int32_t rank) override {
    return is_own(rank) ? block_to(rank) : received_.at(first_received_[static_cast<std::size_t>(rank)]);
  }
  Status start() override { return run_ ? run_->start({sent_.data(), received_.data()}) : Status(Nothing{}); }
  Status finish() override { return run_ ? run_->wait() : Status(Nothing{}); }
  double bytes_sent() const override { return bytes_; }
  double bytes_counted() const override { return run_ ? static_cast<double>(run_->bytes_sent()) : 0; }

 private:
  bool is_own(std::int32_t rank) const { return has_own_ && rank == rank_; }
  Status allocate(bool single_precision, bool receives, std::int64_t own) {
    sent_ = TRY(PointBuffer::zeros(first_sent_.back() + own, single_precision));
    if (receives) received_ = TRY(PointBuffer::zeros(first_received_.back(), single_precision));
    return Nothing{};
  }

  std::int32_t rank_ = 0;
  bool has_own_ = false; // a block to itself stays where it is written, behind those that are sent: nothing copies it
  PointBuffer sent_, received_;
  std::vector<std::int64_t> first_sent_, first_received_;
  std::unique_ptr<application::ProgramRun> run_; // null: one rank
  double bytes_ = 0;
};

class WindowExchange final : public ThroughWindow<BlockExchange> {
 public:
  static Result<std::unique_ptr<BlockExchange>> make(const BlockTable& table, Runtime& runtime) {
    auto made = std::make_unique<WindowExchange>();
    made->rank_ = runtime.rank();
    const std::vector<std::int64_t> own = begins_of(table, runtime.rank(), true);
    made->window_ = TRY(
        application::SharedWindow::make(runtime.processes(), own.back() * static_cast<std::int64_t>(sizeof(Complex))));
    for (std::int32_t other = 0; other < table.ranks; ++other) {
      made->first_to_.push_back(own[static_cast<std::size_t>(other)]);
      made->first_from_.push_back(begins_of(table, other, true)[static_cast<std::size_t>(runtime.rank())]);
    }
    made->release(); // nobody reads at first
    return std::unique_ptr<BlockExchange>(std::move(made));
  }

  PointPointer block_to(std::int32_t rank) override { return part(rank_) + first_to_[static_cast<std::size_t>(rank)]; }
  PointPointer block_from(std::int32_t rank) override {
    return part(rank) + first_from_[static_cast<std::size_t>(rank)];
  }

 private:
  Complex* part(std::int32_t rank) { return reinterpret_cast<Complex*>(window_->part(rank)); }

  std::int32_t rank_ = 0;
  std::vector<std::int64_t> first_to_, first_from_;
};

} // namespace

Result<std::unique_ptr<BlockExchange>> make_exchange(const BlockTable& table, const TransformWay& way,
                                                     ExchangeRanks ranks) {
  switch (way.kind) {
  case ExchangeKind::window:
    if (way.single_precision)
      return not_applicable("a window has no messages that could carry floats", {}, "leave wire=float32 out");
    return WindowExchange::make(table, ranks.all());
  case ExchangeKind::leaders: return exchange_by_leaders(table, way, ranks.all());
  case ExchangeKind::library:
    return not_applicable("the MPI library's datatypes exchange boxes of a grid alone", {}, "use another variant");
  case ExchangeKind::messages: break;
  }
  return MessageExchange::make(table, way, ranks);
}

} // namespace kumihimo::distributed_fft
