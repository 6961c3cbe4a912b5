// A problem has one answer and several ways to compute it. Its variants are compared with the golden copy, measured by
// turns, and the fastest right one is the plan for a key and a size class (FFTW's problem, solver, plan and wisdom;
// ADR 0025). Nothing here knows what a problem computes.
#pragma once

#include "base/parameter.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kumihimo::problem {

// A problem without its size: fields of text in the problem's own order.
using Key = std::vector<std::pair<std::string, std::string>>;

// A variant with a value for each of its parameters.
struct Candidate {
  std::string variant;
  ParameterValues parameters;
  bool operator==(const Candidate&) const = default;
  std::string text() const; // "blocked, block 64"
};
// All combinations of the values that tuning tries, those of the last parameter fastest.
std::vector<Candidate> candidates_of(const VariantDescription& variant);

// Runs of one key and size: their memory, and whatever else is made once.
class Trial {
 public:
  virtual ~Trial() = default;
  // Calls of the variant in one run.
  virtual std::int64_t calls() const { return 1; }
  // Computes the answer `times` times.
  virtual void run(const Candidate& candidate, std::int64_t times) = 0;
  // Does `times` times the work that no variant can avoid in a run: its time is a lower bound.
  virtual void run_bound(std::int64_t times) = 0;
};

class Problem {
 public:
  virtual ~Problem() = default;
  // The variants that this machine can run. The golden copy is the first.
  virtual std::vector<VariantDescription> variants(const Key& key) const = 0;
  // The variant that runs where nothing was tuned. It stays unless another one is faster.
  virtual Candidate untuned(const Key& key, std::int64_t size) const = 0;
  // Compares the candidate with the golden copy on random and on edge inputs. The error names the input.
  virtual Status check(const Key& key, const Candidate& candidate) const = 0;
  // Error: this machine cannot measure the key, or has not the memory.
  virtual Result<std::unique_ptr<Trial>> trial(const Key& key, std::int64_t size) const = 0;
};

} // namespace kumihimo::problem
