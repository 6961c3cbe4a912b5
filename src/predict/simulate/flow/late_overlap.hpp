// Messages, sums and computation of earlier levels that may still be under way when those of a later one begin. Both
// together may want more of a resource than there is: then each is slower while both last. The later one says so itself
// (FlowMessage::late_overlap), and the result of add() says it for the earlier ones, which are delivered by then: by
// how much one of them may take longer.
#pragma once

#include "simulate/flow/level.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace kumihimo::simulation {

// Of the resources that messages flow over. Most levels begin when all before them have ended, or nearly: what meets
// for a small part of a level is neglected. Such a level is only kept, since what starts in a later level waits for a
// step of this one, and so meets none of those before it.
class MessagesUnderWay {
 public:
  // `neglected`: the part of a level that may meet an earlier one and is not looked at.
  MessagesUnderWay(const std::vector<double>& capacities, double neglected)
      : capacities_(capacities), neglected_(neglected) {}

  void clear();
  double add(FlowLevel& level);
  // The level is delivered: takes its flows if it is kept.
  void end(FlowLevel& level);

 private:
  struct Use {               // of a message, or of all messages of a level that use a resource
    float rate = 0, end = 0; // of all of them, and of the last; small, since each look at a resource is a cache miss
  };
  struct Levels {
    Use before, here;       // the earlier level that ends last, and the latest
    std::int32_t level = 0; // the latest
  };
  void add_uses(const FlowSet& flows, const std::vector<Use>& uses, const FlowLevel* level, double until);

  const std::vector<double>& capacities_;
  double neglected_;
  std::vector<Levels> levels_; // by resource
  double until_ = 0;           // all earlier messages have left
  std::int32_t level_ = 0;     // whose uses were added last
  bool is_kept_ = false;       // the level before this one, which is not in `levels_` yet
  bool keeps_this_ = false;    // the one that was added last
  FlowSet kept_;               // flows of that level
  std::vector<Use> uses_, kept_uses_;
  std::vector<std::uint32_t> meeting_; // messages that begin before an earlier one has left a resource of theirs
};

// Of the processors that sum and compute.
class SumsUnderWay {
 public:
  explicit SumsUnderWay(std::size_t ranks) : processors_(ranks) {}

  void clear();
  double add(FlowLevel& level);

 private:
  struct Busy { // a time during which a processor sums or computes without a break
    double begin = 0, end = 0;
    double overlap(const Busy& other) const { return std::min(end, other.end) - std::max(begin, other.begin); }
    // The next one: they take turns. Of two apart the later one is kept.
    void add(const Busy& other) {
      if (const double both = overlap(other); both > 0)
        *this = {std::min(begin, other.begin), std::max(end, other.end) + both};
      else if (other.end > end)
        *this = other;
    }
  };
  struct Processor {
    Busy before, here;      // for earlier levels, and for the latest
    std::int32_t level = 0; // the latest
  };
  std::vector<Processor> processors_; // by rank
  std::int32_t level_ = 0;
};

} // namespace kumihimo::simulation
