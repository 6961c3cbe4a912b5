// Non-blocking collectives that have begun and not ended: what their completion costs, and what their threads do
// before it.
#pragma once

#include "record/call_counts.hpp"
#include "record/communicators.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace kumihimo::record {

struct BegunCollective {
  Key key;
  std::int64_t began_ns = 0;                   // when the call that began it returned
  std::shared_ptr<Completion> completion = {}; // of its sample; null: it is none
};

class BegunCollectives {
 public:
  bool any() const { return number_.load(std::memory_order_relaxed) != 0; }
  void add(mpi::Handle request, BegunCollective begun);
  void forget(mpi::Handle request);
  // Counts the completion of those among the noted requests that the call has completed, in the thread that made it.
  // Requests that one call completes share its time.
  void complete(const mpi_hooks::Call& call, std::int64_t entry_ns, std::int64_t exit_ns, Rows& rows);

 private:
  std::atomic<std::size_t> number_ = 0;
  std::mutex mutex_;
  std::unordered_map<mpi::Handle, BegunCollective> begun_;
};

} // namespace kumihimo::record
