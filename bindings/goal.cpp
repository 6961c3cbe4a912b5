// kumihimo._goal: graphs of sends, receives and computations.
#include "border.hpp"
#include "goal/binary.hpp"
#include "goal/noise.hpp"
#include "goal/programs.hpp"
#include "goal/text.hpp"
#include "program/named_programs.hpp"
#include "schedule/schedule.hpp"
#include "sent_rows.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo {
namespace {

Result<goal::NoiseModel::Kind> parse_kind(std::string_view name) {
  constexpr std::array<std::string_view, 3> names{"periodic", "exponential", "trace"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<goal::NoiseModel::Kind>(i);
  return wrong_value("noise is periodic, exponential or a trace", name);
}

void bind_noise(nb::module_& m) {
  nb::class_<goal::NoiseModel>(m, "Noise", "What an operating system takes from the processors; times in picoseconds.")
      .def(
          "__init__",
          [](goal::NoiseModel* self, std::string_view kind, goal::Time length, goal::Time interval) {
            goal::NoiseModel model;
            model.kind = unwrap(parse_kind(kind)), model.length = length, model.interval = interval;
            unwrap(check(model));
            new (self) goal::NoiseModel(model);
          },
          "kind"_a, "length"_a, "interval"_a)
      .def_static(
          "read",
          [](std::string_view text, std::string_view file) { return unwrap(goal::parse_noise_trace(text, file)); },
          "text"_a, "file"_a, "A trace: lines of start and length of detours in nanoseconds.")
      .def_rw("cosched", &goal::NoiseModel::cosched)
      .def_rw("every", &goal::NoiseModel::every)
      .def(
          "add_ranks",
          [](goal::NoiseModel& self, std::int32_t first, std::int32_t last) {
            self.ranks.push_back({first, last});
          },
          "first"_a, "last"_a, "Only ranks that were added have noise.")
      .def_rw("seed", &goal::NoiseModel::seed);
}

SentRow sent_by(const goal::Graphs& graphs, std::int32_t rank) {
  if (rank < 0 || rank >= graphs.ranks()) raise(wrong_value("the rank must be below the number of ranks", rank));
  return sent_row(goal::sends_of(graphs, rank));
}

} // namespace
} // namespace kumihimo

NB_MODULE(_goal, m) {
  using namespace kumihimo;
  m.doc() = "Graphs of sends, receives and computations.";
  m.attr("most_message_bytes") = goal::most_message_bytes;
  nb::module_::import_("kumihimo._schedule");
  nb::module_::import_("kumihimo._programs");
  nb::class_<goal::WorkRates>(m, "WorkRates", "What a rank's own work takes: bytes and flops a second, 0: no time.")
      .def(
          "__init__",
          [](goal::WorkRates* self, double reduced, double copied, double flops, double bytes, std::int32_t cpus,
             std::int32_t nics) {
            new (self) goal::WorkRates{reduced, copied, {flops, bytes}, cpus, nics};
          },
          "reduced"_a = 0, "copied"_a = 0, "flops"_a = 0, "bytes"_a = 0, "cpus"_a = 1, "nics"_a = 1)
      .def_rw("cpus", &goal::WorkRates::cpus)
      .def_rw("nics", &goal::WorkRates::nics);
  nb::class_<goal::Graphs>(m, "Graphs", "The operations of all ranks, and what waits for what.")
      .def_prop_ro("ranks", &goal::Graphs::ranks)
      .def_prop_ro("different", &goal::Graphs::different)
      .def_prop_ro("cpus", &goal::Graphs::cpus)
      .def_prop_ro("nics", &goal::Graphs::nics)
      .def("sends", &sent_by, "rank"_a,
           "Of all sends of a rank: receivers in ascending order, bytes and messages of each.")
      .def("to_text", [](const goal::Graphs& graphs) { return unlocked([&] { return goal::text_of(graphs); }); });
  bind_noise(m);
  m.def(
      "read",
      [](const nb::bytes& bytes, std::string_view file) {
        const std::string_view text(bytes.c_str(), bytes.size());
        return unwrap(unlocked(
            [&] { return goal::is_binary(text) ? goal::parse_binary(text, file) : goal::parse_text(text, file); }));
      },
      "bytes"_a, "file"_a, "A GOAL file, text or binary; `file` is its name in errors.");
  m.def(
      "graphs_of",
      [](const Schedule& schedule, const goal::WorkRates& rates) {
        return unwrap(unlocked([&] { return goal::graphs_of(schedule, rates); }));
      },
      "schedule"_a, "rates"_a);
  m.def(
      "graphs_of",
      [](const NamedPrograms& programs, const goal::WorkRates& rates) {
        return unwrap(unlocked([&] { return goal::graphs_of(programs.set, rates); }));
      },
      "programs"_a, "rates"_a);
}
