// The operations of program sets for a model, made as ranks come to them: those of a segment of a lane when it may
// start (program/segment_start.hpp), those of a long program some rounds at a time. They leave the memory when nothing
// refers to them any more.
#pragma once

#include "base/fifo.hpp"
#include "goal/round_operations.hpp"
#include "program/segment_start.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace kumihimo::goal {

// What a model notes of a send.
struct SendNote {
  std::uint64_t order = 0;      // among all sends, as they began
  std::uint32_t receive = none; // that it has met
  bool is_there = false;        // before its receive was posted
  Time taking = 0;              // then: how long it is taken
  static constexpr std::uint32_t none = 0xFFFFFFFFU;
};

class ProgramSegments {
 public:
  static constexpr bool is_whole = false, of_programs = true;

  // `rates`: in bytes. The set outlives this.
  ProgramSegments(const ProgramSet& set, WorkRates rates);

  std::int32_t ranks() const { return set_.ranks(); }
  const Program& program(std::int32_t rank) const { return of(rank).program; } // its lanes without rounds if it is long
  std::int32_t most_lanes() const { return most_lanes_; }                      // of a rank
  static std::uint32_t lane_of(const GraphOperation& of) { return 256U * of.cpu + of.nic; } // of its rank
  std::int32_t ranks_of_lane(std::int32_t rank, const GraphOperation& of) const;            // that have it, by its id
  std::int32_t peer(std::int32_t rank, std::int32_t distance) const {
    const std::int32_t left = ranks() - rank;
    return distance < left ? rank + distance : distance - left;
  }
  const GraphOperation& of(std::int32_t rank, std::uint32_t i) const {
    const Part& part = part_of(rank, i);
    return part.graph.operations[i - part.first];
  }
  SendNote& note(std::int32_t rank, std::uint32_t i) {
    Part& part = part_of(rank, i);
    return part.states[i - part.first].note;
  }

  // fn(operation, time from which it may start), of those that wait for none. What is told of an operation: its end,
  // and when it is done; of a send that it is done also after its message has met its receive.
  template <class Fn>
  void begin(std::int32_t rank, Fn&& fn) {
    wake(rank, 0, fn);
  }
  template <class Fn>
  void started(std::int32_t, std::uint32_t, Time, Fn&&) {}
  template <class Fn>
  void ended(std::int32_t rank, std::uint32_t i, Time time, Fn&& fn) {
    Part& part = part_of(rank, i);
    const GraphOperation& operation = part.graph.operations[i - part.first];
    for (std::uint32_t d = operation.first; d < operation.first + operation.after_end; ++d)
      if (const std::uint32_t next = part.graph.dependents[d]; --part.states[next].left == 0)
        fn(part.first + next, time);
    if (--part.to_end == 0) part_ended(rank, part.lane, part.segment, time, fn);
  }
  void done(std::int32_t rank, std::uint32_t i) { let_go(rank, part_of(rank, i)); }

  std::uint64_t wanted() const { return wanted_; } // operations but joins, so far
  const Status& status() const { return status_; } // of making operations
  std::int64_t unfinished_lanes() const { return unfinished_; }
  Time end(std::int32_t rank, std::size_t lane) const { return of(rank).lanes[lane].end; }

