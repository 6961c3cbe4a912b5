#include "distributed_fft/block_exchange.hpp"

#include "collectives/registry.hpp"
#include "distributed_fft/through_window.hpp"
#include "threads/array.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace kumihimo::distributed_fft {
namespace {

using application::Runtime;
using fft::Complex;
using Array = threads::ThreadedArray<Complex>;

// Where the blocks of a rank begin, in the order of the other ranks, and their end.
std::vector<std::int64_t> begins_of(const BlockTable& table, std::int32_t rank, bool sent) {
  std::vector<std::int64_t> begins = {0};
  for (std::int32_t other = 0; other < table.ranks; ++other)
    begins.push_back(begins.back() + (sent ? table.at(rank, other) : table.at(other, rank)));
  return begins;
}

class MessageExchange final : public BlockExchange {
 public:
  static Result<std::unique_ptr<BlockExchange>> make(const BlockTable& table, const std::string& algorithm,
                                                     ExchangeRanks ranks) {
    auto made = std::make_unique<MessageExchange>();
    const std::int32_t rank = ranks.rank();
    made->first_sent_ = begins_of(table, rank, true);
    made->first_received_ = begins_of(table, rank, false);
    if (Status s = ranks.all().agree(made->allocate(ranks.ranks() > 1)); !s) return s.error();
    if (ranks.ranks() == 1) return std::unique_ptr<BlockExchange>(std::move(made));
    made->bytes_ =
        static_cast<double>(sizeof(Complex)) * static_cast<double>(made->first_sent_.back() - table.at(rank, rank));
    const Result<Schedule> schedule = schedule_of(table, algorithm, ranks.space());
    if (Status s = ranks.all().agree_on(schedule); !s) return s.error();
    made->run_ = TRY(ranks.run_of(*schedule));
    return std::unique_ptr<BlockExchange>(std::move(made));
  }

  Complex* block_to(std::int32_t rank) override { return sent_.data() + first_sent_[static_cast<std::size_t>(rank)]; }
  Complex* block_from(std::int32_t rank) override {
    return (run_ ? received_ : sent_).data() + first_received_[static_cast<std::size_t>(rank)];
  }
  Status start() override { return run_ ? run_->start({sent_.data(), received_.data()}) : Status(Nothing{}); }
  Status finish() override { return run_ ? run_->wait() : Status(Nothing{}); }
  double bytes_sent() const override { return bytes_; }

 private:
  Status allocate(bool receives) {
    sent_ = TRY(Array::zeros(first_sent_.back()));
    if (receives) received_ = TRY(Array::zeros(first_received_.back()));
    return Nothing{};
  }

  // A point is two doubles. Algorithms whose ranks relay blocks of others take equal ones alone.
  static Result<Schedule> schedule_of(const BlockTable& table, const std::string& algorithm, const RankSpace& space) {
    const Variant* const variant = TRY(Registry::standard().find(CollectiveKind::alltoall, algorithm));
    std::vector<std::int64_t> counts = table.points;
    for (std::int64_t& each : counts) each *= 2;
    const bool equal = std::ranges::adjacent_find(counts, std::ranges::not_equal_to()) == counts.end();
    const Collective of_equal = make_collective(CollectiveKind::alltoall, table.ranks, counts[0]);
    const Collective exchange = equal ? of_equal : TRY(with_counts(of_equal, std::move(counts)));
    Result<Schedule> made = variant->build(exchange, space);
    if (!made && made.error().kind == Error::Kind::not_applicable)
      return not_applicable("the exchange " + algorithm + " does not fit here: " + made.error().problem, {},
                            "use exchange=pairwise");
    return made;
  }

  Array sent_, received_;
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

  Complex* block_to(std::int32_t rank) override { return part(rank_) + first_to_[static_cast<std::size_t>(rank)]; }
  Complex* block_from(std::int32_t rank) override { return part(rank) + first_from_[static_cast<std::size_t>(rank)]; }

 private:
  Complex* part(std::int32_t rank) { return reinterpret_cast<Complex*>(window_->part(rank)); }

  std::int32_t rank_ = 0;
  std::vector<std::int64_t> first_to_, first_from_;
};

} // namespace

Result<std::unique_ptr<BlockExchange>> exchange_by_messages(const BlockTable& table, const std::string& algorithm,
                                                            ExchangeRanks ranks) {
  return MessageExchange::make(table, algorithm, ranks);
}

Result<std::unique_ptr<BlockExchange>> exchange_by_window(const BlockTable& table, Runtime& runtime) {
  return WindowExchange::make(table, runtime);
}

} // namespace kumihimo::distributed_fft
