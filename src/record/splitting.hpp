// How much of the time in blocking collectives was waiting: the entry times that were kept are compared with the last
// rank's, by one reduction a communicator.
#pragma once

#include "record/clock.hpp"
#include "record/communicators.hpp"

#include <string>
#include <vector>

namespace kumihimo::record {

class Splitting {
 public:
  Splitting(const mpi::Library& library, const Clock& clock) : library_(library), clock_(clock) {}

  // One that is about to be freed, by all its ranks together.
  void split(Communicator& communicator) const;
  // All that live at the end, at once: the ranks may have them in any order.
  void split(const std::vector<Communicator*>& communicators) const;

 private:
  std::vector<std::int64_t> entries(const Communicator& communicator) const;
  void divide(Communicator& communicator, const std::vector<std::int64_t>& last) const;
  void wait_for(std::vector<mpi::Handle>& requests) const;

  const mpi::Library& library_;
  const Clock& clock_;
};

} // namespace kumihimo::record
