// A call of MPI's collectives from what describes it, whichever the collective is.
#pragma once

#include "mpi/library.hpp"
#include "schedule/collective.hpp"

namespace kumihimo::execute {

struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::barrier;
  const void* send = nullptr; // or in place, as MPI has it
  void* receive = nullptr;    // of a broadcast its only buffer
  int count = 0;              // of the vector, or of a block
  mpi::Handle type = 0, operation = 0;
  int root = 0;
  mpi::Handle communicator = 0;
  // Of blocks of different lengths, its v-form: one for each block that a rank sends to each, or gets of each, on the
  // ranks where it does; `count` is of a side that has one block.
  struct Blocks {
    const int* counts = nullptr;
    const int* displacements = nullptr;
  };
  bool is_irregular = false;
  Blocks sent = {}, received = {};
};

int make(const mpi::Functions& mpi, const CollectiveCall& call); // MPI's code

} // namespace kumihimo::execute
