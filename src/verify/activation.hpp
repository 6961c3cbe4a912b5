// One segment of one lane of one rank, made concrete: a tree of loops and rounds with the steps' elements resolved.
// Expanded in full, or for one element only: then the iterations that touch it are solved for, and a ring of 80,000
// steps becomes four.
#pragma once

#include "program/binding.hpp"
#include "verify/report.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace kumihimo::verify {

// A place in a rank's memory: buffer 0 is the input, 1 the output, 2 + i scratch i.
struct Located {
  std::int32_t buffer = -1;
  std::int32_t first_run = 0, runs = 0; // in Activation::runs
  bool exists() const { return buffer >= 0; }
};

struct StepInstance {
  StepKind kind = StepKind::copy;
  bool arriving_left = false;
  std::int32_t step = 0; // of its round
  std::int32_t peer = -1;
  std::int32_t ordinal = 0; // its number, from 0, among those towards its peer in this lane and segment; signals apart
  std::int64_t length = 0;
  Located source, right, target;

  bool sends() const { return kumihimo::sends(kind); }
  bool receives() const { return kumihimo::receives(kind); }
  bool is_signal() const { return kumihimo::is_signal(kind); }
  bool has_data() const { return kumihimo::has_data(kind, source.exists() || target.exists()); }
};

// Facts that have reached a point of the program: see happens_before.hpp.
struct Token {
  std::int32_t hops = 0; // messages relayed one after the other within this segment of the lane
  std::int32_t set = -1; // ranks known to have entered (barrier)
};

// A body, a loop (whose children are its iterations) or a round. A child starts once all those whose iteration is at
// most its own less in_flight are complete, in order; a body is a loop with one iteration in flight, or with all of
// them if they start together.
struct TreeNode {
  std::int32_t parent = -1, first_child = -1, next_sibling = -1;
  std::int32_t in_flight = 1; // of its children
  std::int64_t iteration = 0; // of its parent
  std::int32_t round = -1;    // as written; -1: no round
  std::int32_t first_step = 0, steps = 0;
  bool is_loop = false;
};

// Where the execution of a node stands.
struct NodeState {
  bool complete = false;
  std::int32_t next = -1;   // child to start
  std::int32_t oldest = -1; // first child not complete
  std::int32_t pending = 0; // steps of a round

  Token start, done; // when it starts; when it is complete
  Token joined;      // of its children before `unjoined`
  std::int32_t unjoined = -1;
};

struct Activation {
  std::int32_t rank = 0, lane = 0, lane_id = 0; // lane: index in the program
  std::int64_t segment = 0;
  std::vector<TreeNode> nodes;   // 0 is the root
  std::vector<NodeState> states; // of the nodes, once it has begun
  std::vector<StepInstance> steps;
  std::vector<ElementRun> runs;

  StepLocation place(std::int32_t node, std::int32_t step) const; // step: index in steps, or -1
  // Whether everything under `a` (or its round) is over when round `b` of this activation starts.
  bool ordered(std::int32_t a, std::int32_t b) const;
};

// One element of the vector layout in one segment.
struct SampledElement {
  std::int64_t segment = 0, element = 0;
  auto operator<=>(const SampledElement&) const = default;
};

class ActivationExpander {
 public:
  ActivationExpander(const Program& program, const Binding& binding) : program_(program), binding_(binding) {}

  Activation full(std::int32_t lane, std::int64_t segment) const;
  // Steps that touch the element; each run is that element alone. A step whose chunks disagree about where the element
  // stands is an error, appended to `findings`.
  Activation of_element(std::int32_t lane, const SampledElement& element, std::vector<Finding>& findings) const;
  // Elements of a segment outside of which the lane surely touches none. In the vector layout.
  ElementRun reach(std::int32_t lane, std::int64_t segment) const;

 private:
  const Program& program_;
  const Binding& binding_;
};

} // namespace kumihimo::verify
