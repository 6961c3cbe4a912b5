#include "record/pending_collectives.hpp"

#include "record/completions.hpp"

#include <algorithm>
#include <vector>

namespace kumihimo::record {

void PendingCollectives::add(mpi::Handle request, PendingCollective pending) {
  const std::lock_guard lock(mutex_);
  pending_[request] = std::move(pending);
  number_ = pending_.size();
}

void PendingCollectives::forget(mpi::Handle request) {
  const std::lock_guard lock(mutex_);
  pending_.erase(request);
  number_ = pending_.size();
}

void PendingCollectives::complete(const mpi_hooks::HookedCall& call, std::int64_t entry_ns, std::int64_t exit_ns,
                                  bool counts) {
  std::vector<mpi::Handle> requests;
  for (const int index : completed(call))
    if (const mpi::Handle request = noted_requests().at(static_cast<std::size_t>(index)); request != request_null_)
      requests.push_back(request);
  if (requests.empty()) return;
  const auto number = static_cast<std::int64_t>(requests.size());
  const std::lock_guard lock(mutex_);
  for (const mpi::Handle request : requests) {
    const auto it = pending_.find(request);
    // Another thread may have begun one by the same handle since this call completed the former.
    if (it == pending_.end() || it->second.began_ns > entry_ns) continue;
    const PendingCollective& pending = it->second;
    if (counts) {
      pending.row->completion_ns.fetch_add((exit_ns - entry_ns) / number, std::memory_order_relaxed);
      pending.row->overlap_ns.fetch_add(entry_ns - pending.began_ns, std::memory_order_relaxed);
      if (pending.completion) pending.completion->set(entry_ns, exit_ns, number);
    }
    pending_.erase(it);
  }
  number_ = pending_.size();
}

} // namespace kumihimo::record
