#include "mpi_hooks/next_function.hpp"

#include "mpi_hooks/fortran.hpp"
#include "mpi_hooks/hooks.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
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

namespace {

// The memory from the first to the last segment of the loaded object in which a function is; empty without a function.
class LoadedObject {
 public:
  explicit LoadedObject(const void* function) : function_(reinterpret_cast<std::uintptr_t>(function)) {
    if (function) dl_iterate_phdr(&look, this);
  }
  bool holds(const void* address) const {
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    return place >= begin_ && place < end_;
  }

 private:
  static int look(dl_phdr_info* info, std::size_t, void* searched) {
    std::uintptr_t begin = ~std::uintptr_t{0}, end = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD) continue;
      begin = std::min(begin, info->dlpi_addr + segment.p_vaddr);
      end = std::max(end, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
    }
    auto& object = *static_cast<LoadedObject*>(searched);
    if (object.function_ < begin || object.function_ >= end) return 0;
    object.begin_ = begin, object.end_ = end;
    return 1;
  }
  std::uintptr_t function_, begin_ = 0, end_ = 0;
};

} // namespace

bool is_in_library(const void* site) {
  static const std::array objects{LoadedObject(mpi::loaded_symbol("PMPI_Get_library_version")),
                                  LoadedObject(mpi::loaded_symbol("pmpi_get_library_version_")),
                                  LoadedObject(mpi::loaded_symbol("pmpi_get_library_version_f08_"))};
  return std::any_of(objects.begin(), objects.end(), [&](const LoadedObject& object) { return object.holds(site); });
}

int absent() { return is_open_mpi() ? 16 : 15; } // MPI_ERR_OTHER

} // namespace kumihimo::mpi_hooks
