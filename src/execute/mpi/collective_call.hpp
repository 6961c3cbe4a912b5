// A call of MPI's collectives from what describes it, whichever the collective is: of blocks of one length.
#pragma once

#include "execute/mpi/abi.hpp"
#include "schedule/collective.hpp"

namespace kumihimo::mpi {

struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::barrier;
  const void* send = nullptr; // or in place, as MPI has it
  void* receive = nullptr;    // of a broadcast its only buffer
  int count = 0;              // of the vector, or of a block
  Handle type = 0, operation = 0;
  int root = 0;
  Handle communicator = 0;
};

int make(const Functions& mpi, const CollectiveCall& call); // MPI's code

} // namespace kumihimo::mpi
