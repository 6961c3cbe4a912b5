// kumihimo._lu: the rules of LU factorisations that predictions share with the application.
#include "border.hpp"
#include "lu/hpl_dat.hpp"
#include "lu/node_processes.hpp"
#include "lu/pipeline.hpp"
#include "lu/tiled.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

namespace nb = nanobind;
using namespace nb::literals;

NB_MODULE(_lu, m) {
  using namespace kumihimo;
  using namespace kumihimo::lu;
  m.doc() = "The rules of LU factorisations that predictions share with the application.";
  m.attr("MOST_ROWS") = most_rows;
  m.attr("PANELS_OF_TASKS") = TiledFactorisation::panels_at_once;
  m.def("usual_grid", &usual_grid, "processes"_a, "P x Q with P <= Q and P as large as possible.");
  m.def(
      "processes_of_nodes",
      [](const std::vector<double>& peaks, const std::vector<std::int32_t>& cores) {
        const std::vector<NodeProcesses> found = unwrap(processes_of_nodes(peaks, cores));
        std::vector<std::int32_t> processes;
        for (const NodeProcesses& each : found) processes.push_back(each.processes);
        return std::pair(processes, described(peaks, cores, found));
      },
      "peaks"_a, "cores"_a, "Processes of each node, and how the rule came to them.");
  nb::class_<PipelineQuestion>(m, "PipelineQuestion", "See src/numerics/lu/pipeline.hpp.")
      .def(nb::init<>())
      .def_rw("rows", &PipelineQuestion::rows)
      .def_rw("block", &PipelineQuestion::block)
      .def_rw("p", &PipelineQuestion::p)
      .def_rw("q", &PipelineQuestion::q)
      .def_rw("lookahead", &PipelineQuestion::lookahead)
      .def_rw("update_rate", &PipelineQuestion::update_rate)
      .def_rw("panel_rate", &PipelineQuestion::panel_rate)
      .def_rw("solution_rate", &PipelineQuestion::solution_rate)
      .def_rw("move_seconds", &PipelineQuestion::move_seconds)
      .def_rw("message_seconds", &PipelineQuestion::message_seconds)
      .def_rw("byte_seconds", &PipelineQuestion::byte_seconds)
      .def_rw("speeds", &PipelineQuestion::speeds)
      .def_rw("tournament", &PipelineQuestion::tournament)
      .def_rw("tasks", &PipelineQuestion::tasks)
      .def(
          "add_broadcast", [](PipelineQuestion& question) { question.broadcasts.emplace_back(); },
          "Of a panel of the next owner; one alone is of all. Without any a panel goes along a chain.")
      .def(
          "add_send",
          [](PipelineQuestion& question, std::int32_t process, double share) {
            question.broadcasts.at(question.broadcasts.size() - 1).push_back({.process = process, .share = share});
          },
          "process"_a, "share"_a, "The next message of the broadcast added last.")
      .def(
          "add_wait",
          [](PipelineQuestion& question, std::int32_t process, std::int32_t message) {
            question.broadcasts.at(question.broadcasts.size() - 1)
                .push_back({.process = process, .sends = false, .message = message});
          },
          "process"_a, "message"_a, "The process goes on when it has this message.");
  nb::class_<PipelineTimes>(m, "PipelineTimes")
      .def_ro("seconds", &PipelineTimes::seconds)
      .def_ro("mean_work", &PipelineTimes::mean_work)
      .def_ro("most_work", &PipelineTimes::most_work)
      .def_ro("panels", &PipelineTimes::panels);
  m.def(
      "pipeline", [](const PipelineQuestion& question) { return unwrap(unlocked([&] { return pipeline(question); })); },
      "question"_a);
}
