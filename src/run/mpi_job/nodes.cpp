#include "mpi_job/nodes.hpp"

#include <nlohmann/json.hpp>

#include <map>

namespace kumihimo::mpi_job {

Nodes nodes_of(std::span<const std::string> name_of_rank) {
  Nodes nodes;
  std::map<std::string, std::int64_t> place;
  for (const std::string& name : name_of_rank) {
    const auto [node, is_new] = place.emplace(name, static_cast<std::int64_t>(place.size()));
    if (is_new) nodes.names.push_back(name);
    nodes.node_of_rank.push_back(node->second);
  }
  return nodes;
}

RankSpace Nodes::space() const {
  return shape ? RankSpace::recognise(*shape, place_of_rank) : RankSpace::on_nodes(node_of_rank);
}

nlohmann::json to_json(const Nodes& nodes) {
  nlohmann::json found = {
      {"one_node", !nodes.are_several()}, {"nodes", nodes.names}, {"node_of_rank", nodes.node_of_rank}};
  if (!nodes.shape) return found;
  found["shape"] = nodes.shape->text();
  for (const NodeId place : nodes.place_of_rank) found["places"].push_back(place.value);
  return found;
}

} // namespace kumihimo::mpi_job
