#include "record/begun_collectives.hpp"

#include "record/completions.hpp"

#include <algorithm>
#include <vector>

namespace kumihimo::record {

void BegunCollectives::add(mpi::Handle request, BegunCollective begun) {
  const std::lock_guard lock(mutex_);
  begun_[request] = std::move(begun);
  number_ = begun_.size();
}

void BegunCollectives::forget(mpi::Handle request) {
  const std::lock_guard lock(mutex_);
  begun_.erase(request);
  number_ = begun_.size();
}

void BegunCollectives::complete(const mpi_hooks::Call& call, std::int64_t entry_ns, std::int64_t exit_ns, Rows& rows) {
  const std::vector<int> places = completed(call);
  const std::vector<mpi::Handle>& requests = noted_requests();
  if (places.empty()) return;
  const std::int64_t share_ns = (exit_ns - entry_ns) / static_cast<std::int64_t>(places.size());
  const std::lock_guard lock(mutex_);
  for (const int place : places) {
    const auto it = begun_.find(requests.at(static_cast<std::size_t>(place)));
    if (it == begun_.end()) continue;
    const BegunCollective& begun = it->second;
    Row& row = rows.at(begun.key);
    row.collective = row.non_blocking_collective = true;
    row.completion_ns += share_ns;
    row.overlap_ns += std::max<std::int64_t>(0, entry_ns - begun.began_ns);
    if (begun.completion) begun.completion->set(entry_ns, exit_ns, static_cast<std::int64_t>(places.size()));
    begun_.erase(it);
  }
  number_ = begun_.size();
}

} // namespace kumihimo::record
