// Checks that a collective has, bit for bit, the results of its schedule, on every rank and each time, and that the MPI
// library's call has them, too.
#pragma once

#include "base/json_member.hpp"
#include "bench_driver/golden.hpp"
#include "bench_driver/library_collective.hpp"
#include "bench_driver/task.hpp"
#include "mpi_job/job.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kumihimo::bench_driver {

// The arithmetic of a collective that is not a built-in loop on built-in types.
struct Arithmetic {
  transport::Reduction reduction; // of the engine
  Combine plain;                  // of the golden copy
  // A rank's input of `count` elements.
  std::function<Vector(std::int32_t rank, std::int64_t count, std::uint64_t seed)> values;
  std::optional<LibraryCollective::Handles> handles; // for the library's own call
};
// The built-in arithmetic of a collective.
Arithmetic builtin_arithmetic(const Collective& collective);

struct CheckOutcome {
  bool right = false;
  std::string found; // the first difference; empty: none
};

// One rank's result of a comparison, as one number for gather().
inline constexpr std::int64_t all_right = -1, input_changed = -2, wrote_beyond = -3, left_early = -4;
// "rank 3, run 2: ..." for the first that is not `right`; empty if all are. Collective.
std::string first_of_all(const MpiJob& job, std::int64_t mine, const std::string& what,
                         std::string_view right = "the golden copy's");

// This rank's part, of `mine` bytes, of the golden copy, which rank 0 makes for all. Collective. Errors: not enough
// memory; and, within, that of make().
Result<Result<Vector>> golden_from_rank_0(const MpiJob& job, std::int64_t bytes_of_all, std::int64_t mine,
                                          const std::function<Result<std::vector<Vector>>()>& make);

// Collective. Runs the schedule `repeats` times over the transport and compares with the golden copy: results, inputs
// that must stay as they are, and the bytes beyond the end. The golden copy itself, and the result of the library's own
// call with the same arguments, are compared with the definition of the collective (bench_driver/mpi_definition.hpp).
// In a barrier no rank leaves before all have entered; tested on one node, with each of the first ranks late in turn.
// Errors: the schedule cannot be run here, or MPI failed.
Result<CheckOutcome> check_schedule(MpiJob& job, const Schedule& schedule, Hints hints, transport::Transport& transport,
                                    const Arithmetic& arithmetic, std::int32_t repeats);

// Runs the task: prints a result for every case.
Status run_check(MpiJob& job, const BenchTask& task);

// A case with its transport. A case that does not fit has none, on all ranks alike, and its result says why.
struct Ready {
  Schedule schedule;
  transport::Transport* transport = nullptr;
  JsonMember result; // the case as results repeat it
};
// Makes a case ready. Collective.
Result<Ready> make_ready(MpiJob& job, const BenchTask& task, const TaskCase& c);

} // namespace kumihimo::bench_driver
