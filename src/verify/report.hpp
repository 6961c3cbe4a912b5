// Report of a check of a schedule: findings that name the place (rank, lane, segment, step), and the number of places
// checked.
#pragma once

#include "program/program.hpp"

#include <string>
#include <vector>

namespace kumihimo::verify {

enum class Check : std::uint8_t { structure, matching, deadlock, overlap, dataflow, claim };
std::string_view name_of(Check check);

// A step of one rank's program. What does not apply is -1.
struct StepLocation {
  std::int32_t rank = -1;
  std::int32_t lane = -1;
  std::int64_t segment = -1;
  std::int32_t round = -1;         // as written, in program order
  std::int32_t step = -1;          // of the round
  std::vector<std::int64_t> loops; // the values of the enclosing loops' variables, outermost first
  StepKind kind = StepKind::copy;  // where step >= 0
  std::int32_t peer = -1;

  std::string text() const; // "rank 3, lane 1, segment 2, round 4 (i = 2), step 1 (receive from 7)"
};

struct Finding {
  Check check = Check::structure;
  StepLocation place;
  std::string what;

  std::string sentence() const { return place.text() + ": " + what; }
};

// How much was looked at. Matching is always complete unless pairs were sampled; the rest is exact (every segment and
// element) or sampled.
struct Coverage {
  bool exact = false;         // every step of every segment was executed
  std::int64_t steps = 0;     // of all ranks, loops and segments expanded
  std::int64_t pairs = 0;     // ordered pairs and lanes whose messages were matched
  bool pairs_sampled = false; // some loops meet too many peers to list them all
  std::int64_t samples = 0;   // (segment, unit) pairs followed through all ranks where not exact: see SampledElements
  std::int64_t executed = 0;  // steps executed
  std::int64_t deadlock_segments = 0;  // segments executed with synchronous sends, from the first
  bool deadlock_shown = false;         // there is none, in all segments and iterations
  std::string deadlock;                // by what it is shown, or for what it is not
  std::int64_t footprints = 0;         // ranks whose memory was followed for all elements where not exact
  std::int64_t footprint_segments = 0; // of how many segments, from the first
  std::int64_t deliveries = 0;         // ranks whose result was compared with what those that they receive from send
  std::int64_t height = -1;            // relays on the longest path within a lane, as found
  // Hash of the order in which each element of the result is combined, where exact; 0 otherwise. Two schedules of one
  // collective with the same hash give the same bits, whatever rounds.
  std::uint64_t order = 0;
};

struct Report {
  std::vector<Finding> findings;
  Coverage coverage;

  bool ok() const { return findings.empty(); }
  std::string text() const; // one line, or one for each finding
};

struct VerifyOptions {
  std::int64_t most_exact_steps = 2'000'000;   // up to which every step is executed
  std::int64_t most_exact_pieces = 400'000;    // of data, as all ranks cut them: and up to how many of those
  std::int64_t most_control_steps = 6'000'000; // beyond: steps executed without their data
  std::int64_t most_footprint_steps = 500'000; // and those of ranks followed by themselves
  std::int64_t most_pairs = 8'000'000;         // up to which every ordered pair is matched
  std::int32_t samples = 4; // random (segment, unit) pairs beside the lanes' own and the first and last ones
  std::uint64_t seed = 1;
  std::size_t most_findings = 10;
};

} // namespace kumihimo::verify
