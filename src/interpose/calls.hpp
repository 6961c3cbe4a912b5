// The calls that may run as schedules. Each returns MPI's error code, or nothing: then the call has been counted, and
// the MPI library must make it unchanged.
#pragma once

#include "interpose/buffer_semantics.hpp"
#include "interpose/nonblocking.hpp"
#include "mpi/library.hpp"
#include "mpi_hooks/call.hpp"
#include "schedule/collective.hpp"

#include <cstdint>
#include <optional>

namespace kumihimo::interpose {

// `fast_path`: of mpi_hooks::Call.
std::optional<int> run_call(CollectiveKind kind, const Call& call, mpi_hooks::Counter*& fast_path);
std::optional<int> start_call(CollectiveKind kind, const Call& call, mpi::Handle& request, // non-blocking
                              mpi_hooks::Counter*& fast_path);

// A collective that is none of ours.
void count_other(mpi_hooks::Name name);

// A window is made: from then on the library is driven once in each collective of ours, as its own drive it.
void expect_one_sided();
// The non-blocking collectives, where any of ours is not complete; else null.
Nonblocking* under_way();

// After the program has made a communicator, before it frees one, and before it ends MPI.
void after_comm_made(mpi::Handle communicator);
void before_comm_free(mpi::Handle communicator);
void before_finalize();
void before_abort();
void after_init();

// Before MPI is initialised, perhaps: a time limit holds from here on. After it: with all that is known of MPI.
void begin_watch();

} // namespace kumihimo::interpose
