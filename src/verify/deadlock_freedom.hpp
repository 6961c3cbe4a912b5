// Freedom from deadlock for all segments and iterations, shown without walking through them. The matching of messages
// is fixed and every wait is for all of a set of events, so one execution that goes through proves that none can be
// stuck (execution.hpp); it is enough to name one, a witness. Windows above 1 and iterations in flight only relax it.
//
//   one segment   If peers do not depend on the segment, all segments wait alike. The witness runs phase by phase
//                 (program/segment_start.hpp), and in each segment by segment, which goes through if one segment does.
//                 A segment's empty messages synchronise nothing, so it is tried with none empty: others wait for less.
//   lockstep      If every message is at the same position in both programs (the same nodes of the bodies and the same
//                 values of the loops' variables), all ranks can take their rounds in the order of positions, and each
//                 message meets its partner. The witness runs lane after lane. No loop is walked: rings of any length.
#pragma once

#include "program/program_set.hpp"
#include "verify/local_order.hpp"

#include <set>

namespace kumihimo::verify {

class DeadlockFreedom {
 public:
  explicit DeadlockFreedom(const ProgramSet& schedule) : segments_(schedule.segments) {}

  void add(const Program& program); // every rank once

  bool one_segment_stands_for_all() const { return segments_.count == 1 || (!varying_peers_ && has_phases()); }
  // Given that every message is at one position in both programs.
  bool lanes_in_turn() const { return !offloads_ && has_phases() && ordered_within_segment(); }

 private:
  struct Edge {
    std::int32_t lane = 0, on = 0; // ids: `lane` waits for `on`
    std::int64_t behind = 0;
    bool all = false;
    auto operator<=>(const Edge&) const = default;
  };
  void look_at(const Body& body);
  bool has_phases() const;
  bool ordered_within_segment() const;

  Segments segments_;
  bool varying_peers_ = false, offloads_ = false;
  std::set<std::int32_t> lanes_;
  std::set<Edge> edges_; // of all ranks together
};

} // namespace kumihimo::verify
