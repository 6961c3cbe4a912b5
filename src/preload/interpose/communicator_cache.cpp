#include "interpose/communicator_cache.hpp"

#include "base/hash.hpp"

#include <algorithm>
#include <utility>

namespace kumihimo::interpose {
namespace {

constexpr std::size_t most_given_up = 16;

} // namespace

std::size_t KeyHash::operator()(const plan::CallKey& k) const {
  std::uint64_t h = mixed(static_cast<std::uint64_t>(k.count), static_cast<std::uint64_t>(k.root));
  h = mixed(h, static_cast<std::uint64_t>(k.type_bytes));
  h = mixed(h, static_cast<std::uint64_t>(k.kind.index()) << 16 | static_cast<std::uint64_t>(k.type) << 8 |
                   static_cast<std::uint64_t>(k.operation));
  return static_cast<std::size_t>(h);
}

CommunicatorResources::~CommunicatorResources() {
  if (transport) MemoryBudget::of_process().give_back(share);
}

std::unique_ptr<CommunicatorResources> CommunicatorCache::take(std::uint64_t of_ranks, std::int32_t node_ranks,
                                                               bool must) {
  const std::lock_guard lock(mutex_);
  const std::thread::id here = std::this_thread::get_id();
  const auto is_of_them = [&](const auto& resources) { return resources->of_ranks == of_ranks; };
  auto found = std::find_if(entries_.begin(), entries_.end(),
                            [&](const auto& resources) { return is_of_them(resources) && resources->kept_by == here; });
  if (found == entries_.end()) found = std::find_if(entries_.begin(), entries_.end(), is_of_them);
  if (found == entries_.end()) return nullptr;
  std::unique_ptr<CommunicatorResources> resources = std::move(*found);
  entries_.erase(found);
  if (MemoryBudget::of_process().has_better(resources->share, node_ranks, must)) return nullptr;
  resources->recurs = true;
  return resources;
}

void CommunicatorCache::keep(std::unique_ptr<CommunicatorResources> resources) {
  if (resources->of_ranks == 0 || !resources->transport || !resources->transport->is_single_node() ||
      resources->transport->has_failed())
    return;
  resources->refused.clear();
  resources->recent.clear();
  using Decided = CommunicatorResources::Decided;
  for (const Decided& decided : {resources->by_all, resources->by_this_rank})
    if (2 * decided.all > Decided::most || 2 * decided.irregular > Decided::most_irregular) return;
  const std::lock_guard lock(mutex_);
  resources->kept_by = std::this_thread::get_id();
  resources->recurs |= std::find(given_up_.begin(), given_up_.end(), resources->of_ranks) != given_up_.end();
  if (entries_.size() >= most) give_up_one(true);
  entries_.push_back(std::move(resources));
}

std::optional<MemoryBudget::Share> CommunicatorCache::share_for(std::int32_t node_ranks, bool must) {
  const std::lock_guard lock(mutex_);
  MemoryBudget& budget = MemoryBudget::of_process();
  std::optional<MemoryBudget::Share> share = budget.take(node_ranks, must);
  while ((!share || share->is_small()) && give_up_one(!share)) {
    if (share) budget.give_back(*share);
    share = budget.take(node_ranks, must);
  }
  return share;
}

void CommunicatorCache::clear() {
  std::vector<std::unique_ptr<CommunicatorResources>> all;
  const std::lock_guard lock(mutex_);
  all.swap(entries_);
  given_up_.clear();
}

bool CommunicatorCache::give_up_one(bool any) {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const auto& resources) { return any || !resources->recurs; });
  if (found == entries_.end()) return false;
  given_up_.push_back((*found)->of_ranks);
  if (given_up_.size() > most_given_up) given_up_.pop_front();
  entries_.erase(found);
  return true;
}

} // namespace kumihimo::interpose
