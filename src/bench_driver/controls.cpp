#include "bench_driver/controls.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace kumihimo::bench_driver {
namespace {

using Variable = void*; // MPI_T_cvar_handle is a pointer in all families

template <class Function>
Function find(const mpi::Library& library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library.image, name));
}

} // namespace

Status set_control(const mpi::Library& library, const std::string& name, int value) {
  const auto init = find<int (*)(int, int*)>(library, "MPI_T_init_thread");
  const auto index_of = find<int (*)(const char*, int*)>(library, "MPI_T_cvar_get_index");
  const auto open = find<int (*)(int, void*, Variable*, int*)>(library, "MPI_T_cvar_handle_alloc");
  const auto write = find<int (*)(Variable, const void*)>(library, "MPI_T_cvar_write");
  const auto close = find<int (*)(Variable*)>(library, "MPI_T_cvar_handle_free");
  int provided = 0, index = 0, count = 0;
  Variable variable = nullptr;
  const bool found = init && index_of && open && write && close &&
                     init(library.constants.thread_funneled, &provided) == 0 && index_of(name.c_str(), &index) == 0 &&
                     open(index, nullptr, &variable, &count) == 0;
  const bool set = found && count == 1 && write(variable, &value) == 0;
  if (found) close(&variable);
  if (!set) return failed(fmt::format("the MPI library does not let its variable {} be set", name));
  return Nothing{};
}

} // namespace kumihimo::bench_driver
