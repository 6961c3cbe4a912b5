// What messages put on links, engines, memories, threads and queues.
#pragma once

#include "simulate/flow/channel_table.hpp"
#include "simulate/flow/compiled.hpp"
#include "simulate/flow/level.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace kumihimo::simulation {

// Of all segments of all phases so far.
struct ResourceTraffic {
  struct OfResource {
    double bytes = 0;
    std::uint32_t last_flow = 0; // of links, in this phase
    bool is_shared = false;      // of links: messages met
  };
  std::vector<OfResource> resources; // links first
};

// Messages of one segment that are worked off one after another, and the seconds that they take of that.
struct QueueLoad {
  std::int32_t instance = -1; // that sends
  double messages = 0, cost = 0, transfer = 0;
};

// Of one segment of a phase, if others follow.
struct Loads {
  std::size_t pipelines = 0;
  std::vector<double> bytes; // [resource][pipeline]
  ChannelTable<QueueLoad> between;
  std::vector<QueueLoad> issued; // by instance: all that it sends
  std::vector<double> taken;     // by instance: seconds that it takes what it receives
  // Messages above the mean, by instance and part of the vector, in a segment that has an element of the part; of parts
  // that not every segment has an element of.
  std::map<std::pair<std::int32_t, std::int32_t>, double> bunched;

  double* of(Resource r) { return bytes.data() + static_cast<std::size_t>(r) * pipelines; }
  const double* of(Resource r) const { return bytes.data() + static_cast<std::size_t>(r) * pipelines; }
};

// Adds up levels.
class LoadCounter {
 public:
  // `times`: segments that each one counted stands for. Without `loads` no segment follows.
  LoadCounter(const Compiled& compiled, const NetworkPaths& network, double times, ResourceTraffic& traffic,
              Loads* loads);

  void add(const FlowLevel& level, const FairShares& shares);
  const std::vector<double>& summed() const { return summed_; } // bytes by rank, of all segments of the phase

 private:
  void add_sum(const FlowMessage& m);
  void add_to_queues(const FlowMessage& m);

  const Compiled& compiled_;
  const NetworkPaths& network_;
  const double times_, element_;
  ResourceTraffic& traffic_;
  Loads* const loads_;
  std::vector<double> summed_;
  std::vector<Resource> of_sum_;
};

} // namespace kumihimo::simulation
