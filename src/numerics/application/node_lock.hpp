// A lock that the processes of a node share, for what they have only once: a GPU, a group of processors. Each node has
// one. A process that dies while it holds the lock does not block the others.
#pragma once

#include "application/processes.hpp"
#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace kumihimo::application {

class NodeLock {
 public:
  // Collective. Errors: no room in /dev/shm.
  static Result<std::unique_ptr<NodeLock>> make(Processes& processes);
  ~NodeLock();
  NodeLock(const NodeLock&) = delete;
  NodeLock& operator=(const NodeLock&) = delete;

  void lock();
  void unlock();
  std::int32_t local_rank() const { return local_rank_; } // among the ranks of the node
  std::int32_t local_ranks() const { return local_ranks_; }

 private:
  NodeLock() = default;
  std::byte* memory_ = nullptr;
  std::int32_t local_rank_ = 0, local_ranks_ = 1;
};

} // namespace kumihimo::application
