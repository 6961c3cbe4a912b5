#include "mpi_hooks/mpi_lifetime.hpp"

#include <algorithm>
#include <numeric>

namespace kumihimo::mpi_hooks {

bool is_spawned(const mpi::Library& library) {
  Handle parent = library.constants.comm_null;
  return library.call.Comm_get_parent(&parent) == 0 && plain_handle(library, parent) != library.constants.comm_null;
}

MpiPeriod::MpiPeriod(mpi::Library library) : library_(std::move(library)) {
  library_.call.Comm_rank(library_.constants.comm_world, &rank_);
  library_.call.Comm_size(library_.constants.comm_world, &ranks_);
}

std::vector<std::int32_t> MpiPeriod::ranks_of(Handle communicator) const {
  std::int32_t size = 0;
  Handle world = 0, group = 0;
  const auto& call = library_.call;
  if (call.Comm_size(communicator, &size) != 0 || call.Comm_group(library_.constants.comm_world, &world) != 0)
    return {-1};
  std::vector<std::int32_t> own(static_cast<std::size_t>(size)), in_world(own.size(), -1);
  std::iota(own.begin(), own.end(), 0);
  int code = call.Comm_group(communicator, &group);
  if (code == 0) {
    code = call.Group_translate_ranks(group, size, own.data(), world, in_world.data());
    call.Group_free(&group);
  }
  call.Group_free(&world);
  if (code != 0) return {-1};
  std::replace(in_world.begin(), in_world.end(), static_cast<std::int32_t>(library_.constants.undefined), -1);
  return in_world;
}

} // namespace kumihimo::mpi_hooks
