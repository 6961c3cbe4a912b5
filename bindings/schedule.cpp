// kumihimo._schedule: collectives, schedules, and the expressions and extents that they are made of.
#include "schedule/schedule.hpp"

#include "border.hpp"
#include "program/binding.hpp"
#include "program/builder.hpp"
#include "schedule/data.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <optional>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo {
namespace {

void bind_expression(nb::module_& m) {
  nb::class_<Expression>(m, "Expression", "A form in loop variables that is closed under +, x constant, mod constant.")
      .def(nb::init<std::int64_t>(), "constant"_a)
      .def_static(
          "variable", [](std::int32_t depth) { return Expression(Variable{depth}); }, "depth"_a)
      .def_static(
          "look_up",
          [](Table table, Expression index) {
            return Expression::look_up(std::make_shared<const Table>(std::move(table)), std::move(index));
          },
          "table"_a, "index"_a)
      .def(nb::self + nb::self)
      .def(nb::self - nb::self)
      .def(nb::self * std::int64_t())
      .def("__mod__", [](const Expression& e, std::int64_t m) { return mod(e, m); })
      .def("__eq__", [](const Expression& a, const Expression& b) { return a == b; })
      .def("__hash__", &Expression::hash)
      .def("__str__", &Expression::text)
      .def(
          "evaluate", [](const Expression& e, const std::vector<std::int64_t>& values) { return e.evaluate(values); },
          "values"_a)
      .def(
          "range",
          [](const Expression& e, const std::vector<std::int64_t>& trips) {
            const Range range = e.range(trips);
            return std::pair{range.low, range.high};
          },
          "trips"_a, "Bounds on the values taken while variable d runs over [0, trips[d]).")
      .def(
          "substitute",
          [](const Expression& e, std::int32_t depth, const Expression& by) {
            return e.substitute(Variable{depth}, by);
          },
          "depth"_a, "by"_a);
}

std::vector<std::string> names_of_collectives() {
  std::vector<std::string> names;
  for (const CollectiveKind kind : all_collectives) names.emplace_back(name_of(kind));
  return names;
}

constexpr std::array whose = {"none", "root", "all"};
constexpr std::array held = {"nothing", "vector", "block", "each"};
constexpr std::array contributors = {"nobody", "root", "all", "up_to_itself", "before_itself", "sources"};
std::pair<const char*, const char*> words_of(const CollectiveRow::Side& side) {
  return {whose[static_cast<std::size_t>(side.whose)], held[static_cast<std::size_t>(side.part)]};
}

std::vector<std::string> names_of_calls(const CollectiveRow& row) {
  std::vector<std::string> names;
  for (const MpiCall& call : mpi_calls)
    if (call.kind == CollectiveKind(row)) names.push_back("MPI_" + std::string(call.blocking));
  return names;
}

void bind_collective(nb::module_& m) {
  m.def("collectives", &names_of_collectives, "The names of all collectives.");
  nb::class_<CollectiveRow>(m, "CollectiveRow", "What a collective means: a row of collectives.def.")
      .def_ro("name", &CollectiveRow::name)
      .def_prop_ro(
          "input", [](const CollectiveRow& row) { return words_of(row.input); }, "Whose, and of what.")
      .def_prop_ro("output", [](const CollectiveRow& row) { return words_of(row.output); })
      .def_prop_ro("contributors",
                   [](const CollectiveRow& row) { return contributors[static_cast<std::size_t>(row.from)]; })
      .def_prop_ro("has_irregular_form", [](const CollectiveRow& row) { return row.irregular != Known::uniform; })
      .def_prop_ro("moves_data", &CollectiveRow::moves_data)
      .def_prop_ro("reduces", &CollectiveRow::reduces)
      .def_prop_ro("has_root", &CollectiveRow::has_root)
      .def_prop_ro("of_neighbours", &CollectiveRow::of_neighbours)
      .def_prop_ro("may_be_in_place", &CollectiveRow::may_be_in_place)
      .def_prop_ro("mpi_calls", &names_of_calls, "The blocking calls of MPI that ask for it.");
  m.def(
      "meaning", [](std::string_view kind) { return &*unwrap(parse_collective(kind)); }, "kind"_a,
      nb::rv_policy::reference, "What a collective means.");
  m.def(
      "type_bytes", [](std::string_view type) { return size_of(unwrap(parse_datatype(type))); }, "type"_a);
  nb::class_<Collective>(m, "Collective", "What every rank holds at first and must hold at the end.")
      .def(
          "__init__",
          [](Collective* self, std::string_view kind, std::int32_t ranks, std::int64_t count, std::string_view type,
             std::string_view operation, std::int32_t root, bool in_place) {
            new (self)
                Collective(make_collective(unwrap(parse_collective(kind)), ranks, count, unwrap(parse_datatype(type)),
                                           unwrap(parse_operation(operation)), Rank{root}, in_place));
          },
          "kind"_a, "ranks"_a, "count"_a, "type"_a = "float64", "operation"_a = "sum", "root"_a = 0,
          "in_place"_a = false)
      .def(
          "with_counts",
          [](const Collective& c, std::vector<std::int64_t> table) { return unwrap(with_counts(c, std::move(table))); },
          "counts"_a,
          "The same of irregular blocks: a count for each rank, in alltoall for each pair, in neighbor_alltoall "
          "for each destination, row after row.")
      .def(
          "spread_counts",
          [](const Collective& c, std::string_view spread) { return unwrap(spread_counts(spread, c)); }, "spread"_a,
          "Counts that are hard on algorithms: zeros, one_huge, ramp, random:SEED.")
      .def_prop_ro(
          "neighbours",
          [](const Collective& c) { return c.neighbours ? std::optional(c.neighbours->name()) : std::nullopt; },
          "Of a collective of neighbours, as people name them; else None.")
      .def_prop_ro("irregular", [](const Collective& c) { return c.counts.irregular(); })
      .def_prop_ro(
          "counts", [](const Collective& c) { return c.counts.table ? std::optional(*c.counts.table) : std::nullopt; },
          "Of irregular blocks, as with_counts has them; else None.")
      .def_prop_ro("kind", [](const Collective& c) { return name_of(c.kind); })
      .def_ro("ranks", &Collective::ranks)
      .def_prop_ro("count", [](const Collective& c) { return c.counts.each; })
      .def_prop_ro("bytes", [](const Collective& c) { return c.bytes().value; })
      .def_prop_ro("longest_buffer_bytes", &longest_buffer_bytes, "Of any rank's buffers.")
      .def_prop_ro("type", [](const Collective& c) { return name_of(c.type); })
      .def_prop_ro("operation", [](const Collective& c) { return name_of(c.operation); })
      .def_prop_ro("root", [](const Collective& c) { return c.root.value; })
      .def_prop_ro("has_root", &Collective::has_root)
      .def_prop_ro("reduces", &Collective::reduces)
      .def_ro("in_place", &Collective::in_place);
}

void bind_schedule(nb::module_& m) {
  nb::class_<Schedule>(m, "Schedule", "Who sends which chunk to whom.")
      .def_ro("algorithm", &Schedule::algorithm)
      .def_ro("parameters", &Schedule::parameters)
      .def_prop_ro("collective", &Schedule::collective, nb::rv_policy::reference_internal)
      .def_prop_ro("segments", [](const Schedule& s) { return s.segments.count; })
      .def_prop_ro(
          "offloads", [](const Schedule& s) { return s.claims.offloads; },
          "Whether it needs a network's own engine, which no MPI library gives.")
      .def_prop_ro("ranks", &Schedule::ranks);
}

void bind_extents(nb::module_& m) {
  m.def("part_begin", &part_begin, "i"_a, "m"_a, "n"_a, "The first element of part i of m over n elements.");
  m.def(
      "part_runs",
      [](std::int64_t first, std::int64_t count, std::int64_t of, std::int64_t elements, std::int64_t segments,
         std::int64_t segment) {
        const Binding binding(data_of(make_collective(CollectiveKind::bcast, 1, elements)), Segments{segments},
                              Rank{0});
        const std::array values{segment};
        std::vector<ElementRun> runs;
        binding.append_runs(parts(first, count, of), values, runs);
        std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
        for (const ElementRun& run : runs) pairs.emplace_back(run.first, run.count);
        return pairs;
      },
      "first"_a, "count"_a, "of"_a, "elements"_a, "segments"_a = 1, "segment"_a = 0,
      "The elements (first, count) of parts [first, first + count) of one segment of a vector.");
}

} // namespace
} // namespace kumihimo

NB_MODULE(_schedule, m) {
  m.doc() = "Collectives, schedules, and the expressions and extents that they are made of.";
  kumihimo::bind_expression(m);
  kumihimo::bind_collective(m);
  kumihimo::bind_schedule(m);
  kumihimo::bind_extents(m);
}
