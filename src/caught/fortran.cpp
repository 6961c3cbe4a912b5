#include "caught/fortran.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <string>

namespace kumihimo::caught {
namespace {

using mpi::Handle;

// The program may hold a copy of its own, which then is the one that all use.
const void* shared_symbol(const char* name) {
  const void* address = dlsym(RTLD_DEFAULT, name);
  return address ? address : mpi::loaded_symbol(name);
}

std::array<const void*, 4> addresses_of(const std::string& lower, const std::string& upper) {
  return {shared_symbol(lower.c_str()), shared_symbol((lower + "_").c_str()), shared_symbol((lower + "__").c_str()),
          shared_symbol(upper.c_str())};
}

// A library may be built for longer ones, which are not caught.
bool integers_are_ints() {
  const auto size_of_type = reinterpret_cast<int (*)(Handle, int*)>(mpi::loaded_symbol("PMPI_Type_size"));
  const void* integer = shared_symbol("ompi_mpi_integer");
  int bytes = 0;
  return size_of_type && integer && size_of_type(reinterpret_cast<Handle>(integer), &bytes) == 0 &&
         bytes == static_cast<int>(sizeof(int));
}

} // namespace

bool is_open_mpi() {
  static const bool is = mpi::loaded_symbol("ompi_mpi_comm_world") != nullptr;
  return is;
}

const Fortran& Fortran::get() {
  static const Fortran fortran;
  return fortran;
}

Fortran::Fortran() {
  if (!is_open_mpi() || !integers_are_ints()) return;
  const std::array<const char*, handle_kinds> names{"PMPI_Comm_f2c", "PMPI_Type_f2c",    "PMPI_Op_f2c",
                                                    "PMPI_Win_f2c",  "PMPI_Request_f2c", "PMPI_Message_f2c"};
  for (std::size_t i = 0; i < names.size(); ++i) convert_[i] = reinterpret_cast<Convert>(mpi::loaded_symbol(names[i]));
  converts_ = std::all_of(convert_.begin(), convert_.end(), [](Convert convert) { return convert != nullptr; });
  in_place_ = addresses_of("mpi_fortran_in_place", "MPI_FORTRAN_IN_PLACE");
  status_ignore_ = addresses_of("mpi_fortran_status_ignore", "MPI_FORTRAN_STATUS_IGNORE");
  statuses_ignore_ = addresses_of("mpi_fortran_statuses_ignore", "MPI_FORTRAN_STATUSES_IGNORE");
}

bool Fortran::is_among(const Addresses& addresses, const void* address) {
  return address && std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

} // namespace kumihimo::caught
