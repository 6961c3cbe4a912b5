// kumihimo._mapping: the search for a placement.
#include "border.hpp"
#include "machine/job.hpp"
#include "mapping/objective/link_loads.hpp"
#include "mapping_run/run.hpp"
#include "simulate/simulate.hpp"
#include "traffic/programs.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo {
namespace {

using mapping_run::MappingRun;
using mapping_run::RunRequest;
using mapping_run::RunResult;

mapping::MappingHost host_of(const Job& job) {
  return unwrap(mapping_run::host_of(job.machine.topology, job.slots, job.levels()));
}

std::vector<Level> levels_of(const std::vector<std::pair<std::string, std::int32_t>>& pairs) {
  std::vector<Level> levels;
  for (const auto& [name, size] : pairs) levels.push_back({name, size});
  return levels;
}

// One exchange in which each rank sends all that it sends, priced by the flow model.
std::function<std::optional<double>(const Placement&)> seconds_of(const Traffic& traffic, const Job& job) {
  return [programs = programs_of(traffic, 1), job](const Placement& placement) -> std::optional<double> {
    SimulateOptions options;
    options.model = ScheduleModel::flow;
    const Result<SchedulePrediction> prediction = simulate(programs, job, placement, options);
    if (!prediction) return {};
    return prediction->seconds.value;
  };
}

void bind_values(nb::module_& m) {
  nb::class_<mapping::SearchProgress>(m, "Progress", "How far a search is, and the best placement so far.")
      .def_ro("phase", &mapping::SearchProgress::phase)
      .def_ro("done", &mapping::SearchProgress::done, "Share of the phase.")
      .def_ro("average_hops", &mapping::SearchProgress::average_hops)
      .def_ro("link_bytes_max", &mapping::SearchProgress::link_bytes_max)
      .def_ro("least_hops", &mapping::SearchProgress::least_hops, "The best proved bound.");
  nb::class_<mapping::Measures>(m, "Measures", "What a placement is judged by.")
      .def_ro("average_hops", &mapping::Measures::average_hops, "Of a byte.")
      .def_ro("hop_bytes", &mapping::Measures::hop_bytes)
      .def_ro("link_bytes_max", &mapping::Measures::link_bytes_max, "Of the busiest directed link.")
      .def_ro("off_node_bytes", &mapping::Measures::off_node_bytes);
  nb::class_<mapping::CandidateMap>(m, "Candidate", "A placement that was looked at.")
      .def_ro("name", &mapping::CandidateMap::name)
      .def_prop_ro("average_hops", [](const mapping::CandidateMap& c) { return c.measures.average_hops; })
      .def_prop_ro("hop_bytes", [](const mapping::CandidateMap& c) { return c.measures.hop_bytes; })
      .def_prop_ro("link_bytes_max", [](const mapping::CandidateMap& c) { return c.measures.link_bytes_max; })
      .def_prop_ro("off_node_bytes", [](const mapping::CandidateMap& c) { return c.measures.off_node_bytes; })
      .def_ro("seconds", &mapping::CandidateMap::seconds, "Predicted, for the objective time.")
      .def_ro("within_cap", &mapping::CandidateMap::is_within_cap,
              "Whether its busiest link carries no more than it may.");
}

void bind_result(nb::module_& m) {
  nb::class_<RunResult>(m, "Mapping", "The placement that a search chose, and what it knows of it.")
      .def_ro("placement", &RunResult::placement)
      .def_prop_ro(
          "chosen", [](const RunResult& r) { return r.mapping.chosen; }, "Index in candidates.")
      .def_prop_ro(
          "candidates", [](const RunResult& r) { return r.mapping.candidates; }, "The usual order first.")
      .def_prop_ro(
          "lattices", [](const RunResult& r) { return r.mapping.lattices; }, "Grids that were recognised.")
      .def_prop_ro(
          "bounds",
          [](const RunResult& r) {
            std::vector<nb::tuple> bounds;
            for (const mapping::HopBound& b : r.mapping.bounds)
              bounds.push_back(nb::make_tuple(b.name, b.average_hops, b.why));
            return bounds;
          },
          "Name, average hops that no placement is below, why; highest first.")
      .def_prop_ro(
          "link_bounds",
          [](const RunResult& r) {
            std::vector<nb::tuple> bounds;
            for (const mapping::LinkBound& b : r.mapping.link_bounds)
              bounds.push_back(nb::make_tuple(b.name, b.bytes, b.why));
            return bounds;
          },
          "Name, bytes that the busiest link carries at least, why; highest first.")
      .def_prop_ro(
          "complete", [](const RunResult& r) { return r.mapping.complete; }, "Not stopped.")
      .def_ro("libraries", &RunResult::libraries, "That cut graphs.")
      .def_prop_ro(
          "levels",
          [](const RunResult& r) {
            std::vector<nb::tuple> levels;
            for (const mapping_run::LevelBytes& level : r.levels)
              levels.push_back(nb::make_tuple(level.name, level.before, level.after));
            return levels;
          },
          "Of each level within nodes: name, bytes across in the usual order, bytes across.");
}

void bind_run(nb::module_& m) {
  nb::class_<MappingRun>(m, "Run", "A search on threads of its own.")
      .def(
          "wait", [](MappingRun& run, double seconds) { return unlocked([&] { return run.wait(seconds); }); },
          "seconds"_a, "True: it has ended.")
      .def("progress", &MappingRun::progress)
      .def("stop", &MappingRun::stop, "It ends soon, with the best placement so far.")
      .def(
          "result", [](MappingRun& run) { return unwrap(unlocked([&] { return run.result(); })); },
          "Waits; once only.");
  m.def(
      "start",
      [](const Traffic& traffic, const Job& job, std::string_view objective, std::string_view effort,
         std::uint64_t seed, const std::optional<Shape>& grid, bool link_cap, int threads,
         const std::vector<std::pair<std::string, Placement>>& starts, bool libraries,
         const std::optional<std::pair<std::string, Placement>>& usual,
         const std::vector<std::pair<std::string, std::int32_t>>& within_node) {
        RunRequest request{.traffic = std::make_shared<const Traffic>(traffic),
                           .network = job.machine.topology,
                           .slots = job.slots,
                           .nodes = job.machine.shape,
                           .cores = job.levels(),
                           .within_node = levels_of(within_node),
                           .objective = unwrap(mapping::objective_of(objective)),
                           .effort = unwrap(mapping::effort_of(effort)),
                           .seed = seed,
                           .grid = grid,
                           .caps_links = link_cap,
                           .usual = usual,
                           .starts = starts,
                           .uses_libraries = libraries,
                           .threads = threads,
                           .seconds = {}};
        if (request.objective == mapping::Objective::time) request.seconds = seconds_of(traffic, job);
        return std::make_unique<MappingRun>(std::move(request));
      },
      "traffic"_a, "job"_a, "objective"_a = "hop-bytes", "effort"_a = "standard", "seed"_a = 1, "grid"_a = nb::none(),
      "link_cap"_a = true, "threads"_a = 0, "starts"_a = std::vector<std::pair<std::string, Placement>>{},
      "libraries"_a = true, "usual"_a = nb::none(),
      "within_node"_a = std::vector<std::pair<std::string, std::int32_t>>{});
}

mapping::Assignment fitting(const Traffic& traffic, const Job& job, const Placement& placement) {
  if (placement.ranks() != traffic.ranks() || placement.slots() != job.slots)
    raise(wrong_value("the placement must be of the ranks of the traffic in the slots of the job",
                      std::to_string(placement.ranks()) + " ranks for " + std::to_string(traffic.ranks())));
  return mapping::Assignment::of(placement);
}

} // namespace
} // namespace kumihimo

NB_MODULE(_mapping, m) {
  using namespace kumihimo;
  m.doc() = "The search for a placement.";
  for (const char* module : {"_topology", "_placement", "_machine", "_traffic"})
    nb::module_::import_((std::string("kumihimo.") + module).c_str());
  bind_values(m);
  bind_result(m);
  bind_run(m);
  m.def(
      "measure",
      [](const Traffic& traffic, const Job& job, const Placement& placement) {
        return mapping::measure(traffic, host_of(job), fitting(traffic, job, placement));
      },
      "traffic"_a, "job"_a, "placement"_a);
  m.def(
      "link_loads",
      [](const Traffic& traffic, const Job& job, const Placement& placement) {
        return mapping::link_loads(traffic, host_of(job), fitting(traffic, job, placement));
      },
      "traffic"_a, "job"_a, "placement"_a, "Bytes by link number, as the machine's topology numbers its links.");
}
