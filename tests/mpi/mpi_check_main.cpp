// mpi_check LIBMPI [brief]: under mpirun, checks the MPI back end and every algorithm over that library; brief: one
// question for each algorithm alone, for libraries that take milliseconds a call where ranks outnumber processors.
// Exit code 0: all ranks found all right.
#include "checks.hpp"

#include <cstdio>

using namespace kumihimo;
using namespace kumihimo::mpi;

namespace {

constexpr int draws = 3;

bool check_all(worker::Job& job) {
  const Library& library = job.library();
  bool good = check_abi(library, job.rank(), job.ranks());
  good = check_transport(library, job.rank(), job.ranks()) && good;
  good = check_progress_of_the_library(library, job.rank(), job.ranks()) && good;
  good = check_collectives(job, draws) && good;
  good = check_three_trees(job) && good;
  return check_that_wrong_results_are_found(job) && good;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return std::fputs("usage: mpi_check LIBMPI [brief]\n", stderr), 2;
  const Result<std::unique_ptr<worker::Job>> started = worker::Job::start(argv[1]);
  if (!started) return std::fprintf(stderr, "%s\n", started.error().sentence().c_str()), 2;
  worker::Job& job = **started;
  const bool good = job.all(argc == 3 ? check_collectives(job, 0) : check_all(job));
  if (job.speaks())
    std::printf("%s, %d ranks: %s\n", job.library().version.c_str(), job.ranks(), good ? "good" : "bad");
  return good ? 0 : 1;
}
