// The transport and the plans of a communicator, and the cache of those whose communicators were freed. Making them
// costs 1 ms, and they serve any communicator of the same ranks in the same order. Some programs duplicate and split
// communicators for a single call, thousands of times.
#pragma once

#include "interpose/call_counters.hpp"
#include "interpose/memory_budget.hpp"
#include "plan/plan.hpp"
#include "transport/transport.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kumihimo::interpose {

// A hash of the arguments that are equal on all ranks.
struct KeyHash {
  std::size_t operator()(const plan::CallKey& key) const;
};

// The plans of a call with local counts, in place and not: more than one of each while several are under way.
struct PlanPool {
  std::array<std::vector<std::shared_ptr<plan::Plan>>, 2> plans;
  bool agreed = false; // that every rank has some; not yet where a non-blocking call has made them
};

struct CommunicatorResources {
  CommunicatorResources() = default;
  ~CommunicatorResources();
  CommunicatorResources(const CommunicatorResources&) = delete;
  CommunicatorResources& operator=(const CommunicatorResources&) = delete;

  std::uint64_t of_ranks = 0; // a hash of the ranks in their order; 0: not all are of one job
  std::int64_t number = 0;    // of the communicator that it was made for: unique, the same on its ranks
  bool recurs = false;        // several communicators had these ranks
  std::thread::id kept_by;    // the thread that freed the communicator
  MemoryBudget::Share share;  // of the transport
  std::unique_ptr<transport::Transport> transport;
  plan::PlanCache plans; // after the transport, which they use
  std::unordered_map<plan::CallKey, PlanPool, KeyHash> pools;
  // Calls that are the library's: those that got no plan, and those with a buffer on a device.
  std::unordered_map<plan::CallKey, Reason, KeyHash> refused;

  // How many different calls (by length, type, operation, root or counts) were decided on: by all ranks in blocking
  // calls, where all count alike, and by this rank alone in non-blocking ones. Plans are kept for the first
  // `most` of each; counts of their own may differ in every call, so these get fewer.
  struct Decided {
    std::int32_t all = 0, irregular = 0;
    static constexpr std::int32_t most = 256, most_irregular = 64;
    bool is_full(const plan::CallKey& key) const { return all >= most || (key.table && irregular >= most_irregular); }
    void count(const plan::CallKey& key) { all += 1, irregular += key.table != nullptr; }
  };
  Decided by_all, by_this_rank;

  // Of further calls where all ranks share memory, so that no rank need be asked: the plans that were made last.
  static constexpr std::size_t most_recent = 16;
  std::vector<std::pair<plan::CallKey, std::shared_ptr<plan::Plan>>> recent;
};

// Resources of freed communicators. For all threads.
class CommunicatorCache {
 public:
  static constexpr std::size_t most = 8;

  // The resources of these ranks, unless new rings would be larger; null: none. Of several, those that this thread
  // kept: threads that make and free communicators of the same ranks at one time mostly do so with the same partner
  // threads.
  std::unique_ptr<CommunicatorResources> take(std::uint64_t of_ranks, std::int32_t node_ranks, bool must);
  // Keeps resources that another communicator can use: without failure, without a private communicator in the library,
  // and with room for plans. Refusals are forgotten, because there may be memory now. The oldest of too many is freed.
  void keep(std::unique_ptr<CommunicatorResources> resources);
  // As MemoryBudget::take(), after freeing kept resources if there is no room. For larger rings it frees only those
  // that served one communicator, which may have been the only one of its kind.
  std::optional<MemoryBudget::Share> share_for(std::int32_t node_ranks, bool must);
  void clear();

 private:
  bool give_up_one(bool any);

  std::mutex mutex_;
  std::vector<std::unique_ptr<CommunicatorResources>> entries_; // the oldest first
  std::deque<std::uint64_t> given_up_; // the ranks of resources freed lately: if they come again, they recur
};

} // namespace kumihimo::interpose
