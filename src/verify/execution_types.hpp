// Inputs and findings of an abstract execution (execution.hpp).
#pragma once

#include "verify/post_condition.hpp"
#include "verify/report.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::verify {

struct ExecutionScope {
  std::vector<SampledElement> sampled_elements; // followed one by one, each in its segment; empty: all elements
  std::int64_t segments = 0;                    // number of segments, from the first, if all elements are followed
  bool none_empty = false;                      // steps without data synchronise too (deadlock_freedom.hpp)
  std::int32_t entries_from = -1;               // barrier: whose entries are followed (happens_before.hpp)
  std::vector<std::int32_t> ranks; // executed alone, the first one is judged; messages with others are empty. None: all
  bool memory = true;              // follow the data, not only who waits for whom
};

struct ExecutionOutcome {
  std::vector<Finding> findings;
  std::int64_t executed = 0;
  bool some_empty = false; // steps without data, which relay nothing
  std::uint64_t order = 0; // of the whole result, of all ranks that have it: see Coverage; 0 with sampled_elements
  std::int64_t height = 0; // relays on the longest path within a lane and segment
};

} // namespace kumihimo::verify
