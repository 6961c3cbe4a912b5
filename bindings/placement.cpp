// kumihimo._placement: which rank sits in which slot.
#include "placement/placement.hpp"

#include "border.hpp"
#include "placement/hostfile.hpp"
#include "placement/map_files.hpp"
#include "placement/orders.hpp"
#include "placement/rankfile.hpp"
#include "placement/text.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo {
namespace {

std::vector<std::int32_t> sizes_of(const Slots& slots) {
  std::vector<std::int32_t> sizes;
  for (std::int32_t node = 0; node < slots.nodes(); ++node) sizes.push_back(slots.on(NodeId{node}));
  return sizes;
}

std::vector<std::int32_t> nodes_of(const Placement& placement) {
  std::vector<std::int32_t> nodes;
  for (const NodeId node : placement.node_of_rank()) nodes.push_back(node.value);
  return nodes;
}

std::vector<std::int32_t> slots_of(const Placement& placement) {
  std::vector<std::int32_t> slots;
  for (std::int32_t r = 0; r < placement.ranks(); ++r) slots.push_back(placement.slot(Rank{r}).number);
  return slots;
}

using Names = std::vector<std::string>;

MapFileContext context_of(const Slots& slots, const Names& names, const Shape& nodes, std::int32_t cores_per_node,
                          bool slots_are_alike) {
  return {slots, names, nodes, cores_per_node, slots_are_alike};
}

OrderContext context_of(const Slots& slots, const Shape& nodes, const std::optional<Shape>& grid,
                        std::optional<std::int32_t> ranks) {
  return {slots, nodes, grid, ranks.value_or(slots.size())};
}

void bind_map_files(nb::module_& m) {
  m.def(
      "map_formats",
      [] {
        Names names;
        for (const MapFormat format : map_formats()) names.emplace_back(name_of(format));
        return names;
      },
      "The names of the formats of placements as files.");
  m.def(
      "write_map",
      [](std::string_view format, const Placement& placement, const Names& names, const Shape& nodes,
         std::int32_t cores_per_node, bool slots_are_alike) {
        return unwrap(write_map(unwrap(map_format_of(format)), placement,
                                context_of(placement.slots(), names, nodes, cores_per_node, slots_are_alike)));
      },
      "format"_a, "placement"_a, "names"_a = Names{}, "nodes"_a = Shape(), "cores_per_node"_a = 0,
      "slots_are_alike"_a = false,
      "The placement as a file of this format. `names`, `nodes`: names and shape of the nodes, or none. "
      "`slots_are_alike`: the slots of a node may be exchanged.");
  m.def(
      "read_map",
      [](std::string_view format, std::string_view text, std::string_view file, const Slots& slots, const Names& names,
         const Shape& nodes, std::int32_t cores_per_node, bool slots_are_alike) {
        return unwrap(read_map(unwrap(map_format_of(format)), text, file,
                               context_of(slots, names, nodes, cores_per_node, slots_are_alike)));
      },
      "format"_a, "text"_a, "file"_a, "slots"_a, "names"_a = Names{}, "nodes"_a = Shape(), "cores_per_node"_a = 0,
      "slots_are_alike"_a = false, "The placement in a file of this format.");
  m.def("is_rankfile", &is_rankfile, "text"_a, "Whether the first line is one of a rankfile of Open MPI.");
  m.def(
      "read_hostfile",
      [](std::string_view text, std::string_view file) {
        std::vector<std::pair<std::string, std::int32_t>> rows;
        for (const HostLine& line : unwrap(read_hostfile(text, file))) rows.emplace_back(line.host, line.ranks);
        return rows;
      },
      "text"_a, "file"_a, "The host and the ranks of each line of a hostfile of Open MPI or Hydra.");
  m.def(
      "launch_hint",
      [](std::string_view format, std::string_view file, std::int32_t ranks) {
        return launch_hint(unwrap(map_format_of(format)), file, ranks);
      },
      "format"_a, "file"_a, "ranks"_a, "The command line that starts PROGRAM by the file, or an empty text.");
  m.def(
      "map_warning",
      [](std::string_view format, const Placement& placement) {
        return map_warning(unwrap(map_format_of(format)), placement);
      },
      "format"_a, "placement"_a, "What a user should know of this placement in this format; mostly empty.");
}

} // namespace
} // namespace kumihimo

NB_MODULE(_placement, m) {
  using namespace kumihimo;
  m.doc() = "Which rank sits in which slot.";
  nb::module_::import_("kumihimo._topology");
  nb::class_<Slots>(m, "Slots", "Where ranks can sit: so many slots on each node.")
      .def_static("of_nodes", border(&Slots::of_nodes), "sizes"_a)
      .def_prop_ro("sizes", &sizes_of)
      .def_prop_ro("size", &Slots::size, "Of all nodes together.")
      .def_prop_ro("nodes", &Slots::nodes);
  nb::class_<Placement>(m, "Placement", "Which rank sits in which slot.")
      .def_static(
          "in_order",
          [](std::string_view order, const Slots& slots, const Shape& nodes, const std::optional<Shape>& grid,
             std::optional<std::int32_t> ranks) {
            return unwrap(placement_in_order(order, context_of(slots, nodes, grid, ranks)));
          },
          "order"_a, "slots"_a, "nodes"_a, "grid"_a = nb::none(), "ranks"_a = nb::none(),
          "By the name of an order. `nodes`: their shape, or one without axes; `grid`: of the ranks, if they have one; "
          "`ranks`: as many as slots by default.")
      .def_static(
          "parse",
          [](std::string_view text, std::string_view file_name, const Slots& slots,
             const std::vector<std::string>& names) { return unwrap(parse_placement(text, file_name, slots, names)); },
          "text"_a, "file_name"_a, "slots"_a, "names"_a = std::vector<std::string>{},
          "From the text of a placement file or of a rankfile; `names`: of the nodes.")
      .def_static(
          "on_nodes",
          [](const Slots& slots, const std::vector<std::int32_t>& node_of_rank) {
            std::vector<NodeId> nodes;
            for (const std::int32_t node : node_of_rank) nodes.push_back(NodeId{node});
            return unwrap(Placement::on_nodes(slots, nodes));
          },
          "slots"_a, "node_of_rank"_a, "By the node of each rank; ranks take a node's slots in their own order.")
      .def_prop_ro("slots", &Placement::slots)
      .def_prop_ro("ranks", &Placement::ranks)
      .def_prop_ro("is_block", &Placement::is_block)
      .def_prop_ro("node_of_rank", &nodes_of)
      .def_prop_ro("slot_of_rank", &slots_of, "Its number on the node.")
      .def("rank_space", &Placement::rank_space, "nodes"_a, "What the ranks see on nodes of this shape.")
      .def("__str__", [](const Placement& placement) { return to_text(placement); });
  m.def(
      "simple_orders",
      [](const Slots& slots, const Shape& nodes, const std::optional<Shape>& grid, std::optional<std::int32_t> ranks) {
        return simple_orders(context_of(slots, nodes, grid, ranks));
      },
      "slots"_a, "nodes"_a, "grid"_a = nb::none(), "ranks"_a = nb::none(),
      "The names of all different orders that apply, block first.");
  bind_map_files(m);
}
