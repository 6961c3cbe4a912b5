// Two networks of one transport: messages that ask for the fabric take it, all others the usual one.
#pragma once

#include "mpi_transport/networks/network.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace kumihimo::mpi_transport {

class NetworkPair final : public MpiNetwork {
 public:
  NetworkPair(std::unique_ptr<MpiNetwork> usual, std::unique_ptr<MpiNetwork> fabric)
      : usual_(std::move(usual)), fabric_(std::move(fabric)) {
    note_errors();
  }

  Status prepare(const transport::Demands& of_all_ranks) const override {
    return (of_all_ranks.fabric ? fabric_ : usual_)->prepare(of_all_ranks);
  }
  std::int64_t early_bytes(bool over_fabric) const override {
    return (over_fabric ? fabric_ : usual_)->early_bytes(over_fabric);
  }
  // All are of one program.
  void expect(std::span<const transport::EarlyReceive> receives) override {
    (receives.front().over_fabric ? fabric_ : usual_)->expect(receives), note_errors();
  }
  void send(transport::SendRequest& message) override { of(message).send(message), note_errors(); }
  void receive(transport::ReceiveRequest& message) override { of(message).receive(message), note_errors(); }
  // A rank that waits in a call over one network may be needed for the end of a peer's call over the other.
  bool progress() override {
    bool moved = false;
    const bool all = ++turns_ % turns_between_all == 0;
    for (MpiNetwork* each : {usual_.get(), fabric_.get()})
      if (all || each->busy()) moved |= each->progress();
    note_errors();
    return moved;
  }
  bool busy() const override { return usual_->busy() || fabric_->busy(); }
  std::vector<std::int32_t> awaited() const override {
    std::vector<std::int32_t> peers = usual_->awaited();
    const std::vector<std::int32_t> others = fabric_->awaited();
    peers.insert(peers.end(), others.begin(), others.end());
    return peers;
  }
  void abandon(const Error& reason) override {
    usual_->abandon(reason), fabric_->abandon(reason);
    note_errors();
  }
  bool has_lost_peers() const override { return usual_->has_lost_peers() || fabric_->has_lost_peers(); }
  void close() override {
    fabric_->close();
    if (!fabric_->has_lost_peers()) usual_->close();
  }

 private:
  MpiNetwork& of(const transport::TransferRequest& message) { return message.over_fabric ? *fabric_ : *usual_; }
  // An error of one ends both.
  void note_errors() {
    if (error_) return;
    for (const auto& [each, other] : {std::pair{usual_.get(), fabric_.get()}, {fabric_.get(), usual_.get()}}) {
      if (!each->error()) continue;
      error_ = *each->error();
      return other->abandon(*error_);
    }
  }

  static constexpr std::uint32_t turns_between_all = 16;

  std::unique_ptr<MpiNetwork> usual_, fabric_;
  std::uint32_t turns_ = 0;
};

} // namespace kumihimo::mpi_transport
