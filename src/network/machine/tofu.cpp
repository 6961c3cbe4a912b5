// Machines of Tofu: jobs in boxes, and around dead parts.
#include "base/text_parsing.hpp"
#include "machine/internal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kumihimo {
namespace {

Error only_on_tofu(const Machine& machine, std::string_view what) {
  return wrong_value(fmt::format("{} needs a machine of the tofu family", what),
                     fmt::format("{}, a {}", machine.name, name_of(machine.family)), "give --shape alone");
}

Result<NodeId> node_at(const Shape& torus, const Coordinates& coordinates) {
  bool inside = static_cast<std::int32_t>(coordinates.size()) == torus.dimensions();
  for (std::size_t axis = 0; inside && axis < coordinates.size(); ++axis)
    inside = coordinates[axis] >= 0 && coordinates[axis] < torus.length(static_cast<std::int32_t>(axis));
  if (inside) return NodeId{torus.place(coordinates)};
  return wrong_value(fmt::format("the coordinates must be those of a node of the job's torus {}", torus.text()),
                     fmt::format("{}", fmt::join(coordinates, ",")), "count each axis from 0");
}

const VirtualTorus& torus_of(const Machine& machine) { return static_cast<const VirtualTorus&>(*machine.topology); }

} // namespace

Result<Machine> with_torus(const Machine& machine, const Result<VirtualTorus>& torus) {
  if (!torus) return torus.error();
  Machine job = machine;
  job.shape = torus->shape();
  job.whole_machine_error.reset();
  job.set_topology(std::make_shared<VirtualTorus>(*torus));
  if (const Status placed = place_slow_parts(job); !placed) return placed.error();
  return job;
}

std::optional<NodeId> parse_node(const Tofu& network, std::string_view text) {
  TofuPlace place{};
  for (std::int32_t axis = 0; axis < Tofu::axes; ++axis) {
    const auto number = axis == 0 || take(text, ",") ? take_count(text) : std::nullopt;
    if (!number || *number >= network.shape().length(axis)) return std::nullopt;
    place[axis] = *number;
  }
  return text.empty() ? std::optional(network.node(place)) : std::nullopt;
}

Result<Machine> Machine::with_box(std::string_view box, const std::optional<Shape>& job) const {
  if (family != Family::tofu) return only_on_tofu(*this, "a box of its six axes");
  const auto request = TRY(TofuRequest::parse(box));
  return with_torus(*this, lay_job(*tofu, request, job));
}

Result<Machine> Machine::without(const std::vector<Coordinates>& nodes, const std::vector<Cable>& cables) const {
  if (family != Family::tofu) return only_on_tofu(*this, "a torus without its dead parts");
  const VirtualTorus& seen = torus_of(*this);
  std::vector<NodeId> dead;
  for (const Coordinates& coordinates : nodes) {
    const auto found = TRY(node_at(shape, coordinates));
    dead.push_back(seen.tofu().node(seen.place(found)));
  }
  std::vector<LinkId> links;
  for (const auto& [one, other] : cables) {
    const auto from = node_at(shape, one), to = node_at(shape, other);
    if (!from || !to) return (from ? to : from).error();
    const auto link = find_link(seen, *from, *to);
    if (!link)
      return wrong_value(fmt::format("a cable joins two neighbours in {}", seen.name()),
                         fmt::format("{} and {}", fmt::join(one, ","), fmt::join(other, ",")),
                         "name nodes one hop apart");
    links.push_back(*link);
  }
  return with_torus(*this, seen.without(dead, links));
}

std::string Machine::losses() const {
  if (family != Family::tofu || torus_of(*this).tofu().whole()) return "";
  const VirtualTorus& seen = torus_of(*this);
  std::vector<std::string> said;
  for (const VirtualTorus::Gap& gap : seen.gaps())
    said.push_back(fmt::format("position {} of axis {} is left out: node {} is dead", gap.position, gap.axis + 1,
                               seen.tofu().text(gap.dead)));
  const auto far = seen.far_neighbours();
  if (far.pairs == 0)
    said.push_back("all neighbours are one hop apart");
  else
    said.push_back(
        fmt::format("{} of neighbours {} {} hops apart, all others one",
                    far.pairs == 2 ? "1 pair" : fmt::format("{} pairs", far.pairs / 2), far.pairs == 2 ? "is" : "are",
                    far.fewest_hops == far.most_hops ? fmt::format("{}", far.most_hops)
                                                     : fmt::format("{} to {}", far.fewest_hops, far.most_hops)));
  if (whole_machine_error)
    said.push_back(fmt::format("no job can use the whole machine: {}", whole_machine_error->problem));
  return fmt::format("{}", fmt::join(said, "; "));
}

} // namespace kumihimo
