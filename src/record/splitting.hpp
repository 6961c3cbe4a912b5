// How much of the time in blocking collectives was waiting: the entry times that were kept are compared with the last
// rank's, by one reduction a communicator.
#pragma once

#include "record/clock.hpp"
#include "record/communicators.hpp"

#include <memory>
#include <vector>

namespace kumihimo::record {

class Splitting {
 public:
  Splitting(const mpi::Library& library, const Clock& clock) : library_(library), clock_(clock) {}

  // One that is about to be freed, by all its ranks together; or all that live at the end, at once: the ranks may have
  // them in any order.
  void split(const std::vector<Communicator*>& communicators) const;

 private:
  std::int64_t compared(const Communicator& communicator, std::int64_t ns) const; // as other ranks have it
  std::vector<std::int64_t> entries(const Communicator& communicator) const;
  void divide(Communicator& communicator, const std::vector<std::int64_t>& last) const;
  struct Reduction {
    Communicator* communicator = nullptr;
    std::vector<std::int64_t> mine, last;
    mpi::Handle request = 0;
  };
  static void keep_for_good(std::unique_ptr<Reduction> reduction);
  // A rank on which the recorder was lost would never come: that is said, not waited for in silence.
  struct Patience {
    std::int64_t begun_ns = Clock::now_ns();
    bool told = false;
    void wait();
  };
  // Whether it has; not where the library knows of an error.
  bool ended(mpi::Handle& request, Patience& patience) const;

  const mpi::Library& library_;
  const Clock& clock_;
};

} // namespace kumihimo::record
