// The task of a bench driver: JSON, the same text on every rank.
//
//   {"task": "check" | "measure" | "rehearse" | "calibrate" | "library" | "files" | "one_sided",
//    "library": "/usr/lib/.../libmpi.so.40",
//    "pinning": "auto" | "none",
//    "process_of_rank": [1, 0],                     default: rank r is the r-th process
//    "cases": [{"collective": "allreduce", "algorithm": "ring", "parameters": {"window": 2}, "shape": "2x2",
//               "ranks_per_node": 2,                or [3, 1]
//               "type": "float64", "operation": "sum", "root": 0, "in_place": false,
//               "count": 100,                       of irregular blocks: about their mean
//               "counts": [3, 0],                   of irregular blocks
//               "neighbours": "cart:2x2",           of neighbour collectives
//               "overlap_seconds": 1e-4}],          the library's call is non-blocking, over so much computation
//    "programs": [{"programs": "halo:16x16x16",     or "file:PATH"; for check and measure
//                  "lengths": [2, 2],               of a halo exchange: the grid of ranks
//                  "wraps": [true, true],           likewise
//                  "ranks_per_node": 2, "parameters": {"single_copy": true}}],
//    "repeats": 3,                                  for check
//    "case_seconds": 0.05, "turns_at_least": 6, "turns_at_most": 1000,      for measure
//    "long_call_seconds": 0.02,                                             likewise
//    "compare": true, "bound": true,                                        likewise
//    "calls": [{"count": 100, "calls": ["allreduce", "2 bcast"]}],      for library, without cases; doubles
//    "measures": true, "controls": {"MPIR_CVAR_COLLECTIVE_FALLBACK": 0},    likewise
//    "parts": ["engine", "copies", "library"],          for calibrate; default: engine
//    "noise_seconds": 10, "quantum_seconds": 1e-5,      likewise
//    "files": {"folder": "/scratch", "steps": [...]},   for files: file_bench/file_task.hpp
//    of one_sided: the members that one_sided/task.hpp lists
//    "tag_upper_bound": 100,                        default: the library's
//    "shared_memory_limit_bytes": 0}                default: what the system has
#pragma once

#include "collectives/registry.hpp"
#include "halo/halo.hpp"
#include "mpi_job/job.hpp"
#include "mpi_transport/transport_options.hpp"
#include "one_sided/task.hpp"
#include "program/computing.hpp"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kumihimo::bench_driver {

using mpi_job::MpiJob, mpi_job::Nodes;

struct TaskCase {
  Collective collective;
  std::string algorithm;
  Parameters parameters;
  std::string shape; // "node", "none" or as Shape::parse reads it
  RankSpace space = RankSpace::node(1);
  bool emulates = false;                  // nodes; else they are the machine's real ones
  std::vector<std::int32_t> node_sizes;   // how many ranks each of them has
  std::vector<std::int32_t> node_of_rank; // the emulated ones: the first processes are on the first node, and so on
  std::optional<double> overlap_seconds;  // of computation in a program's non-blocking call; none: its calls block

  bool is_non_blocking() const { return overlap_seconds.has_value(); }
};

// A program set that is no collective.
struct ProgramTaskCase {
  NamedPrograms programs;
  std::optional<Halo> halo; // what it is, if that
  Hints hints;
  double flop_rate = 0, memory_bandwidth = 0; // each second, of a node; 0: not known
  std::string parameters_text;                // of the hints
  mpi_transport::TransportOptions transport;
};

// Calls of the MPI library's own that are compared with one another, see bench_driver/library_call.hpp.
struct LibraryCalls {
  std::int64_t count = 1; // doubles
  std::vector<std::string> calls;
};

struct BenchTask {
  enum class Kind { check, measure, rehearse, calibrate, library, files, one_sided };
  Kind kind = Kind::check;
  std::vector<TaskCase> cases;
  std::vector<ProgramTaskCase> programs;
  bool pins = true;
  std::vector<std::int32_t> process_of_rank; // none: as they were started
  mpi_transport::TransportOptions transport;
  std::int32_t repeats = 3;
  double case_seconds = 0.05; // for one case, the library's calls included
  std::int32_t turns_at_least = 6, turns_at_most = 1000;
  double long_call_seconds = 0; // TurnOptions
  bool compares = true;         // with the library's own collective
  bool wants_bound = true;
  std::vector<LibraryCalls> library_calls;
  bool measures = true;                        // or tells algorithms apart
  std::map<std::string, int> controls;         // of the library, set once it runs, see bench_driver/library_task.cpp
  std::vector<std::string> parts = {"engine"}; // of a calibration
  double noise_seconds = 10, quantum_seconds = 1e-5; // of its noise
  std::string files;                                 // JSON
  std::optional<one_sided::OneSidedTask> one_sided;
};

// The path of the MPI library, which is needed before the number of ranks is known. Error: no JSON, no such member.
Result<std::string> library_of_task(const std::string& text);
// BenchTask::process_of_rank, which is needed before the nodes of the ranks are known. Error: no such order of the
// ranks.
Result<std::vector<std::int32_t>> order_of_task(const std::string& text, std::int32_t ranks);
// `nodes`: the real ones that the ranks are on, in their order; none stand for one. Errors: what is misspelt, unknown
// or does not fit the ranks or their nodes.
Result<BenchTask> parse_task(const std::string& text, std::int32_t ranks, const Nodes& nodes = {});

// The case as results repeat it.
nlohmann::json to_json(const TaskCase& c, const Schedule& schedule);

} // namespace kumihimo::bench_driver
