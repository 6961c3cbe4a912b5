// Chooses the variant for one key and size: every candidate is checked against the golden copy, those that are right
// run by turns, and what runs today is replaced only by a candidate that is faster by its whole interval.
#pragma once

#include "measure/statistics.hpp"
#include "problem/problem.hpp"

#include <nlohmann/json_fwd.hpp>

namespace kumihimo::problem {

struct TuningEffort {
  double seconds = 0.5;          // of measuring, about; the least number of rounds comes first
  double sample_seconds = 2e-4;  // of one sample: runs are repeated until it takes as long
  std::int64_t least_rounds = 7; // from 6 on the interval of the median has 95 %
  std::int64_t most_rounds = 25;
};

struct Tried {
  Candidate candidate;
  std::string refused;         // why it may not be chosen: the input on which it is wrong
  measure::Summary seconds;    // of one call; no samples where it was refused
  measure::Comparison untuned; // its time over that of what runs untuned, in pairs of the same round
  bool dropped = false;        // far slower than the fastest: not measured to the end
};

struct Decision {
  std::vector<Tried> tried;            // the golden copy first
  std::size_t chosen = 0, untuned = 0; // places in `tried`
  double bound_seconds = 0;            // median time of the bound of one call
};

// As commands print it: "chosen", "untuned" (candidates), "bound_seconds", "tried".
nlohmann::json to_json(const Decision& decision);

class Tuner {
 public:
  explicit Tuner(const Problem& problem) : problem_(problem) {}

  // Errors: those of Problem::trial; `failed` where the golden copy itself or what runs untuned is wrong.
  Result<Decision> decide(const Key& key, std::int64_t size, const TuningEffort& effort = {});

 private:
  // What check() says, asked once for each key and candidate.
  const std::string& fault(const Key& key, const Candidate& candidate);

  const Problem& problem_;
  std::map<std::pair<Key, std::string>, std::string> faults_; // by Candidate::text()
};

} // namespace kumihimo::problem
