// MPI-IO of the MPI library of this process. A table of its own: a library may be built without it, and programs that
// read no files should not need it.
#pragma once

#include "mpi/library.hpp"

namespace kumihimo::mpi {

// As in KUMIHIMO_MPI_FUNCTIONS; MPI_Offset has 64 bits in both families. Files return errors unless told otherwise.
#define KUMIHIMO_MPI_FILE_FUNCTIONS(X)                                                                                 \
  X(File_open, (Handle, const char*, int, Handle, Handle*))                                                            \
  X(File_close, (Handle*))                                                                                             \
  X(File_sync, (Handle))                                                                                               \
  X(File_write_at, (Handle, std::int64_t, const void*, int, Handle, StatusWords*))                                     \
  X(File_write_at_all, (Handle, std::int64_t, const void*, int, Handle, StatusWords*))                                 \
  X(File_read_at, (Handle, std::int64_t, void*, int, Handle, StatusWords*))                                            \
  X(File_read_at_all, (Handle, std::int64_t, void*, int, Handle, StatusWords*))                                        \
  X(Info_create, (Handle*))                                                                                            \
  X(Info_set, (Handle, const char*, const char*))                                                                      \
  X(Info_free, (Handle*))

struct FileFunctions {
#define KUMIHIMO_MPI_DECLARE_FILE(name, arguments) int(*name) arguments = nullptr;
  KUMIHIMO_MPI_FILE_FUNCTIONS(KUMIHIMO_MPI_DECLARE_FILE)
#undef KUMIHIMO_MPI_DECLARE_FILE
};

// Modes of File_open, the same in Open MPI and MPICH.
inline constexpr int mode_create = 1, mode_read = 2, mode_write = 4;

// Error: the library has no MPI-IO.
Result<FileFunctions> file_functions(const Library& library);

} // namespace kumihimo::mpi
