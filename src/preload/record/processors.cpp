#include "record/processors.hpp"

#include <time.h>
#include <unistd.h>

#include <cstdlib>

namespace kumihimo::record {

bool shares_processors() {
  for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) // of Open MPI's launcher, of Hydra
    if (const char* const ranks = std::getenv(name)) return std::atoll(ranks) > sysconf(_SC_NPROCESSORS_ONLN);
  return false;
}

std::int64_t processor_time_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

} // namespace kumihimo::record
