// kumihimo._export: schedules as text and JSON.
#include "border.hpp"
#include "export/json.hpp"
#include "export/text.hpp"
#include "program/named_programs.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;

NB_MODULE(_export, m) {
  using namespace kumihimo;
  m.doc() = "Schedules as text and JSON.";
  nb::module_::import_("kumihimo._topology");
  nb::module_::import_("kumihimo._schedule");
  nb::module_::import_("kumihimo._programs");
  m.def(
      "header_text",
      [](const Schedule& s, const RankSpace& space, std::size_t columns) { return header_text(s, space, columns); },
      "schedule"_a, "space"_a, "columns"_a = 80);
  m.def(
      "header_text",
      [](const NamedPrograms& p, const RankSpace& space, std::size_t columns) {
        return header_text(p.set, p.name, space, columns);
      },
      "programs"_a, "space"_a, "columns"_a = 80);
  m.def(
      "program_text",
      [](const NamedPrograms& p, const RankSpace& space, std::int32_t rank, std::size_t columns) {
        return program_text(p.set, space, Rank{rank}, columns);
      },
      "programs"_a, "space"_a, "rank"_a, "columns"_a = 80);
  m.def(
      "program_json", [](const NamedPrograms& p, std::int32_t rank) { return program_json(p.set, p.name, Rank{rank}); },
      "programs"_a, "rank"_a);
  m.def(
      "expanded_json",
      [](const NamedPrograms& p, std::int64_t most_steps) {
        return unwrap(unlocked([&] { return expanded_json(p.set, p.name, most_steps); }));
      },
      "programs"_a, "most_steps"_a = 4'000'000);
  m.def(
      "program_text",
      [](const Schedule& s, const RankSpace& space, std::int32_t rank, std::size_t columns) {
        return program_text(s, space, Rank{rank}, columns);
      },
      "schedule"_a, "space"_a, "rank"_a, "columns"_a = 80, "One rank's program as people read it.");
  m.def(
      "program_json", [](const Schedule& s, std::int32_t rank) { return program_json(s, Rank{rank}); }, "schedule"_a,
      "rank"_a, "One rank's program, loops not expanded.");
  m.def(
      "expanded_json",
      [](const Schedule& s, std::int64_t most_steps) {
        return unwrap(unlocked([&] { return expanded_json(s, most_steps); }));
      },
      "schedule"_a, "most_steps"_a = 4'000'000, "All steps of all ranks of a small case.");
}
