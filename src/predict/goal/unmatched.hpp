// What a simulation finds at its end where sends and receives never met.
#pragma once

#include "base/result.hpp"
#include "goal/matching.hpp"

#include <string>

namespace kumihimo::goal {

class Unmatched {
 public:
  template <class Matching>
  explicit Unmatched(const Matching& matching) {
    matching.for_each([&](const Waiting& each) { add(each); });
  }

  bool any() const { return first_.has_value(); }
  const Waiting& first() const { return *first_; }
  std::int32_t rank() const; // of it
  // Names the operation of the lowest rank, and of that rank the lowest one: what was posted and never matched comes
  // before what waits for it. `left`: operations that were not completed.
  Error error(const Graphs& graphs, std::uint64_t left) const;
  // The same of a first one with this name, and whether it has a partner, which does not start.
  Error error(const std::string& name, bool has_partner, std::uint64_t left) const;

 private:
  void add(const Waiting& each);
  std::optional<Waiting> first_;
  std::int64_t sends_ = 0, receives_ = 0;
};

} // namespace kumihimo::goal
