// mpi_check LIBMPI: under mpirun, checks the MPI back end over that library. Exit code 0: all ranks found all right.
#include "checks.hpp"

#include <cstdio>

using namespace kumihimo;
using namespace kumihimo::mpi;

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: mpi_check LIBMPI\n", stderr), 2;
  Result<Library> library = open_library(argv[1]);
  if (!library) return std::fprintf(stderr, "%s\n", library.error().sentence().c_str()), 2;
  int provided = 0, rank = 0, ranks = 0;
  library->call.Init_thread(&argc, &argv, library->constants.thread_funneled, &provided);
  library->call.Comm_rank(library->constants.comm_world, &rank);
  library->call.Comm_size(library->constants.comm_world, &ranks);
  bool good = check_abi(*library, rank, ranks);
  good = check_transport(*library, rank, ranks) && good;
  good = check_progress_of_the_library(*library, rank, ranks) && good;
  if (rank == 0) std::printf("%s, %d ranks: %s\n", library->version.c_str(), ranks, good ? "good" : "bad");
  library->call.Finalize();
  return good ? 0 : 1;
}
