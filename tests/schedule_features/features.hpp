// One schedule for each feature of the form (ADR 0001), small and correct: whatever reads schedules must handle them
// all. Include as "schedule_features/features.hpp" and link kumihimo_schedule_features.
#pragma once

#include "schedule/schedule.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace kumihimo::features {

struct Feature {
  std::string name; // "alltoall_local_counts"
  Schedule schedule;
  friend std::ostream& operator<<(std::ostream& out, const Feature& f) { return out << f.name; }
};

std::vector<Feature> all();

// Its parts, by what the collective moves.
std::vector<Feature> of_vectors(); // broadcasts and reductions
std::vector<Feature> of_blocks();  // gathers, scatters, exchanges
std::vector<Feature> of_signals(); // barriers

// A schedule named after its feature, of the given collective.
Feature make(std::string name, Collective collective, Segments segments, std::function<Program(Rank)> program);

} // namespace kumihimo::features
