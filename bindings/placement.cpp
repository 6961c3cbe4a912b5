// kumihimo._placement: which rank sits in which slot.
#include "placement/placement.hpp"

#include "border.hpp"
#include "placement/orders.hpp"
#include "placement/text.hpp"

#include <nanobind/nanobind.h>
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
          [](std::string_view order, const Slots& slots, const Shape& nodes) {
            return unwrap(placement_in_order(order, slots, nodes));
          },
          "order"_a, "slots"_a, "nodes"_a, "By the name of an order; `nodes`: their shape, or one without axes.")
      .def_static(
          "parse",
          [](std::string_view text, std::string_view file_name, const Slots& slots,
             const std::vector<std::string>& names) { return unwrap(parse_placement(text, file_name, slots, names)); },
          "text"_a, "file_name"_a, "slots"_a, "names"_a = std::vector<std::string>{},
          "From the text of a placement file or of a rankfile; `names`: of the nodes.")
      .def_prop_ro("ranks", &Placement::ranks)
      .def_prop_ro("is_block", &Placement::is_block)
      .def_prop_ro("node_of_rank", &nodes_of)
      .def_prop_ro("slot_of_rank", &slots_of, "Its number on the node.")
      .def("rank_space", &Placement::rank_space, "nodes"_a, "What the ranks see on nodes of this shape.")
      .def("__str__", [](const Placement& placement) { return to_text(placement); });
}
