// The real nodes of the ranks.
#pragma once

#include "topology/rank_space.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kumihimo::mpi_job {

// The real nodes on which the launcher put the ranks.
struct Nodes {
  std::vector<std::string> names;         // in the order of their first ranks
  std::vector<std::int64_t> node_of_rank; // the index of its name
  std::optional<Shape> shape;             // of the nodes, where the job's surroundings tell it
  std::vector<NodeId> place_of_rank;      // in the shape

  bool are_several() const { return names.size() > 1; }
  // As algorithms see the ranks, and as the interposer does.
  RankSpace space() const;
};

// The nodes by the name of MPI_Get_processor_name on each rank. The interposer uses these names, too.
Nodes nodes_of(std::span<const std::string> name_of_rank);

// {"one_node": false, "nodes": ["a", "b"], "node_of_rank": [0, 0, 1], "shape": "4", "places": [3, 3, 2]}
nlohmann::json to_json(const Nodes& nodes);

} // namespace kumihimo::mpi_job
