// Other jobs on the machine of the job watched (ADR 44): what they send, and to whom. Nodes are exclusive, links are
// not.
//
//   sources   A node offers messages at intervals from an exponential distribution, whose mean makes its load the share
//             asked for of injection_of(). It offers on whether or not the network follows (open loop), but a
//             message that finds `most_waiting` messages of its node still there, which have not left it whole, is
//             lost: so memory stays bounded above saturation.
//   recorded  Graphs of operations on nodes of their own, again and again without a pause (closed loop).
//
// All that is drawn follows from the seed, a node's place in its job and the ordinal of the message, not from what the
// network does.
#pragma once

#include "goal/graph.hpp"
#include "packet/fabric.hpp"

#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <span>

namespace kumihimo::packet {

enum class Pattern : std::uint8_t {
  uniform,   // to a node that is drawn anew for each message
  neighbour, // to the node behind and the node before, in turn; the last node is before the first
  alltoall,  // to the nodes 1, 2, 3 ... places behind, and from the beginning; each node begins at a place that the
             // seed draws, so that the traffic is the same at any time
};
std::string_view name_of(Pattern pattern);
Result<Pattern> pattern_of(std::string_view name);

struct BackgroundJob {
  std::vector<std::int32_t> nodes; // in the job's order; of recorded graphs: that of each rank
  Pattern pattern = Pattern::uniform;
  std::uint64_t bytes = 65536; // of a message
  double load = 0.3;           // above 0, at most 1
  std::uint64_t seed = 1;
  std::shared_ptr<const goal::Graphs> recorded; // instead of pattern, bytes and load
};

inline constexpr std::uint64_t most_background_bytes = std::uint64_t{1} << 30;

struct Background {
  std::vector<BackgroundJob> jobs;
  std::optional<Time> warm_up;     // before the job watched starts; none: by the rule of warm_up_of
  std::uint32_t most_waiting = 64; // messages of a node
};

// Of one job, from the start of the job watched to its end.
struct BackgroundUse {
  std::uint64_t offered = 0, delivered = 0; // bytes
  std::uint64_t runs = 0;                   // of recorded graphs, that ended
};

// Errors: a node that does not exist or belongs to two jobs, `watched` the nodes of one of them; a job of sources with
// fewer than 2 nodes, or with one twice; a load or a length that is out of range; another number of nodes than of
// ranks.
Status check(const Background& background, std::span<const std::int32_t> watched, std::int32_t nodes);

// What a node can inject: the rate of an engine, or of all engines together where that is less. Femtoseconds a byte.
std::uint64_t injection_of(const Fabric& fabric, std::int32_t node);

// The job watched starts after 16 times what the slowest source needs for a message, or leaves between two where that
// is longer: so long that the mean of what is under way no longer grows, unless the network is near saturation (ADR
// 44). 0 without sources.
Time warm_up_of(const Background& background, const Fabric& fabric);

// Of recorded graphs that first ended at `first`: how much later the job watched starts, drawn from 0 to `first`.
Time phase_of(const BackgroundJob& job, std::uint32_t number, Time first);

// The messages of a job's sources in the order of their times, each made when it is asked for.
class Sources {
 public:
  Sources(const BackgroundJob& job, std::uint32_t number, const Fabric& fabric);

  struct Offer {
    RawMessage message;
    std::uint32_t place = 0; // of the sender in the job
  };
  Time next() const { return due_.empty() ? never_offered : due_.top().time; }
  Offer take(); // the one of next()

  static constexpr Time never_offered = std::numeric_limits<Time>::max();

 private:
  struct Due {
    Time time = 0;
    std::uint32_t place = 0;
    bool operator<(const Due& other) const { // the earliest on top
      return time != other.time ? time > other.time : place > other.place;
    }
  };
  std::uint64_t drawn(std::uint32_t place, std::uint64_t what) const;
  Time gap(std::uint32_t place) const;
  std::int32_t receiver(std::uint32_t place) const;

  const BackgroundJob& job_;
  std::uint64_t seed_;
  std::vector<double> mean_;         // by place: picoseconds from one message to the next
  std::vector<std::uint64_t> count_; // messages before the next one
  std::priority_queue<Due> due_;
};

} // namespace kumihimo::packet
