// Ranks as threads of one process, with a port of a provider each.
#pragma once

#include "fabric/port.hpp"
#include "fabric/remote_memory.hpp"
#include "remote_memory_checks.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace kumihimo::fabric::testing {

constexpr std::chrono::seconds time_limit{20};

// Why a provider cannot be used here; empty: it can.
inline std::string obstacle(const std::string& provider) {
  const auto domain = FabricDomain::open({provider, true, 4});
  return domain ? "" : domain.error().sentence();
}

struct PortsOfRanks {
  std::vector<std::shared_ptr<FabricPort>> ports;
  std::vector<std::byte> cards;
  std::size_t card_bytes = 0;

  FabricRanks ranks(std::int32_t rank, std::uint32_t network = 1) const { return {network, rank, cards, card_bytes}; }
};

inline PortsOfRanks open_ports(std::int32_t ranks, PortOptions options) {
  PortsOfRanks all;
  options.provider.one_machine = true;
  options.provider.processes = ranks;
  for (std::int32_t r = 0; r < ranks; ++r) {
    Result<std::unique_ptr<FabricPort>> port = FabricPort::open(options);
    if (!port) throw std::runtime_error(port.error().sentence());
    const std::vector<std::byte> card = (*port)->card();
    all.card_bytes = card.size();
    all.cards.insert(all.cards.end(), card.begin(), card.end());
    all.ports.push_back(std::move(*port));
  }
  return all;
}

// A rank's transport, which fails when another rank has failed, or after the time limit.
class WatchedTransport final : public transport::Transport {
 public:
  WatchedTransport(transport::Transport& below, const std::atomic<bool>& failed) : below_(below), failed_(failed) {}
  Status prepare(const transport::Demands& demands) override { return below_.prepare(demands); }
  std::uint64_t begin(transport::Stream stream) override { return below_.begin(stream); }
  void send(transport::SendRequest& message) override { below_.send(message); }
  void receive(transport::ReceiveRequest& message) override { below_.receive(message); }
  Progress progress() override {
    const Progress moved = below_.progress();
    if (moved == Progress::failed) return moved;
    if (std::chrono::steady_clock::now() - since_ > time_limit) late_ = true;
    return late_ || failed_ ? Progress::failed : moved;
  }
  void idle() override { below_.idle(); }
  bool has_failed() const override { return below_.has_failed() || late_ || failed_; }
  Error error() const override {
    if (below_.has_failed()) return below_.error();
    return late_ ? kumihimo::failed("the time limit of a test is over") : transport::failed_elsewhere();
  }
  transport::RemoteMemory* remote_memory() override { return below_.remote_memory(); }

 private:
  transport::Transport& below_;
  const std::atomic<bool>& failed_;
  bool late_ = false;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

// fn(rank) on a thread each; then `drive` until all have ended, since a target must help to receive. The error of the
// lowest rank that knows why.
inline Status run_threads(std::int32_t ranks, const std::function<Status(std::int32_t)>& fn,
                          const std::function<bool(std::int32_t)>& drive, std::atomic<bool>& any_failed) {
  std::vector<Status> outcomes(static_cast<std::size_t>(ranks), Status(Nothing{}));
  std::atomic<int> ended{0};
  std::vector<std::thread> threads;
  for (std::int32_t r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      outcomes[static_cast<std::size_t>(r)] = fn(r);
      if (!outcomes[static_cast<std::size_t>(r)]) { // after the others had time to get its word
        for (int turn = 0; turn < 2000; ++turn) drive(r), std::this_thread::yield();
        any_failed = true;
      }
      while (!drive(r)) {
        if (any_failed) break;
        std::this_thread::yield();
      }
      ++ended;
      while (ended < ranks) drive(r), std::this_thread::yield();
    });
  for (std::thread& thread : threads) thread.join();
  for (const bool elsewhere : {false, true})
    for (const Status& outcome : outcomes)
      if (!outcome && outcome.error().elsewhere == elsewhere) return outcome;
  return Nothing{};
}

class FabricWorld final : public transport::testing::World {
 public:
  FabricWorld(std::int32_t ranks, const PortOptions& options) : ranks_(ranks), ports_(open_ports(ranks, options)) {
    for (std::int32_t r = 0; r < ranks; ++r)
      transports_.push_back(
          std::make_unique<FabricRemoteMemory>(ports_.ports[static_cast<std::size_t>(r)], ports_.ranks(r)));
  }
  std::int32_t ranks() const override { return ranks_; }
  Status run(const std::function<Status(Rank, transport::Transport&)>& fn) override {
    std::atomic<bool> failed = false;
    const auto of = [&](std::int32_t r) -> FabricRemoteMemory& { return *transports_[static_cast<std::size_t>(r)]; };
    return run_threads(
        ranks_,
        [&](std::int32_t r) {
          WatchedTransport watched(of(r), failed);
          return fn(Rank{r}, watched);
        },
        [&](std::int32_t r) { return of(r).drained(); }, failed);
  }

 private:
  std::int32_t ranks_;
  PortsOfRanks ports_;
  std::vector<std::unique_ptr<FabricRemoteMemory>> transports_;
};

} // namespace kumihimo::fabric::testing
