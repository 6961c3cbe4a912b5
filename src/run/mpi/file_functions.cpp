#include "mpi/file_functions.hpp"

#include <dlfcn.h>

namespace kumihimo::mpi {

Result<FileFunctions> file_functions(const Library& library) {
  FileFunctions found;
  std::string missing;
#define KUMIHIMO_MPI_FIND_FILE(name, arguments)                                                                        \
  found.name = reinterpret_cast<int(*) arguments>(dlsym(library.image, "PMPI_" #name));                                \
  if (!found.name) found.name = reinterpret_cast<int(*) arguments>(dlsym(library.image, "MPI_" #name));                \
  if (!found.name && missing.empty()) missing = "MPI_" #name;
  KUMIHIMO_MPI_FILE_FUNCTIONS(KUMIHIMO_MPI_FIND_FILE)
#undef KUMIHIMO_MPI_FIND_FILE
  if (missing.empty()) return found;
  return not_applicable(library.path + " is built without MPI-IO", "no function " + missing, "use --api posix");
}

} // namespace kumihimo::mpi
