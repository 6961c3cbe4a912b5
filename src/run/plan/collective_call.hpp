// Calls any collective of MPI from its description.
#pragma once

#include "mpi/library.hpp"
#include "schedule/collective.hpp"

namespace kumihimo::plan {

struct CollectiveCall {
  CollectiveKind kind;
  const void* send = nullptr; // or the constant MPI_IN_PLACE
  void* receive = nullptr;    // the only buffer of a broadcast
  int count = 0;              // elements of the vector, or of a block
  mpi::Handle type = 0, operation = 0;
  int root = 0;
  mpi::Handle communicator = 0;
  // For the v-form: counts and displacements of the blocks that this rank sends to each rank, or receives from each.
  // `count` is for the side with one block.
  struct Blocks {
    const int* counts = nullptr;
    const int* displacements = nullptr;
  };
  bool is_irregular = false;
  Blocks sent = {}, received = {};
};

bool has_call(CollectiveKind kind, bool is_irregular);                   // whether MPI has it
int call_library(const mpi::Functions& mpi, const CollectiveCall& call); // MPI error code; of one that MPI has
// The same by the non-blocking function; of blocks of one length.
int begin_library(const mpi::Functions& mpi, const CollectiveCall& call, mpi::Handle* request);

} // namespace kumihimo::plan
