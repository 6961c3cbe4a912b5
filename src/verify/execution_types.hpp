// What an abstract execution (execution.hpp) looks at, and what it finds.
#pragma once

#include "verify/goal.hpp"
#include "verify/report.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::verify {

struct ExecutionScope {
  std::vector<SampledElement>
      sampled_elements;           // single elements, each in its segment and by itself; else all elements of ...
  std::int64_t segments = 0;      // ... that many segments, from the first
  bool none_empty = false;        // steps without data synchronise too (progress.hpp)
  std::int32_t entries_from = -1; // barrier: whose entries are followed (knowledge.hpp)
  std::vector<std::int32_t>
      ranks;          // these alone, whose messages with others carry nothing; empty: all. The first is judged
  bool memory = true; // follow the data, not only who waits for whom
};

struct Outcome {
  std::vector<Finding> findings;
  std::int64_t executed = 0;
  bool some_empty = false; // steps without data, which relay nothing
  std::uint64_t order = 0; // of the whole result, of all ranks that have it: see Coverage; 0 with sampled_elements
  std::int64_t height = 0; // relays on the longest path within a lane and segment
};

} // namespace kumihimo::verify
