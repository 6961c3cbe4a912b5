#include "mpi/progress_extensions.hpp"

#include <dlfcn.h>

#include <type_traits>

namespace kumihimo::mpi {

ProgressExtensions progress_extensions(const Library& library) {
  ProgressExtensions found;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library.image, name));
  };
  if (library.family == Family::mpich) {
    find(found.start, "PMPIX_Grequest_start");
  } else { // in a library that libmpi needs
    find(found.register_progress, "opal_progress_register");
    find(found.unregister_progress, "opal_progress_unregister");
  }
  return found;
}

} // namespace kumihimo::mpi
