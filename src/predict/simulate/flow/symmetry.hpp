// Ranks that do the same at the same time. If a shift of a torus' coordinates is a symmetry of the network (routes and
// numbers), of the placement and of the schedule, a rank and its images do the same. One of them is walked and stands
// for all. Nothing is assumed of an algorithm: every rank's program is compared with its image's.
#pragma once

#include "fluid/resources.hpp"
#include "simulate/flow/compiled.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace kumihimo::simulation {

class Symmetry {
 public:
  // None where no shift is one, where more than `most_steps` would be left of the walk, or too many are to be compared:
  // O(steps), loops iterated.
  static std::shared_ptr<const Symmetry> find(const Compiled& compiled, const NetworkPaths& network, double most_steps);

  std::int32_t alike() const { return alike_; } // ranks that one stands for, itself among them
  // The one that stands for a rank.
  std::int32_t first(std::int32_t rank) const { return first_[static_cast<std::size_t>(rank)]; }
  bool is_first(std::int32_t rank) const { return first(rank) == rank; }
  // Where the shift that takes `from` to its first takes another rank.
  std::int32_t moved(std::int32_t rank, std::int32_t from) const;
  // The one whose load is that of a link (or of what is a node's or a rank's own).
  Resource first_resource(Resource r) const { return resource_[static_cast<std::size_t>(r)]; }

 private:
  Symmetry(Shape shape, std::vector<std::int32_t> periods);
  bool holds(const Compiled& compiled) const;
  bool holds(const NetworkPaths& network);

  Shape shape_;
  std::vector<std::int32_t> periods_;
  std::int32_t alike_ = 1;
  std::vector<std::int32_t> first_;
  std::vector<Resource> resource_;
};

// The stage `symmetry`: leaves the instances of the ranks that stand for others, if there are any (see Symmetry::find).
Compiled fold_symmetry(Compiled compiled, const NetworkPaths& network, double most_steps);

} // namespace kumihimo::simulation