 private:
  static constexpr std::uint32_t in_page = 16; // a part has pages of its own
  static constexpr std::int64_t short_program = 1024, steps_at_a_time = 256;
  struct State {
    std::uint32_t left = 0; // operations that it waits for
    SendNote note;
  };
  struct Part { // a segment of a lane, or some of its rounds
    Graph graph;
    std::vector<State> states;
    std::uint32_t first = 0;            // number of its first operation
    std::uint32_t to_end = 0, left = 0; // operations that have not ended; that are not done
    std::uint32_t lane = 0;
    std::int64_t segment = 0;
  };
  struct OfLane {
    Lane* lane = nullptr;
    RoundOperations::OfLane rounds;
    bool is_long = false;             // its rounds are read some at a time
    std::optional<std::int64_t> next; // position of those to be read next, if there are more
    std::vector<SegmentWait> waits;
    std::int64_t window = 1, started = 0, done = 0; // segments; all below `done` are complete
    std::vector<char> complete;                     // by segment modulo window
    const Part* latest = nullptr;                   // of its segments; the next one is much the same
    std::vector<Part*> spare;                       // done, for a later segment
    Time end = 0;
  };
  struct OfRank {
    Program program;
    std::unique_ptr<RoundOperations> rounds;
    std::vector<OfLane> lanes;
    Fifo<Part*> pages; // of operations; null: all of it is done
    std::uint32_t first_page = 0;
    bool waking = false;
  };
  const OfRank& of(std::int32_t rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  OfRank& of(std::int32_t rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  Part& part_of(std::int32_t rank, std::uint32_t i) const {
    const OfRank& r = of(rank);
    return *r.pages[i / in_page - r.first_page];
  }
  Status open(std::int32_t rank);
  bool may_begin(const OfRank& r, const OfLane& lane) const;
  Status add_rounds(std::int32_t rank, OfLane& lane, std::int64_t segment);
  Part* next_part(std::int32_t rank, OfLane& lane, std::int64_t segment);
  Part* make(std::int32_t rank, std::uint32_t lane, std::int64_t segment); // null: there are no more, or an error
  void let_go(std::int32_t rank, Part& part);
  void complete(OfLane& lane, std::int64_t segment, Time time);

  // Starts all segments of this rank's lanes that may start. Those that are complete at once ask for it again: the call
  // under way sees to them, however many there are.
  template <class Fn>
  void wake(std::int32_t rank, Time time, Fn&& fn) {
    OfRank& r = of(rank);
    if (r.waking) return;
    r.waking = true;
    for (bool again = true; again;) {
      again = false;
      for (std::uint32_t l = 0; l < r.lanes.size(); ++l)
        while (status_.ok() && may_begin(r, r.lanes[l])) {
          OfLane& lane = r.lanes[l];
          const std::int64_t segment = lane.started++;
          lane.rounds.begin_segment();
          lane.complete[static_cast<std::size_t>(segment % lane.window)] = 0;
          start_part(rank, l, segment, time, fn);
          again = true;
        }
    }
    r.waking = false;
  }
  // The next operations of the segment; without any it is complete.
  template <class Fn>
  void start_part(std::int32_t rank, std::uint32_t l, std::int64_t segment, Time time, Fn&& fn) {
    Part* const part = make(rank, l, segment);
    if (!part && status_.ok()) complete(of(rank).lanes[l], segment, time);
    if (!part) return;
    ++part->left; // all of it may be done before the last one is told
    for (std::uint32_t i = 0; i < part->states.size(); ++i)
      if (part->graph.operations[i].waits_for == 0) fn(part->first + i, time);
    let_go(rank, *part);
  }
  template <class Fn>
  void part_ended(std::int32_t rank, std::uint32_t l, std::int64_t segment, Time time, Fn&& fn) {
    OfLane& lane = of(rank).lanes[l];
    if (lane.next)
      start_part(rank, l, segment, time, fn);
    else
      complete(lane, segment, time);
    wake(rank, time, fn);
  }

  const ProgramSet& set_;
  OfSet of_set_;
  const std::int64_t most_;
  std::vector<OfRank> ranks_;
  std::vector<std::int32_t> ranks_of_; // by the dense number of a lane
  std::int64_t rounds_ = 0;            // of all ranks, in memory from the start
  std::int32_t most_lanes_ = 0;
  GraphBuilder builder_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::vector<Part*> unused_;
  std::int64_t held_ = 0, unfinished_ = 0; // operations; lanes
  std::uint64_t wanted_ = 0;
  Status status_ = Nothing{};
};

} // namespace kumihimo::goal
