// Request to a search for a placement, and its answer.
#pragma once

#include "mapping/bounds/bounds.hpp"
#include "mapping/objective/measures.hpp"
#include "mapping/partition/partitioner.hpp"
#include "mapping/search/problem.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::mapping {

enum class Objective { hop_bytes, links, time, off_node };
enum class SearchEffort { fast, standard, thorough };
Result<Objective> objective_of(std::string_view name); // "hop-bytes", "links", "time", "off-node"; the error lists them
Result<SearchEffort> effort_of(std::string_view name); // "fast", "standard", "thorough"

struct MappingRequest {
  const Traffic& traffic;
  const MappingHost& host;
  Objective objective = Objective::hop_bytes;
  SearchEffort effort = SearchEffort::standard;
  std::uint64_t seed = 1;
  Shape nodes;               // the axes that the job's nodes have, for orders; without axes where they have none
  std::optional<Shape> grid; // of the ranks, in row-major order; none: looked for
  // Whether the result may load its busiest link more than the usual order or the best library map does.
  bool caps_links = true;
  // Where ranks are without a map; none: in block order. The result is compared with it.
  std::optional<NamedMap> usual = {};
  bool only_orders = false;                        // no search: the usual orders and the starts are compared; no bounds
  std::vector<NamedMap> starts = {};               // of the user; candidates too
  std::span<Partitioner* const> partitioners = {}; // none: the project's own
  // For objective time: predicted seconds of a placement. A candidate without a prediction loses.
  std::function<std::optional<double>(const Placement&)> seconds = {};
};

enum class MapOrigin { order, user, structured, library, bisection, annealed };

struct CandidateMap {
  std::string name;
  MapOrigin origin = MapOrigin::order;
  Assignment map;
  Measures measures;
  std::optional<double> seconds; // objective time: of finalists
  bool is_within_cap = true;
};

struct Mapping {
  std::vector<CandidateMap> candidates; // the usual order first, then as they were found
  std::size_t chosen = 0;
  std::vector<std::string> lattices; // names of the grids that were recognised
  std::vector<HopBound> bounds;      // highest first
  std::vector<LinkBound> link_bounds;
  bool complete = true; // not stopped
};

} // namespace kumihimo::mapping
