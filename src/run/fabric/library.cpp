#include "fabric/library.hpp"

#include <dlfcn.h>

#include <mutex>

namespace kumihimo::fabric {
namespace {

template <class Function>
bool find(void* image, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(image, name));
  return function != nullptr;
}

Result<FabricLibrary> load() {
  constexpr const char* file = "libfabric.so.1";
  void* const image = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!image)
    return not_applicable("the network fabric needs libfabric", dlerror(),
                          "install libfabric (Debian: libfabric1), or use the network mpi");
  FabricLibrary found;
  const bool whole = find(image, "fi_getinfo", found.getinfo) && find(image, "fi_freeinfo", found.freeinfo) &&
                     find(image, "fi_dupinfo", found.dupinfo) && find(image, "fi_fabric", found.fabric) &&
                     find(image, "fi_strerror", found.strerror) && find(image, "fi_version", found.version);
  if (!whole || FI_VERSION_LT(found.version(), interface_version()))
    return not_applicable("the network fabric needs libfabric 1.14 or newer", file, "use the network mpi");
  return found;
}

} // namespace

Result<const FabricLibrary*> FabricLibrary::open() {
  static std::mutex mutex;
  static const Result<FabricLibrary>* known = nullptr;
  const std::lock_guard lock(mutex);
  if (!known) known = new Result<FabricLibrary>(load()); // for the life of the process, as the library is
  if (!*known) return known->error();
  return &**known;
}

} // namespace kumihimo::fabric
