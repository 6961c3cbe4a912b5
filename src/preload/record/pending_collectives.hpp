// Non-blocking collectives that have begun and not ended: what their completion costs, and how long after their
// beginning it comes.
#pragma once

#include "record/call_counts.hpp"
#include "record/communicators.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace kumihimo::record {

struct PendingCollective {
  Row* row = nullptr;
  std::int64_t began_ns = 0;                   // when the call that began it returned
  std::shared_ptr<Completion> completion = {}; // of its sample; null: it is none
};

class PendingCollectives {
 public:
  explicit PendingCollectives(mpi::Handle request_null) : request_null_(request_null) {}

  bool any() const { return number_.load(std::memory_order_relaxed) != 0; }
  void add(mpi::Handle request, PendingCollective pending);
  void forget(mpi::Handle request);
  // Adds to the rows of those among the noted requests that the call has completed; any thread may have begun them.
  // Requests that one call completes share its time. `counts`: whether the program is recorded.
  void complete(const mpi_hooks::HookedCall& call, std::int64_t entry_ns, std::int64_t exit_ns, bool counts);

 private:
  mpi::Handle request_null_;
  std::atomic<std::size_t> number_ = 0;
  std::mutex mutex_;
  std::unordered_map<mpi::Handle, PendingCollective> pending_;
};

} // namespace kumihimo::record
