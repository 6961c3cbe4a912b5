// Nodes that are unequal: how many ranks each has, on which processors they run, and the device that the ranks of a
// node share.
#pragma once

#include "application/node_lock.hpp"
#include "application/runtime.hpp"
#include "lu/node_processes.hpp"
#include "lu/update_device.hpp"
#include "lu_app/problem.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kumihimo::lu_app {

// Where the ranks run. `node_of_rank`: by the numbers 0, 1, ... in the order of their first ranks.
struct NodeLayout {
  std::vector<std::int32_t> node_of_rank;
  std::int32_t nodes() const { return node_of_rank.empty() ? 0 : node_of_rank.back() + 1; }
};

// Of ranks on nodes as they were started, or on the groups of processors that stand for nodes, in their order: as many
// as their speeds ask for, or equal parts. `cores` of each node. Errors: ranks of a node that do not follow each other;
// speeds that are not those of the nodes; a node that has more or fewer ranks than the rule gives it.
Result<NodeLayout> layout_of(const NodeWishes& wishes, std::span<const std::int64_t> node_of_rank,
                             std::span<const std::int32_t> cores);

// Binds this rank to its group of processors, and says how the rule came to the ranks of the nodes: by the speeds that
// the user gave, or with speeds=auto by DGEMM on all ranks at once. Collective. Errors: those of layout_of();
// processors that this process may not use; groups on several nodes.
Result<std::string> settle(const NodeWishes& wishes, const blas::Blas& blas, application::Runtime& runtime);

// The device that the user names, which the ranks of a node take by turns.
class SharedDevice {
 public:
  // Collective. Errors: those of the device.
  static Result<std::unique_ptr<SharedDevice>> make(const std::string& what, const blas::Blas& blas,
                                                    application::Runtime& runtime);
  lu::UpdateDevice& device() { return *device_; }
  std::int32_t sharers() const { return lock_.node->local_ranks(); } // ranks of the node

 private:
  struct Lock final : lu::DeviceLock {
    std::unique_ptr<application::NodeLock> node;
    void lock() override { node->lock(); }
    void unlock() override { node->unlock(); }
  };
  Lock lock_;
  std::unique_ptr<lu::UpdateDevice> device_;
};

} // namespace kumihimo::lu_app
