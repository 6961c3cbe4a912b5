// What a task asks for (bench_driver/task.hpp), done on all ranks: each prints its results.
#pragma once

#include "bench_driver/job.hpp"
#include "bench_driver/task.hpp"

namespace kumihimo::bench_driver {

// How long collectives take beside the MPI library's own: in the same processes, by turns
// (bench_driver/interleaved_measurement.hpp). A call of ours includes looking its plan up; the first one makes the
// plan.
//
// Prints a result for every case. Consecutive cases with the same question and space share the turns.
Status run_measure(Job& job, const Task& task);

// What a collective costs a program: called by the name that programs call, so that an interposer which is loaded takes
// it over. InterleavedMeasurement measures calls that begin together; a program's calls follow one another, or find
// caches filled by other work and the MPI library busy with other messages.
//
// Prints a result for every case, whose algorithm is not looked at: seconds of a call, the mean over ranks and calls,
// back to back and between other work.
Status run_rehearsal(Job& job, const Task& task);

// The figures of this machine that a prediction needs, measured between two ranks of it: how fast one copies from the
// other, what a message costs, how fast a thread reduces.
//
// Prints {"calibration": {...}}, rates in bytes per second and times in seconds. Error: fewer than 2 ranks.
//
// A message of 8 bytes there and back gives twice message_cost + message_latency + relay_latency; the first is what
// each further message of a burst adds, the last what each further round of local work adds, the second is the rest.
Status run_calibration(Job& job, const Task& task);

// The MPI library's own collectives and nothing else: their times, or marks that tell which algorithm ran.
//
// Prints a result for every call of every question. Measured, those of one question take turns. Else each has its
// fingerprint; one that the library refuses, as where it was told to fail rather than to fall back, has
// {"not_applicable": its sentence} in its place.
Status run_library(Job& job, const Task& task);

} // namespace kumihimo::bench_driver
