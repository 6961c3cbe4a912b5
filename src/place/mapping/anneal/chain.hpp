// One annealing chain: a map, the costs of its ranks, and random numbers of its own.
#pragma once

#include "mapping/anneal/link_guard.hpp"
#include "mapping/anneal/nearby.hpp"
#include "mapping/search/problem.hpp"
#include "mapping/search/tools.hpp"

#include <functional>
#include <memory>

namespace kumihimo::mapping {

class Chain {
 public:
  virtual ~Chain() = default;

  // Sets the temperature so that this share of uphill proposals is accepted from the map as it is.
  virtual void heat(double accepted) = 0;
  // Anneals from one share of the whole course to another, with about so many terms.
  virtual void cool(double from, double to, std::int64_t terms, const std::function<bool()>& stop) = 0;
  // Takes the best exchange of each rank while there is one that gains, or until the terms are used up.
  virtual void descend(std::int64_t terms, const std::function<bool()>& stop) = 0;
  virtual void restart_from(const Chain& other) = 0;

  // From now on the guard is asked before each move; nullptr: none. It must be of this chain's map.
  void set_guard(LinkGuard* guard) { guard_ = guard; }

  const Assignment& map() const { return map_; }
  std::int64_t hop_bytes() const { return hop_bytes_; }

  // For the host's kind of distances. The problem and `nearby` must live as long.
  static std::unique_ptr<Chain> make(const MappingProblem& problem, const Nearby& nearby, Assignment map,
                                     std::uint64_t seed);

 protected:
  Chain(const MappingProblem& problem, Assignment map);
  Assignment map_;
  std::int64_t hop_bytes_ = 0;
  LinkGuard* guard_ = nullptr;
};

} // namespace kumihimo::mapping
