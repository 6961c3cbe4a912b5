// The problems that every row of the registry must solve.
#pragma once

#include "check.hpp"
#include "collectives/registry.hpp"

namespace conformance {

struct Place {
  std::string name;
  kumihimo::RankSpace space;
};
// Shapes up to four dimensions: odd, 1-long and 2-long axes, rings and meshes; nodes of several ranks, equal and not;
// rows without a shape.
const std::vector<Place>& all_places();

struct Case {
  Problem problem;
  kumihimo::Parameters parameters;
  std::string spread; // of irregular counts
  std::string name() const;
};
// For each count of interest one case, its other choices drawn (the same in every run).
std::vector<Case> cases(const kumihimo::Variant& variant, const Place& place);

} // namespace conformance
