#include "topology/place_in_shape.hpp"

#include "base/text_lines.hpp"

#include <fmt/format.h>

#include <set>
#include <string>

namespace kumihimo {
namespace {

// The number of this host among those of the file, of which one may have several lines; -1: it has none.
std::int32_t place_of(std::string_view host, std::string_view hosts) {
  std::set<std::string_view> earlier;
  for (TextLines lines(hosts); lines.are_left();) {
    const std::string_view line = trimmed(lines.next(), " \t\r"), name = line.substr(0, line.find_first_of(" \t:#"));
    if (name == host) return static_cast<std::int32_t>(earlier.size());
    if (!name.empty()) earlier.insert(name);
  }
  return -1;
}

} // namespace

Result<std::optional<PlaceInShape>> place_in_shape(std::string_view shape, std::string_view hosts,
                                                   const RankOnHost& rank) {
  if (shape.empty()) return std::optional<PlaceInShape>();
  const Shape nodes = TRY(Shape::parse(shape));
  if (hosts.empty() && rank.ranks % nodes.places() != 0)
    return wrong_value(fmt::format("--shape must have a number of nodes that divides the {} ranks", rank.ranks),
                       nodes.text());
  const std::int32_t place =
      hosts.empty() ? rank.rank / (rank.ranks / static_cast<std::int32_t>(nodes.places())) : place_of(rank.host, hosts);
  if (place < 0 || place >= nodes.places())
    return wrong_value(fmt::format("{} must name the {} nodes of the shape", hosts_variable, nodes.places()),
                       fmt::format("no '{}' among the first {}", rank.host, nodes.places()));
  return std::optional(PlaceInShape{nodes, NodeId{place}});
}

} // namespace kumihimo
