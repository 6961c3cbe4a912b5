// Random program sets that are no collective: any pairs of ranks, lanes, rounds and computation on any small machine.
#pragma once

#include "support.hpp"

#include <random>

namespace kumihimo::simulate_test {

struct RandomPrograms {
  Job job;
  ProgramSet set;
  std::int64_t number = 0;                 // among those of its seed
  std::optional<Placement> placement = {}; // none: block order

  std::string text() const;
};

class RandomProgramSets {
 public:
  explicit RandomProgramSets(std::uint64_t seed) : seed_(seed) {}
  RandomPrograms next() { return at(++drawn_); }
  RandomPrograms at(std::int64_t number) const;

 private:
  std::uint64_t seed_;
  std::int64_t drawn_ = 0;
};

} // namespace kumihimo::simulate_test
