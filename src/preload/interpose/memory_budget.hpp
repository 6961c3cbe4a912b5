// The memory that all transports of a process may take. A process may grow by at most 8 MiB with the interposer. Some
// programs have hundreds of communicators, and most use one or two.
//
// The first transport has rings of the best size, of which a process uses up to 2 MiB; the second has half as much.
// Further ones have smaller rings while there is room. The library runs calls on all other communicators. Beside its
// rings a transport costs a process some 40 KiB: the plans of a few lengths, and on MPICH 5 what the library itself
// allocates from a communicator's fifth collective on. The interposer's code and data are 2.5 MiB.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

namespace kumihimo::interpose {

class MemoryBudget {
 public:
  struct Share {
    std::int64_t shared_memory_limit_bytes = -1;      // of the node, for its rings; -1: no limit
    std::int64_t taken_bytes = 0;                     // by this process, counted against the room of all
    bool is_small() const { return taken_bytes > 0; } // neither the first's nor the second's
  };
  // The most transports at once, and the most in a reproducible run, in which all reductions must run by plans.
  static constexpr std::int32_t most = 16, most_reproducible = 512;

  static MemoryBudget& of_process();

  // The share of one more transport; nothing if there is no room. For all threads. `node_ranks`: the most ranks that it
  // has on a node. `must`: in a reproducible run.
  std::optional<Share> take(std::int32_t node_ranks, bool must);
  void give_back(const Share& share);
  // Whether, after one more, two others would still get rings.
  bool leaves_room(std::int32_t node_ranks);
  // Whether one more would get larger rings if this share were given back.
  bool has_better(const Share& share, std::int32_t node_ranks, bool must);

 private:
  std::optional<Share> next(std::int32_t node_ranks, bool must) const;
  std::mutex mutex_;
  std::int32_t live_ = 0;
  std::int64_t taken_bytes_ = 0; // beyond the first two's
};

} // namespace kumihimo::interpose
