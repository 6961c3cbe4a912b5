// libfabric, opened at run time: the functions that it exports. All others are in the tables of its objects. This
// layer calls none of its inline functions that need an exported symbol, such as fi_allocinfo().
#pragma once

#include "base/result.hpp"

#include <rdma/fabric.h>

#include <cstdint>
#include <string>

namespace kumihimo::fabric {

struct FabricLibrary {
  decltype(&::fi_getinfo) getinfo = nullptr;
  decltype(&::fi_freeinfo) freeinfo = nullptr;
  decltype(&::fi_dupinfo) dupinfo = nullptr;
  decltype(&::fi_fabric) fabric = nullptr;
  decltype(&::fi_strerror) strerror = nullptr;
  decltype(&::fi_version) version = nullptr;

  // Opened once for the process. Error: not applicable, there is none.
  static Result<const FabricLibrary*> open();

  std::string text(long code) const { return strerror(static_cast<int>(code < 0 ? -code : code)); }
};

// The interface that this layer is written for; a newer library has it too.
inline std::uint32_t interface_version() { return FI_VERSION(1, 14); }

} // namespace kumihimo::fabric
