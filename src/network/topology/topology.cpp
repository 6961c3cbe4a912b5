#include "topology/topology.hpp"

namespace kumihimo {

std::int64_t Topology::links() const { return count_links(); }

std::vector<Topology::Cut> Topology::cuts() const {
  if (nodes() < 2) return {};
  return {{0.5, {bisection_links()}}};
}

std::int64_t Topology::count_links() const {
  std::int64_t n = 0;
  for (std::int64_t id = 0; id < link_bound(); ++id) n += is_link(LinkId{id});
  return n;
}

} // namespace kumihimo
