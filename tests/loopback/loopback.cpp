#include "loopback/loopback.hpp"

#include "loopback/switchboard.hpp"
#include "transport/message.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <thread>
#include <tuple>

namespace kumihimo::transport {
namespace {

class LoopbackTransport final : public Transport, public RemoteMemory {
 public:
  LoopbackTransport(Switchboard& board, Rank rank, const LoopbackOptions& options)
      : board_(board), rank_(rank), options_(options),
        random_(options.seed * 1'000'003 + static_cast<std::uint64_t>(rank.value)) {}

  Status prepare(const Demands& demands) override {
    if (demands.impossible) return failed_elsewhere();
    if (demands.offloads && !options_.offloads) return needs_offload_engine();
    return Nothing{};
  }
  std::uint64_t begin(Stream stream) override { return instances_.next(stream); }
  void send(SendRequest& message) override { board_.post(rank_, message); }
  void receive(ReceiveRequest& message) override {
    check_early_target(message);
    board_.post(rank_, message);
  }
  std::int64_t early_bytes(bool) const override { return 1; }
  // Bytes may come at any time from now on: here at once, and wrong ones.
  void expect(std::span<const EarlyReceive> receives) override {
    for (const EarlyReceive& each : receives) {
      if (!each.target) continue;
      std::memset(each.target, scribble, static_cast<std::size_t>(each.bytes));
      early_[name_of(each.key)] = each.target;
    }
  }
  void offload(OffloadRequest& message) override { board_.post(rank_, message); }
  bool gathers() const override { return options_.gathers; }

  Progress progress() override {
    const bool put = advance_puts();
    if (waiting_.empty()) {
      waiting_ = board_.collect(rank_);
      if (waiting_.empty()) {
        if (board_.failure()) return Progress::failed;
        return put ? Progress::moved : Progress::nothing;
      }
      if (options_.delays) disturb();
    }
    act();
    return Progress::moved;
  }
  void idle() override { board_.wait(rank_); }
  bool has_failed() const override { return board_.failure().has_value(); }
  Error error() const override { return *board_.failure(); }

  RemoteMemory* remote_memory() override { return this; }
  Result<MemoryKey> register_memory(std::byte* data, std::int64_t bytes) override {
    return board_.register_memory(rank_, data, bytes);
  }
  void deregister_memory(MemoryKey key) override { board_.deregister_memory(rank_, key); }
  void grant(Rank sender, std::int32_t channel, MemoryKey key, std::int64_t slots) override {
    board_.grant(rank_, sender, channel, key, slots);
  }
  std::int64_t flags(Rank sender, std::int32_t channel) override { return board_.flags(rank_, sender, channel); }
  Credits credits(Rank receiver, std::int32_t channel) override { return board_.credits(rank_, receiver, channel); }
  void put(PutRequest& request) override { puts_[{request.target, request.channel}].push_back({&request}); }

 private:
  static constexpr int scribble = 0x9d;
  using EarlyName = std::tuple<std::uint64_t, std::int32_t, std::int32_t, std::int64_t, std::int64_t>;
  static EarlyName name_of(const MessageKey& key) {
    return {key.instance, key.peer.value, key.lane.value, key.segment, key.ordinal};
  }

  // What was written early is still there when the receive starts, and goes to the place that was named.
  void check_early_target(ReceiveRequest& message) {
    const auto found = message.key.signal ? early_.end() : early_.find(name_of(message.key));
    if (found == early_.end()) return;
    const std::byte* const target = found->second;
    early_.erase(found);
    const bool is_there =
        std::all_of(target, target + message.bytes, [](std::byte b) { return b == static_cast<std::byte>(scribble); });
    if (message.direct() != target || !is_there)
      board_.fail(failed("the target of an early receive was written before the receive was started",
                         describe(message.key, false)));
  }

  struct QueuedPut {
    PutRequest* request = nullptr;
    bool written = false; // but its flag is not raised
  };

