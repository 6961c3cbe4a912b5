#include "mpi_hooks/next_function.hpp"

#include "mpi_hooks/fortran.hpp"
#include "mpi_hooks/hooks.hpp"

#include <dlfcn.h>

#include <cctype>
#include <new>
#include <string>

namespace kumihimo::mpi_hooks {
constinit thread_local const void *Nesting::entered_ = nullptr, *Nesting::returns_to_ = nullptr;
constinit thread_local Name Nesting::outer_{};
constinit thread_local const void* FortranReturnAddress::site_ = nullptr;

void* next_of(const char* name) {
  if (void* address = dlsym(RTLD_NEXT, name)) return address;
  const char* const p = std::isupper(static_cast<unsigned char>(*name)) ? "P" : "p";
  try {
    if (void* address = mpi::loaded_symbol((std::string(p) + name).c_str())) return address;
    return mpi::loaded_symbol(name);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

int absent() { return is_open_mpi() ? 16 : 15; } // MPI_ERR_OTHER

} // namespace kumihimo::mpi_hooks
