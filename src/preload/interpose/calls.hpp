// Collective calls that may run by plans. Each function returns MPI's error code, or nothing: then the call is counted,
// and the MPI library must run it unchanged.
#pragma once

#include "interpose/buffer_semantics.hpp"
#include "interpose/nonblocking.hpp"
#include "mpi/library.hpp"
#include "mpi_hooks/call.hpp"
#include "schedule/collective.hpp"

#include <cstdint>
#include <optional>

namespace kumihimo::interpose {

// `fast_path`: of mpi_hooks::HookedCall.
std::optional<int> run_call(CollectiveKind kind, const BufferArguments& call, mpi_hooks::Counter*& fast_path);
std::optional<int> start_call(CollectiveKind kind, const BufferArguments& call, mpi::Handle& request, // non-blocking
                              mpi_hooks::Counter*& fast_path);

// Counts a collective that never runs by a plan.
void count_other(mpi_hooks::Name name);

// Called when a window is made: from then on each of our collectives makes the library progress once, as its own do.
void expect_one_sided();
// The non-blocking collectives if any of ours is incomplete, else null.
Nonblocking* under_way();

// Called after the program made a communicator, before it frees one, and before it ends MPI.
void after_comm_made(mpi::Handle communicator);
void before_comm_free(mpi::Handle communicator);
void before_finalize();
void before_abort();
void after_init();

// Starts the time limit, if there is one; also before MPI_Init.
void begin_watch();

} // namespace kumihimo::interpose