  // The first put of each channel, at most; with delays, of some channels, and the flag in a later turn than the data.
  bool advance_puts() {
    bool moved = false;
    for (auto it = puts_.begin(); it != puts_.end();) {
      std::deque<QueuedPut>& queue = it->second;
      QueuedPut& put = queue.front();
      if (options_.delays && random_() % 3 == 0) {
        moved = true; // to be called again
      } else if (put.written || board_.write(rank_, *put.request)) {
        moved = true;
        const bool later = options_.delays && !put.written && put.request->flag && random_() % 2 == 0;
        put.written = true;
        if (!later) {
          if (put.request->flag) board_.raise_flag(rank_, *put.request);
          put.request->complete();
          queue.pop_front();
        }
      }
      it = queue.empty() ? puts_.erase(it) : std::next(it);
    }
    return moved;
  }

  // One event of each kind, so that the engine acts between them.
  void act() {
    if (!waiting_.matches.empty()) {
      const Match match = waiting_.matches.back();
      waiting_.matches.pop_back();
      for (const Piece& piece : match.sending->pieces()) deliver(piece, *match.receiving);
      board_.report_taken(match);
      match.receiving->complete();
    }
    if (!waiting_.taken.empty()) {
      waiting_.taken.back()->complete();
      waiting_.taken.pop_back();
    }
    if (!waiting_.combined.empty()) {
      const Combined& combined = waiting_.combined.back();
      if (combined.message->has_target) combined.message->target.take(combined.result->data(), combined.message->bytes);
      combined.message->complete();
      waiting_.combined.pop_back();
    }
  }

  void deliver(Piece piece, ReceiveRequest& receiving) {
    while (piece.bytes > 0) {
      std::int64_t now = piece.bytes;
      if (options_.delays)
        now = std::uniform_int_distribution<std::int64_t>(1, now / receiving.element_bytes())(random_) *
              receiving.element_bytes();
      receiving.take(piece.data, now);
      piece.data += now;
      piece.bytes -= now;
    }
  }

  void disturb() {
    std::shuffle(waiting_.matches.begin(), waiting_.matches.end(), random_);
    std::shuffle(waiting_.taken.begin(), waiting_.taken.end(), random_);
    if (options_.by_turns) return; // the order of turns is random
    const auto dice = random_() % 8;
    if (dice < 3) std::this_thread::yield();
    if (dice == 7) std::this_thread::sleep_for(std::chrono::microseconds(random_() % 100));
  }

  Switchboard& board_;
  Rank rank_;
  LoopbackOptions options_;
  std::mt19937_64 random_;
  InstanceNumbers instances_;
  Events waiting_;
  std::map<EarlyName, std::byte*> early_;                               // targets of receives that were not started
  std::map<std::pair<Rank, std::int32_t>, std::deque<QueuedPut>> puts_; // by target and channel
};

} // namespace

Loopback::Loopback(std::int32_t ranks, const LoopbackOptions& options)
    : board_(std::make_unique<Switchboard>(ranks, options)) {
  for (std::int32_t r = 0; r < ranks; ++r)
    transports_.push_back(std::make_unique<LoopbackTransport>(*board_, Rank{r}, options));
}

Loopback::~Loopback() = default;

Transport& Loopback::transport(Rank rank) { return *transports_[static_cast<std::size_t>(rank.value)]; }
void Loopback::set_participants(LaneId lane, std::vector<Rank> ranks) {
  board_->set_participants(lane, std::move(ranks));
}
void Loopback::leave(Rank rank) { board_->leave(rank); }
void Loopback::leave(Rank rank, const Error& error) {
  board_->fail(error);
  board_->leave(rank);
}
Status Loopback::outcome() const {
  if (const std::optional<Error> error = board_->failure()) return *error;
  return Nothing{};
}

Status run_ranks(Loopback& loopback, std::int32_t ranks, const std::function<Status(Rank, Transport&)>& fn) {
  std::vector<std::thread> threads;
  for (std::int32_t r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      const Status result = fn(Rank{r}, loopback.transport(Rank{r}));
      if (result)
        loopback.leave(Rank{r});
      else
        loopback.leave(Rank{r}, result.error());
    });
  for (std::thread& t : threads) t.join();
  return loopback.outcome();
}

} // namespace kumihimo::transport
