// kumihimo._programs: program sets that are no collective.
#include "border.hpp"
#include "halo/halo.hpp"
#include "program_file/program_file.hpp"
#include "schedule/on_groups.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

NB_MODULE(_programs, m) {
  using namespace kumihimo;
  m.doc() = "Program sets that are no collective.";
  nb::module_::import_("kumihimo._schedule");
  nb::class_<NamedPrograms>(m, "NamedPrograms", "The programs of all ranks, and what they are for.")
      .def_ro("name", &NamedPrograms::name)
      .def_prop_ro("ranks", [](const NamedPrograms& p) { return p.set.ranks(); })
      .def_prop_ro("buffer_bytes", [](const NamedPrograms& p) { return p.set.data->elements * p.set.data->type_bytes; })
      .def(
          "check_unchanged", [](const NamedPrograms& p) { unwrap(p.unchanged()); },
          "Raises Failed if the file of the programs changed after it was opened.")
      .def_prop_ro("segments", [](const NamedPrograms& p) { return p.set.segments.count; });
  m.def(
      "halo",
      [](std::string_view text, const std::vector<std::int32_t>& lengths, const std::vector<bool>& wraps) {
        return programs_of(unwrap(on_ranks(unwrap(Halo::parse(text)), lengths, wraps)));
      },
      "text"_a, "lengths"_a, "wraps"_a, "A halo exchange on ranks in a grid of up to three axes.");
  m.def(
      "on_groups",
      [](const Schedule& of_group, std::int32_t ranks, std::int32_t stride) {
        return unwrap(on_groups(of_group, ranks, stride));
      },
      "schedule"_a, "ranks"_a, "stride"_a, "A schedule on all groups of ranks that are `stride` apart.");
  m.def(
      "open_file", [](const std::string& path) { return unwrap(unlocked([&] { return open_program_file(path); })); },
      "path"_a, "Programs written as text (docs/programs.md).");
}
