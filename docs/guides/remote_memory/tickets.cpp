// Ranks take tickets from a counter of rank 0, and put what they did with each into rank 0's memory.
#include <kumihimo/remote_memory.hpp>
#include <kumihimo/remote_memory_mpi.h>

#include <cstdio>
#include <vector>

constexpr std::int64_t tickets = 1000;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    kumihimo::RemoteMemory memory(
        rank, ranks,
        [](const void* mine, void* all, size_t bytes, void*) {
          const int n = static_cast<int>(bytes);
          return MPI_Allgather(mine, n, MPI_BYTE, all, n, MPI_BYTE, MPI_COMM_WORLD);
        },
        nullptr, argc > 1 ? argv[1] : "atomics=1");
    if (rank == 0) std::printf("%d ranks over %s\n", ranks, memory.description());

    // A counter, and a place for each ticket.
    std::vector<std::int64_t> board(1 + tickets, 0);
    kumihimo::RemoteKey key = memory.register_memory(board.data(), 8 * (1 + tickets));
    MPI_Bcast(&key, sizeof key, MPI_BYTE, 0, MPI_COMM_WORLD);

    for (std::int64_t ticket; (ticket = memory.fetch_add(key, 0, 1)) < tickets;) {
      const std::int64_t square = ticket * ticket;
      kumihimo::RemoteCompletion completion{};
      memory.put(&square, 8, key, 8 * (1 + ticket), &completion);
      memory.wait(completion);
    }
    memory.fence();
    memory.barrier();
    for (std::int64_t i = 0; rank == 0 && i < tickets; ++i) wrong += board[static_cast<size_t>(1 + i)] != i * i;
    if (rank == 0) std::printf("%d wrong squares\n", wrong);
    memory.close();
  } catch (const kumihimo::RemoteMemoryError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return wrong != 0;
}
