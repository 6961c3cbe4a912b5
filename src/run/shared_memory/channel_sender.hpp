// The sender's end of a channel.
#pragma once

#include "kernels/plans.hpp"
#include "shared_memory/channel_layout.hpp"

#include <array>
#include <deque>

namespace kumihimo::shared_memory {

class ChannelSender {
 public:
  static constexpr std::int64_t never_offered = std::int64_t{1} << 62;
  // `offered_from_bytes`: messages of this length and more are offered for a single copy, which the receiver must be
  // able to make. `copy`: for chunks into slots.
  explicit ChannelSender(ChannelMemory memory, std::int64_t offered_from_bytes = never_offered,
                         const kernels::CopyPlan& copy = kernels::copy_plan(kernels::CopyReader::other_core))
      : memory_(memory), offered_from_bytes_(offered_from_bytes), copy_(copy) {}
  void start(transport::SendRequest& message);
  bool progress(); // true: something moved
  bool busy() const { return !waiting_.empty() || taken_ != 0; }
  void give_up(); // sends no more; what the receiver has not read may be lost
  bool has_lost_peer() const { return known_consumed_ == given_up; } // noticed when the ring is full

 private:
  struct Position {
    std::int32_t piece = 0;
    std::int64_t done_in_piece = 0, done = 0;
  };
  bool has_room();
  bool write(transport::SendRequest& message, Position& position); // true: all of it is written or offered
  void write_chunk(transport::SendRequest& message, Position& position);
  bool may_offer(const transport::SendRequest& message) const;
  void offer(transport::SendRequest& message);
  SlotHeader& begin_slot(const transport::SendRequest& message, std::int64_t left);
  bool take_answers();

  ChannelMemory memory_;
  std::int64_t offered_from_bytes_;
  kernels::CopyPlan copy_;
  std::uint64_t filled_ = 0, known_consumed_ = 0;
  std::uint64_t taken_ = 0, known_answered_ = 0; // by ticket
  std::array<transport::SendRequest*, tickets> offered_{};
  std::deque<transport::SendRequest*> waiting_;
  Position front_; // of waiting_.front()
};

} // namespace kumihimo::shared_memory
