// Memory that the ranks of one node share: each writes a part of its own, and reads the parts of the others.
#pragma once

#include "application/processes.hpp"
#include "base/result.hpp"
#include "transport/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kumihimo::application {

class SharedWindow {
 public:
  // `bytes`: of this rank's part. Collective. Errors: ranks on several nodes (not_applicable); no room in /dev/shm.
  static Result<std::unique_ptr<SharedWindow>> make(Processes& processes, std::int64_t bytes);
  // A window for each group of ranks; groups are numbered from 0. Collective over all ranks.
  static Result<std::unique_ptr<SharedWindow>> make(Processes& processes, std::int64_t bytes,
                                                    const std::vector<std::int32_t>& group_of_rank);
  ~SharedWindow();
  SharedWindow(const SharedWindow&) = delete;
  SharedWindow& operator=(const SharedWindow&) = delete;

  // Of a rank of the same group.
  std::byte* part(std::int32_t rank) const { return memory_ + first_[static_cast<std::size_t>(rank)]; }

  // A barrier in two halves: a rank that has waited sees what all ranks wrote before they arrived. Each rank calls both
  // by turns, arrive() first. Errors: the transport of the ranks has failed, or its time limit has passed; a process of
  // the group has ended, or has failed.
  void arrive();
  Status wait();
  // Tells the group that this rank will not arrive any more: their waits, and those to come, are errors.
  void fail();

 private:
  explicit SharedWindow(transport::Transport* transport) : transport_(transport) {}
  Status look_for_lost_members() const;

  transport::Transport* transport_; // null: one rank
  std::byte* memory_ = nullptr;
  std::int64_t bytes_ = 0;
  std::vector<std::int64_t> first_;   // of each rank's part in its group's memory; pages of its own
  std::vector<std::int32_t> members_; // ranks of the group
  bool oversubscribed_ = false;       // more threads than processors
  std::uint32_t arrivals_ = 0;        // of this rank
};

} // namespace kumihimo::application
