// mpi_check LIBMPI [brief | fabric | unequal]: under mpirun, checks the MPI back end and every algorithm over that
// library. brief: one case for each algorithm and a few messages, for libraries that take milliseconds a call where
// ranks outnumber processors. fabric: messages, collectives and remote memory over libfabric, all of whose ranks are
// nodes. unequal: how a job ends whose ranks call with different counts. Exit code 0: all ranks found all right.
#include "checks.hpp"

#include <cstdio>
#include <string>

using namespace kumihimo;
using namespace kumihimo::mpi;

namespace {

// Cases for each algorithm on each shape; of many ranks, which share the processors, fewer.
int draws(int ranks) { return ranks > 4 ? 1 : 3; }

bool check_all(mpi_job::MpiJob& job) {
  const Library& library = job.library();
  bool good = check_abi(library, job.rank(), job.ranks());
  good = check_transport(library, job.rank(), job.ranks()) && good;
  good = check_progress_of_the_library(library, job.rank(), job.ranks()) && good;
  good = check_collectives(job, draws(job.ranks())) && good;
  good = check_three_trees(job) && good;
  good = check_that_offloads_are_refused(job) && good;
  good = check_halos(job) && good;
  good = check_that_wrong_ghosts_are_found(job) && good;
  return check_that_wrong_results_are_found(job) && good;
}

bool check_briefly(mpi_job::MpiJob& job) {
  const bool good = check_mixed_transport(job.library(), job.rank(), job.ranks());
  return check_collectives(job, 0) && good;
}

bool check_fabric(mpi_job::MpiJob& job) {
  bool good = check_transport(job.library(), job.rank(), job.ranks());
  good = check_remote_memory(job) && good;
  return check_collectives(job, job.ranks() == 2 ? 1 : 0) && good;
}

} // namespace

int main(int argc, char** argv) {
  const std::string extent = argc == 3 ? argv[2] : "";
  if (argc != 2 && extent != "brief" && extent != "fabric" && extent != "unequal")
    return std::fputs("usage: mpi_check LIBMPI [brief | fabric | unequal]\n", stderr), 2;
  const Result<std::unique_ptr<mpi_job::MpiJob>> started = mpi_job::MpiJob::start(argv[1]);
  if (!started) return std::fprintf(stderr, "%s\n", started.error().sentence().c_str()), 2;
  mpi_job::MpiJob& job = **started;
  if (extent == "unequal") return measure_unequal_counts(job), 1;
  const bool good = job.all(extent == "brief"    ? check_briefly(job)
                            : extent == "fabric" ? check_fabric(job)
                                                 : check_all(job));
  if (job.prints())
    std::printf("%s, %d ranks: %s\n", job.library().version.c_str(), job.ranks(), good ? "good" : "bad");
  return good ? 0 : 1;
}
