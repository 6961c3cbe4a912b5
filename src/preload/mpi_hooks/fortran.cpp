#include "mpi_hooks/fortran.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <string>

namespace kumihimo::mpi_hooks {
namespace {

using mpi::Handle;

// The program may have a copy, which is then used by all.
const void* shared_symbol(const char* name) {
  const void* address = dlsym(RTLD_DEFAULT, name);
  return address ? address : mpi::loaded_symbol(name);
}

std::array<const void*, 4> addresses_of(const std::string& lower, const std::string& upper) {
  return {shared_symbol(lower.c_str()), shared_symbol((lower + "_").c_str()), shared_symbol((lower + "__").c_str()),
          shared_symbol(upper.c_str())};
}

bool is_initialized() {
  static const auto initialized = reinterpret_cast<int (*)(int*)>(mpi::loaded_symbol("PMPI_Initialized"));
  int is = 0;
  return initialized && initialized(&is) == 0 && is;
}

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
  if (!is_open_mpi()) return;
  const std::array<std::string, handle_kinds> names{"PMPI_Comm",    "PMPI_Type",    "PMPI_Op",  "PMPI_Win",
                                                    "PMPI_Request", "PMPI_Message", "PMPI_Info"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    convert_[i] = reinterpret_cast<Convert>(mpi::loaded_symbol((names[i] + "_f2c").c_str()));
    revert_[i] = reinterpret_cast<Revert>(mpi::loaded_symbol((names[i] + "_c2f").c_str()));
  }
  converts_ = std::all_of(convert_.begin(), convert_.end(), [](Convert convert) { return convert != nullptr; });
  bottom_ = addresses_of("mpi_fortran_bottom", "MPI_FORTRAN_BOTTOM");
  in_place_ = addresses_of("mpi_fortran_in_place", "MPI_FORTRAN_IN_PLACE");
  status_ignore_ = addresses_of("mpi_fortran_status_ignore", "MPI_FORTRAN_STATUS_IGNORE");
  statuses_ignore_ = addresses_of("mpi_fortran_statuses_ignore", "MPI_FORTRAN_STATUSES_IGNORE");
}

// MPI answers no question before it is initialised; the calls until then have no integers to convert.
bool Fortran::has_integers() const {
  static std::atomic<int> known = -1;
  const int is = known.load(std::memory_order_relaxed);
  if (is >= 0) [[likely]]
    return is != 0;
  if (!is_initialized()) return true;
  known = integers_are_ints();
  return known != 0;
}

bool Fortran::is_among(const Addresses& addresses, const void* address) {
  return address && std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

} // namespace kumihimo::mpi_hooks
