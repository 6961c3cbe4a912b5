/* Opens remote memory (kumihimo/remote_memory.h) for the ranks of an MPI communicator. */
#ifndef KUMIHIMO_REMOTE_MEMORY_MPI_H
#define KUMIHIMO_REMOTE_MEMORY_MPI_H

#include <kumihimo/remote_memory.h>
#include <mpi.h>

static inline int kumihimo_rma_exchange_mpi(const void* mine, void* all, size_t bytes, void* communicator) {
  return MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, *(MPI_Comm*)communicator);
}

/* Collective over `communicator`, which is used only here. Options and errors: as of kumihimo_rma_open(). */
static inline int kumihimo_rma_open_mpi(MPI_Comm communicator, const char* options, kumihimo_rma** rma) {
  int rank, ranks;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &ranks);
  return kumihimo_rma_open(rank, ranks, kumihimo_rma_exchange_mpi, &communicator, options, rma);
}

#endif
