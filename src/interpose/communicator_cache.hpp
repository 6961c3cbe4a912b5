// What is made for the calls of a communicator: the transport and the plans. To make them costs a millisecond, and they
// serve any communicator of the same ranks in the same order. So what one leaves that the program frees, the next one
// of its ranks inherits: programs duplicate and split communicators for a single call, thousands of times.
#pragma once

#include "interpose/call_counters.hpp"
#include "interpose/memory_budget.hpp"
#include "plan/plan_cache.hpp"
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

// A hash of what is asked of all ranks alike.
struct KeyHash {
  std::size_t operator()(const plan::CallKey& key) const;
};

// The plans of a question of own counts, in place and not: more than one of each while several are under way.
struct PlanPool {
  std::array<std::vector<std::shared_ptr<plan::Plan>>, 2> plans;
  bool agreed = false; // that every rank has some; not yet where a non-blocking call has made them
};

struct CommunicatorResources {
  CommunicatorResources() = default;
  ~CommunicatorResources();
  CommunicatorResources(const CommunicatorResources&) = delete;
  CommunicatorResources& operator=(const CommunicatorResources&) = delete;

  std::uint64_t of_ranks = 0; // which, in their order; 0: of processes that are not all of one job
  std::int64_t number = 0;    // of the communicator that it was made for: alike on its ranks, and no other's
  bool recurs = false;        // communicators of these ranks come again
  std::thread::id kept_by;    // which has freed the communicator
  MemoryBudget::Share share;  // of the transport
  std::unique_ptr<transport::Transport> transport;
  plan::PlanCache plans; // after the transport, which they use
  std::unordered_map<plan::CallKey, PlanPool, KeyHash> pools;
  // Questions that are the library's: those that got no plan, and those with a buffer on a device.
  std::unordered_map<plan::CallKey, Reason, KeyHash> refused;

  // How many questions (calls that differ in length, type, operation, root or counts) were decided on: by all ranks in
  // blocking calls, where all count alike, and by this rank alone in non-blocking ones. Plans are kept for the first
  // `most` of each; counts of their own may differ in every call, so these get fewer.
  struct Decided {
    std::int32_t all = 0, irregular = 0;
    static constexpr std::int32_t most = 256, most_irregular = 64;
    bool is_full(const plan::CallKey& key) const { return all >= most || (key.table && irregular >= most_irregular); }
    void count(const plan::CallKey& key) { all += 1, irregular += key.table != nullptr; }
  };
  Decided by_all, by_this_rank;

  // Of further questions where all ranks share memory, so that no rank need be asked: the plans that were made last.
  static constexpr std::size_t most_recent = 16;
  std::vector<std::pair<plan::CallKey, std::shared_ptr<plan::Plan>>> recent;
};

// Of communicators that are no more. On any thread.
class CommunicatorCache {
 public:
  static constexpr std::size_t most = 8;

  // That of these ranks, where its rings are no smaller than new ones would be; the caller's then. Of several that
  // which this thread has kept: threads that free and make communicators of the same ranks at one time mostly do so
  // each with one of the same ranks, and would else take what these have given to others.
  std::unique_ptr<CommunicatorResources> take(std::uint64_t of_ranks, std::int32_t node_ranks, bool must);
  // Where another communicator can use it: without failure, without a communicator of ours in the library, and with
  // room for plans. What was refused is forgotten: there may be memory now. Of too many the oldest is given up.
  void keep(std::unique_ptr<CommunicatorResources> resources);
  // As MemoryBudget::take(), for which what is kept gives way: all of it where there is no room, and where there are
  // only small rings what has served one communicator alone, which may have been the only one of its kind.
  std::optional<MemoryBudget::Share> share_for(std::int32_t node_ranks, bool must);
  void clear();

 private:
  bool give_up_one(bool any);

  std::mutex mutex_;
  std::vector<std::unique_ptr<CommunicatorResources>> entries_; // the oldest first
  std::deque<std::uint64_t> given_up_; // lately, of which ranks: where they come back, they recur
};

} // namespace kumihimo::interpose
