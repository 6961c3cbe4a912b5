/* A rank locks the window of another one, which already waits for it in a collective. The library must make progress
 * there for the lock. The exit status is 1 if a sum is wrong or the end is not seen. */
#include <mpi.h>
#include <unistd.h>

enum { times = 20 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, *memory, one = 1, all = 0, wrong = 0, not_seen = 0;
  MPI_Win window;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Alloc_mem(sizeof *memory, MPI_INFO_NULL, &memory);
  *memory = 0;
  MPI_Win_create(memory, sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < times; ++i) {
    if (rank == 0) {
      usleep(5000); /* for the others to be there */
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, ranks - 1, 0, window);
      MPI_Accumulate(&one, 1, MPI_INT, ranks - 1, 0, 1, MPI_INT, MPI_SUM, window);
      MPI_Win_unlock(ranks - 1, window);
    }
    if (i % 2)
      MPI_Barrier(MPI_COMM_WORLD);
    else
      MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  /* What was ended before a barrier is seen at the first question after it. */
  if (ranks > 1 && rank < 2) {
    MPI_Group all_ranks, other;
    const int whom = 1 - rank;
    int ended = 1;
    MPI_Win_get_group(window, &all_ranks);
    MPI_Group_incl(all_ranks, 1, &whom, &other);
    if (rank == 1) MPI_Win_post(other, 0, window);
    if (rank == 0) MPI_Win_start(other, 0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Win_complete(window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) MPI_Win_test(window, &ended);
    if (!ended) MPI_Win_wait(window), not_seen = 1;
    MPI_Group_free(&all_ranks), MPI_Group_free(&other);
  } else {
    MPI_Barrier(MPI_COMM_WORLD), MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  wrong = not_seen || *memory != (rank == ranks - 1 ? times : 0);
  MPI_Win_unlock(rank, window);
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Win_free(&window);
  MPI_Free_mem(memory);
  MPI_Finalize();
  return all != 0;
}
