#include "application/unit_queue.hpp"

#include "threads/team.hpp"

#include <algorithm>
#include <thread>

namespace kumihimo::application {

using transport::Transport;

Result<std::unique_ptr<UnitQueue>> UnitQueue::make(Transport* transport, std::int32_t rank, std::int32_t ranks) {
  if (transport) {
    transport::Demands demands;
    demands.lanes = 1;
    demands.largest_bytes = sizeof(Chunk);
    demands.element_bytes = sizeof(Chunk);
    for (std::int32_t other = rank == 0 ? 1 : 0; other < (rank == 0 ? ranks : 1); ++other)
      demands.peers.push_back(Rank{other});
    if (Status s = transport->prepare(demands); !s) return s.error();
  }
  return std::unique_ptr<UnitQueue>(new UnitQueue(transport, rank, ranks));
}

void UnitQueue::begin(std::span<const double> costs, double static_share) {
  deal_ = UnitDeal(costs, ranks_, static_share);
  mine_.clear();
  left_ = 0;
  for (std::int64_t unit = 0; unit < deal_.beforehand(); ++unit)
    if (deal_.rank_of(unit) == rank_) take({unit, unit + 1});
  complete_ = deal_.all_dealt();
  if (!transport_) return;
  instance_ = transport_->begin(transport::Stream::blocking);
  for (Peer& each : peers_) {
    each.chunks = 0;
    each.served = complete_;
  }
  if (rank_ == 0 && !complete_)
    for (std::int32_t other = 1; other < ranks_; ++other) receive(peer(other).question, other, 0);
}

void UnitQueue::send(Letter& letter, std::int32_t to, std::int64_t ordinal) {
  letter.open = 1;
  letter.send = {};
  letter.send.key = {.instance = instance_, .peer = Rank{to}, .lane = LaneId{0}, .segment = 0, .ordinal = ordinal};
  letter.send.bytes = letter.send.element_bytes = sizeof(Chunk);
  letter.send.open = &letter.open;
  letter.send.only = {reinterpret_cast<std::byte*>(&letter.chunk), sizeof(Chunk)};
  letter.send.first_piece = &letter.send.only;
  letter.send.piece_count = 1;
  transport_->send(letter.send);
}

void UnitQueue::receive(Letter& letter, std::int32_t from, std::int64_t ordinal) {
  letter.open = 1;
  letter.receive = {};
  letter.receive.key = {.instance = instance_, .peer = Rank{from}, .lane = LaneId{0}, .segment = 0, .ordinal = ordinal};
  letter.receive.bytes = sizeof(Chunk);
  letter.receive.open = &letter.open;
  letter.receive.copy_into({reinterpret_cast<std::byte*>(&letter.chunk), nullptr, 0}, sizeof(Chunk));
  transport_->receive(letter.receive);
}

void UnitQueue::take(const Chunk& chunk) {
  const std::lock_guard lock(mutex_);
  mine_.push_back(chunk);
  left_ += chunk.end - chunk.begin;
}

bool UnitQueue::serve() {
  bool moved = false;
  for (std::int32_t other = 1; other < ranks_; ++other) {
    Peer& each = peer(other);
    if (each.served || each.question.open > 0 || each.answer.open > 0) continue;
    each.answer.chunk = deal_.cut();
    send(each.answer, other, each.chunks++);
    each.served = each.answer.chunk.is_empty();
    if (!each.served) receive(each.question, other, each.chunks);
    moved = true;
  }
  if (left_ == 0 && !complete_) {
    const Chunk chunk = deal_.cut();
    if (chunk.is_empty())
      complete_ = true;
    else
      take(chunk);
    moved = true;
  }
  return moved;
}

bool UnitQueue::fetch() {
  Peer& dealer = peers_.front();
  if (complete_ || dealer.question.open > 0 || dealer.answer.open > 0) return false;
  if (dealer.chunks > 0 && !dealer.served) { // an answer has come
    dealer.served = true;
    if (dealer.answer.chunk.is_empty())
      complete_ = true;
    else
      take(dealer.answer.chunk);
    return true;
  }
  if (!UnitDeal::asks(left_, threads::count())) return false;
  dealer.served = false;
  receive(dealer.answer, 0, dealer.chunks);
  send(dealer.question, 0, dealer.chunks++);
  return true;
}

bool UnitQueue::move() {
  if (!transport_) return false;
  const Transport::Progress progress = transport_->progress();
  if (progress == Transport::Progress::failed) {
    complete_ = true;
    return true;
  }
  return (rank_ == 0 ? serve() : fetch()) || progress == Transport::Progress::moved;
}

std::int64_t UnitQueue::next(bool is_first) {
  while (true) {
    const bool moved = is_first && move();
    if (left_ > 0) {
      const std::lock_guard lock(mutex_);
      if (!mine_.empty()) {
        Chunk& chunk = mine_.front();
        const std::int64_t unit = chunk.begin++;
        if (chunk.begin == chunk.end) mine_.pop_front();
        --left_;
        return unit;
      }
    }
    if (complete_ && left_ == 0) return -1;
    if (moved) continue;
    if (is_first && transport_)
      transport_->idle();
    else
      std::this_thread::yield();
  }
}

Status UnitQueue::end() {
  if (!transport_) return Nothing{};
  const auto open = [&] {
    return std::ranges::any_of(peers_, [](const Peer& each) { return each.question.open + each.answer.open > 0; }) ||
           (rank_ == 0 && std::any_of(peers_.begin() + 1, peers_.end(), [](const Peer& each) { return !each.served; }));
  };
  while (!transport_->has_failed() && open())
    if (!move()) transport_->idle();
  return transport_->has_failed() ? Status(transport_->error()) : Status(Nothing{});
}

} // namespace kumihimo::application
