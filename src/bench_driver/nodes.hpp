// On which real nodes the launcher put the ranks.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kumihimo::bench_driver {

struct Nodes {
  std::vector<std::string> names;         // in the order of their first ranks
  std::vector<std::int64_t> node_of_rank; // by place among the names

  bool are_several() const { return names.size() > 1; }
};

// From what MPI_Get_processor_name says on each rank, by which the interposer tells nodes apart, too.
Nodes nodes_of(std::span<const std::string> name_of_rank);

// {"one_node": false, "nodes": ["a", "b"], "node_of_rank": [0, 0, 1]}
nlohmann::json to_json(const Nodes& nodes);

} // namespace kumihimo::bench_driver
