// One small network of each family, for tests over all.
#pragma once

#include "topology/dragonfly.hpp"
#include "topology/fat_tree.hpp"
#include "topology/router_torus.hpp"
#include "topology/single_node.hpp"
#include "topology/tofu.hpp"
#include "topology/torus.hpp"

#include <memory>
#include <vector>

namespace kumihimo::mapping {

inline std::vector<TopologyPtr> small_networks() {
  std::vector<TopologyPtr> networks;
  for (const char* shape : {"8", "7m", "4x6", "4x5mx2", "3x2x2x3mx2", "2x3mx4x2mx3x2m"})
    networks.push_back(std::make_shared<Torus>(*Shape::parse(shape)));
  networks.push_back(std::make_shared<Tofu>(*Tofu::make(Tofu::usual({3, 2, 2, 2, 3, 2}))));
  networks.push_back(std::make_shared<RouterTorus>(*Shape::parse("3x4"), 2));
  networks.push_back(std::make_shared<FatTree>(*FatTree::make({{4, 1}, {4, 4}, {2, 4}}, 30)));
  networks.push_back(std::make_shared<FatTree>(*FatTree::make({{12, 1}}, 10)));
  networks.push_back(std::make_shared<Dragonfly>(*Dragonfly::make({9, 4, 0, 2, 1, 1}, 72)));
  networks.push_back(std::make_shared<SingleNode>());
  return networks;
}

} // namespace kumihimo::mapping
