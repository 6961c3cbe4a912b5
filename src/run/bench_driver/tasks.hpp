// The tasks (bench_driver/task.hpp). All ranks call them; each prints its results.
#pragma once

#include "bench_driver/task.hpp"
#include "mpi_job/job.hpp"

namespace kumihimo::bench_driver {

// Measures collectives beside the MPI library's own, in the same processes, in turns
// (bench_driver/interleaved_measurement.hpp). A call of ours looks its plan up; the first one makes the plan.
//
// Prints a result for every case. Consecutive cases with the same collective and space share the turns.
Status run_measure(MpiJob& job, const BenchTask& task);

// Measures the cost of a collective in a program: it calls the name that programs call, so that a loaded interposer
// runs it. InterleavedMeasurement measures calls that begin together; a program's calls follow one another, or find
// caches filled by other work and the MPI library busy with other messages.
//
// Prints a result for every case, and ignores its algorithm: seconds of a call, the mean over ranks and calls, back to
// back and between other work. Of a non-blocking call: begun and ended at once, and what it adds to the computation
// between its beginning and its end.
Status run_rehearsal(MpiJob& job, const BenchTask& task);

// Measures the numbers of this machine that predictions need, in the parts of the task. Before each it prints
// {"part": name}; rates are in bytes per second and times in seconds unless a key says otherwise.
//
//   engine   of our transport and kernels: {"calibration": {...}} of two ranks of a node: copy rates, message costs,
//            the reduction rate of a thread. With ranks on several nodes {"network": {...}} too, of two nodes.
//   copies   of our transport: {"copies": {...}}, the two copies of a message within a node by where its bytes are
//            (machine/machine.hpp, NodeCopies), of two ranks of a node
//   switch   of more ranks than processors: {"round_of_turns": seconds}, in which every rank gets a message
//   library  of the MPI library's messages between two nodes, or two ranks of the only one: {"point_to_point": {...}}.
//   noise    {"noise": {...}} of each rank, nanoseconds.
//
// A message of 8 bytes there and back gives twice message_cost + message_latency + relay_latency; the first is what
// each further message of a burst adds, the last what each further round of local work adds, the second is the rest.
// Errors: fewer than 2 ranks; for engine, no node with 2 of them.
Status run_calibration(MpiJob& job, const BenchTask& task);

// Parts of it. Point to point, the first rank of the pair is 0.
struct RankPair {
  std::int32_t first = 0, second = 1;
};
Status measure_point_to_point(MpiJob& job, RankPair pair);
Status measure_noise(MpiJob& job, const BenchTask& task);

// Measures the MPI library's own collectives, or finds marks that tell which algorithm ran.
//
// Prints a result for every call. Measured, calls with the same count take turns. Else each has its fingerprint;
// one that the library refuses, as where it was told to fail rather than to fall back, has
// {"not_applicable": its sentence} in its place.
Status run_library(MpiJob& job, const BenchTask& task);

// Measures a library of one-sided communication (one_sided/task.hpp): prints a result for each measure, size and place.
Status run_one_sided(MpiJob& job, const BenchTask& task);

} // namespace kumihimo::bench_driver
