// How much memory the transports of a process may take together. A process shall have at most 8 MiB more with us than
// without. A program may have hundreds of communicators, and mostly works on one or two.
//
// The first transport has rings of the best size, of which a process uses up to 2 MiB; the second has half as much.
// Further ones have smaller rings while there is room. Calls on all other communicators are the library's. Beside its
// rings a transport costs a process some 40 KiB: the plans of a few lengths, and on MPICH 5 what the library itself
// allocates from a communicator's fifth collective on. The object is 2.5 MiB.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

namespace kumihimo::interpose {

class MemoryBudget {
 public:
  struct Share {
    std::int64_t shared_memory_limit_bytes = -1;      // of the node, for its rings; -1: what there is
    std::int64_t taken_bytes = 0;                     // by this process, counted against the room of all
    bool is_small() const { return taken_bytes > 0; } // neither the first's nor the second's
  };
  // How many transports live at once at most; so many more where all must be ours, for their bits.
  static constexpr std::int32_t most = 16, most_reproducible = 512;

  static MemoryBudget& of_process();

  // For one more among so many ranks of a node, at most; nothing where there is no room. `must`: all must be ours. On
  // any thread.
  std::optional<Share> take(std::int32_t node_ranks, bool must);
  void give_back(const Share& share);
  // Whether, after one more, two others would still get rings.
  bool leaves_room(std::int32_t node_ranks);
  // Whether one more would get larger rings, if this part were given back.
  bool has_better(const Share& share, std::int32_t node_ranks, bool must);

 private:
  std::optional<Share> next(std::int32_t node_ranks, bool must) const;
  std::mutex mutex_;
  std::int32_t live_ = 0;
  std::int64_t taken_bytes_ = 0; // beyond the first two's
};

} // namespace kumihimo::interpose
