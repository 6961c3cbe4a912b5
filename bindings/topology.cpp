// kumihimo._topology: shapes, the ranks' view of them, and the torus as a graph.
#include "border.hpp"
#include "routes.hpp"
#include "topology/rank_space.hpp"
#include "topology/torus.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo {
namespace {

void bind_shape(nb::module_& m) {
  nb::class_<Axis>(m, "Axis", "One axis of a torus or mesh.")
      .def(nb::init<std::int32_t, bool>(), "length"_a, "wraps"_a = true)
      .def_ro("length", &Axis::length)
      .def_ro("wraps", &Axis::wraps);
  nb::class_<Shape>(m, "Shape", "Axes and coordinates of a box of numbered places, the last axis running fastest.")
      .def(nb::init<>(), "Without axes.")
      .def_static("parse", border(&Shape::parse), "text"_a, "From 48x6x32; a length followed by m is a mesh axis.")
      .def_prop_ro("axes", &Shape::axes)
      .def_prop_ro("places", &Shape::places)
      .def("coordinates", &Shape::coordinates, "place"_a)
      .def("place", &Shape::place, "coordinates"_a)
      .def("__str__", &Shape::text)
      .def("__eq__", [](const Shape& a, const Shape& b) { return a == b; });
}

void bind_rank_space(nb::module_& m) {
  nb::class_<RankSpace>(m, "RankSpace", "A communicator as its ranks see it.")
      .def_static("row", &RankSpace::row, "ranks"_a, "Ranks without a shape.")
      .def_static(
          "node", [](std::int32_t ranks) { return RankSpace::node(ranks); }, "ranks"_a,
          "Ranks of one shared-memory node.")
      .def_static("box", &RankSpace::box, "nodes"_a, "ranks_per_node"_a = 1, "Nodes in row-major order.")
      .def_static(
          "of_nodes", [](const std::vector<std::int32_t>& sizes) { return RankSpace::of_nodes(sizes); }, "sizes"_a,
          "Consecutive ranks on nodes in a row, so many on each.")
      .def_static(
          "on_nodes", [](const std::vector<std::int64_t>& node_of_rank) { return RankSpace::on_nodes(node_of_rank); },
          "node_of_rank"_a, "Ranks on nodes in a row, by the number of each one's node.")
      .def_static(
          "recognise",
          [](const Shape& machine, const std::vector<std::int32_t>& node_of_rank) {
            std::vector<NodeId> nodes;
            for (const std::int32_t node : node_of_rank) nodes.push_back(NodeId{node});
            return RankSpace::recognise(machine, nodes);
          },
          "machine"_a, "node_of_rank"_a, "Ranks on nodes of a machine with this shape.")
      .def_prop_ro("ranks", &RankSpace::ranks)
      .def_prop_ro("has_shape", &RankSpace::has_shape)
      .def_prop_ro("shape", &RankSpace::shape)
      .def_prop_ro("is_row_major", &RankSpace::row_major,
                   "Whether ranks are numbered along the shape's last axis first.")
      .def_prop_ro("ranks_per_node", &RankSpace::ranks_per_node, "0 where nodes hold unequal numbers of ranks.")
      .def_prop_ro("between_nodes", &RankSpace::between_nodes, "The space of one rank a node.")
      .def_prop_ro("node_sizes", &RankSpace::node_sizes, "Only where they are unequal.")
      .def_prop_ro(
          "levels",
          [](const RankSpace& space) {
            std::vector<std::pair<std::string, std::int32_t>> levels;
            for (const Level& level : space.levels()) levels.emplace_back(level.name, level.size);
            return levels;
          },
          "Groups of consecutive ranks that are close, outermost first: name, and ranks in each.")
      .def("__str__", &RankSpace::name);
}

void bind_torus(nb::module_& m) {
  nb::class_<Torus>(m, "Torus", "Torus or mesh with dimension-order routing.")
      .def(nb::init<Shape>(), "shape"_a)
      .def_prop_ro("nodes", &Torus::nodes)
      .def_prop_ro("links", &Torus::links)
      .def_prop_ro("diameter", &Torus::diameter)
      .def(
          "is_link", [](const Torus& t, std::int64_t link) { return t.is_link(LinkId{link}); }, "link"_a)
      .def(
          "route", [](const Torus& t, std::int32_t from, std::int32_t to) { return link_numbers(t, from, to); },
          "from_"_a, "to"_a, "The links that a message crosses, in order.")
      .def(
          "distance",
          [](const Torus& t, std::int32_t from, std::int32_t to) { return t.distance(NodeId{from}, NodeId{to}); },
          "from_"_a, "to"_a, "Hops.")
      .def(
          "ends",
          [](const Torus& t, std::int64_t link) {
            const auto described = t.describe(LinkId{link});
            return std::pair{described.from.value, described.to.value};
          },
          "link"_a, "The nodes that a link leads from and to.")
      .def(
          "link_name", [](const Torus& t, std::int64_t link) { return t.describe(LinkId{link}).name; }, "link"_a);
}

} // namespace
} // namespace kumihimo

NB_MODULE(_topology, m) {
  m.doc() = "Shapes, the ranks' view of them, and the torus as a graph.";
  kumihimo::bind_shape(m);
  kumihimo::bind_rank_space(m);
  kumihimo::bind_torus(m);
}
