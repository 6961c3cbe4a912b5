#include "mpi/progress_extensions.hpp"

#include "base/text_parsing.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <optional>
#include <type_traits>

namespace kumihimo::mpi {

bool polls_outside_its_lock(std::string_view version) {
  if (version.find("MVAPICH2") != std::string_view::npos) return false; // of MPICH 3.2 and 3.3
  const auto after = [&](std::string_view word) -> std::optional<std::string_view> {
    const std::size_t at = version.find(word);
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view rest = version.substr(at + word.size());
    return rest.substr(std::min(rest.find_first_of("0123456789"), rest.size()));
  };
  if (auto intel = after("Intel(R) MPI Library")) return take_count(*intel).value_or(0) >= 2021;
  auto mpich = after("MPICH Version:");
  if (!mpich) return true; // a relative with numbers of its own, younger than that
  const auto major = take_count(*mpich);
  const auto minor = take(*mpich, ".") ? take_count(*mpich) : std::nullopt;
  return major.value_or(0) > 3 || (major == 3 && minor.value_or(0) >= 4);
}

ProgressExtensions progress_extensions(const Library& library) {
  ProgressExtensions found;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library.image, name));
  };
  if (library.family == LibraryFamily::mpich) {
    if (polls_outside_its_lock(library.version)) find(found.start, "PMPIX_Grequest_start");
  } else { // in a library that libmpi needs
    find(found.register_progress, "opal_progress_register");
    find(found.unregister_progress, "opal_progress_unregister");
  }
  return found;
}

} // namespace kumihimo::mpi
