// Fortran's integers as C handles, and Fortran's special addresses. With MPICH's ABI the integers are C's handles. The
// names of mpif.h and `use mpi` call C's names, which are hooked instead. So do the names of mpi_f08 with a buffer; the
// others are hooked themselves.
#pragma once

#include "mpi/library.hpp"

#include <array>
#include <cstdint>

namespace kumihimo::mpi_hooks {

enum class HandleKind : std::uint8_t { communicator, type, operation, window, request, message, info };
inline constexpr std::size_t handle_kinds = 7;

// Whether the library of this process is Open MPI, or one with its handles; else one of MPICH's ABI.
bool is_open_mpi();

class Fortran {
 public:
  static const Fortran& get();
  // Whether calls by these names are hooked, rather than the C names that they call.
  bool is_hooked(bool f08) const { return is_open_mpi() ? converts_ && has_integers() : f08; }

  mpi::Handle handle(HandleKind kind, int integer) const {
    const Convert convert = convert_[static_cast<std::size_t>(kind)];
    return convert ? convert(integer) : integer;
  }
  int integer(HandleKind kind, mpi::Handle handle) const {
    const Revert revert = revert_[static_cast<std::size_t>(kind)];
    return revert ? revert(handle) : static_cast<int>(handle);
  }
  bool is_bottom(const void* address) const { return is_among(bottom_, address); }
  bool is_in_place(const void* address) const { return is_among(in_place_, address); }
  bool is_status_ignored(const void* address) const {
    return is_among(status_ignore_, address) || is_among(statuses_ignore_, address);
  }

 private:
  using Convert = mpi::Handle (*)(int);
  using Revert = int (*)(mpi::Handle);
  using Addresses = std::array<const void*, 4>; // in the spellings of Fortran compilers
  Fortran();
  bool has_integers() const; // as long as C's: a library may be built for longer ones, which are not hooked
  static bool is_among(const Addresses& addresses, const void* address);

  bool converts_ = false;
  std::array<Convert, handle_kinds> convert_{};
  std::array<Revert, handle_kinds> revert_{};
  Addresses bottom_{}, in_place_{}, status_ignore_{}, statuses_ignore_{};
};

} // namespace kumihimo::mpi_hooks
