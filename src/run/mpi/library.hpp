// The MPI library of this process, in one build for all of them (ADR 0007). We include no mpi.h and link no libmpi. The
// library is opened at run time, and its functions are looked up by name. Handles are pointer-sized integers. A table
// for each ABI family has the values that mpi.h would define (handles, special pointers, the layout of MPI_Status):
//  - Open MPI (4 and 5): handles are addresses of objects that libmpi exports.
//  - MPICH (4 and 5, Intel MPI, Cray MPICH, MVAPICH): handles are 32-bit integers, the same in all of them (MPICH ABI
//    compatibility initiative, 2013). On x86-64 and AArch64 a function with an int parameter ignores the upper half of
//    the register, so one prototype serves both families.
// The functions are those of the profiling interface (PMPI_...), so an interposer never hooks its own calls.
#pragma once

#include "base/datatype.hpp"
#include "base/result.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::mpi {

using Handle = std::intptr_t;  // MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request, MPI_Win, MPI_Info, MPI_Errhandler
using Address = std::intptr_t; // MPI_Aint

enum class LibraryFamily : std::uint8_t { open_mpi, mpich };
std::string_view name_of(LibraryFamily family); // "openmpi", "mpich": the words of --mpi

// Large enough for every family's MPI_Status.
struct alignas(8) StatusWords {
  std::array<std::int32_t, 8> words{};
};

// The operations that MPI allows for a predefined type.
enum class Reducible : std::uint8_t { by_all, by_bits, by_truth, by_sum, by_index };

// A predefined type of C or Fortran whose elements are `each` elements of a DataType (a complex number: two), if their
// sizes agree: a build of a library may have a longer INTEGER.
struct NamedType {
  Handle handle;
  DataType type;
  Reducible reducible = Reducible::by_all;
  std::int8_t each = 1;

  std::int64_t bytes() const { return each * size_of(type); } // the extent
  bool may(Operation op) const;
};

struct Constants {
  Handle comm_world, comm_self, comm_null;
  Handle info_null, request_null, win_null, op_null, datatype_null;
  Handle errors_return, errors_are_fatal;
  Handle byte;
  std::array<Handle, datatype_count> datatypes;   // by DataType; opaque is datatype_null
  std::array<Handle, operation_count> operations; // by Operation; user is op_null
  std::array<Handle, 2> operations_on_windows;    // MPI_REPLACE, MPI_NO_OP: of one-sided calls alone
  std::vector<NamedType> named;                   // types of C and Fortran that equal one of `datatypes`
  void* in_place;
  int* unweighted; // MPI_UNWEIGHTED; null: the library does not export it
  StatusWords* status_ignore;
  int tag_ub;           // key of the attribute
  int comm_type_shared; // split type
  int any_source, any_tag, proc_null, undefined;
  int combiner_named; // of predefined types
  int error_truncate; // MPI_ERR_TRUNCATE
  int error_other;    // MPI_ERR_OTHER
  int thread_single, thread_funneled, thread_serialized, thread_multiple;
  int status_source, status_tag, status_error; // words of StatusWords
};

// Callbacks of communicator attributes.
using CopyAttribute = int (*)(Handle, int, void*, void*, void*, int*);
using DeleteAttribute = int (*)(Handle, int, void*, void*);

// Callbacks of generalised requests; `state` is the argument of Grequest_start.
using QueryRequest = int (*)(void* state, StatusWords*);
using FreeRequest = int (*)(void* state);
using CancelRequest = int (*)(void* state, int complete);

// Names are those of MPI without the prefix. All return an MPI error code, 0 for success. Arrays of handles are void*
// (handle_array.hpp).
#define KUMIHIMO_MPI_FUNCTIONS(X)                                                                                      \
  X(Init_thread, (int*, char***, int, int*))                                                                           \
  X(Initialized, (int*))                                                                                               \
  X(Finalized, (int*))                                                                                                 \
  X(Finalize, ())                                                                                                      \
  X(Query_thread, (int*))                                                                                              \
  X(Abort, (Handle, int))                                                                                              \
  X(Get_library_version, (char*, int*))                                                                                \
  X(Get_processor_name, (char*, int*))                                                                                 \
  X(Error_string, (int, char*, int*))                                                                                  \
  X(Error_class, (int, int*))                                                                                          \
  X(Comm_rank, (Handle, int*))                                                                                         \
  X(Comm_size, (Handle, int*))                                                                                         \
  X(Comm_dup, (Handle, Handle*))                                                                                       \
  X(Comm_split, (Handle, int, int, Handle*))                                                                           \
  X(Comm_split_type, (Handle, int, int, Handle, Handle*))                                                              \
  X(Comm_free, (Handle*))                                                                                              \
  X(Comm_disconnect, (Handle*))                                                                                        \
  X(Comm_test_inter, (Handle, int*))                                                                                   \
  X(Comm_create_keyval, (CopyAttribute, DeleteAttribute, int*, void*))                                                 \
  X(Comm_free_keyval, (int*))                                                                                          \
  X(Comm_set_attr, (Handle, int, void*))                                                                               \
  X(Comm_get_attr, (Handle, int, void*, int*))                                                                         \
  X(Comm_call_errhandler, (Handle, int))                                                                               \
  X(Comm_set_errhandler, (Handle, Handle))                                                                             \
  X(Comm_get_errhandler, (Handle, Handle*))                                                                            \
  X(Errhandler_free, (Handle*))                                                                                        \
  X(Send, (const void*, int, Handle, int, int, Handle))                                                                \
  X(Recv, (void*, int, Handle, int, int, Handle, StatusWords*))                                                        \
  X(Isend, (const void*, int, Handle, int, int, Handle, Handle*))                                                      \
  X(Irecv, (void*, int, Handle, int, int, Handle, Handle*))                                                            \
  X(Test, (Handle*, int*, StatusWords*))                                                                               \
  X(Wait, (Handle*, StatusWords*))                                                                                     \
  X(Waitall, (int, void*, StatusWords*))                                                                               \
  X(Cancel, (Handle*))                                                                                                 \
  X(Request_get_status, (Handle, int*, StatusWords*))                                                                  \
  X(Grequest_start, (QueryRequest, FreeRequest, CancelRequest, void*, Handle*))                                        \
  X(Grequest_complete, (Handle))                                                                                       \
  X(Status_set_elements, (StatusWords*, Handle, int))                                                                  \
  X(Status_set_cancelled, (StatusWords*, int))                                                                         \
  X(Get_count, (const StatusWords*, Handle, int*))                                                                     \
  X(Iprobe, (int, int, Handle, int*, StatusWords*))                                                                    \
  X(Barrier, (Handle))                                                                                                 \
  X(Bcast, (void*, int, Handle, int, Handle))                                                                          \
  X(Gather, (const void*, int, Handle, void*, int, Handle, int, Handle))                                               \
  X(Allgather, (const void*, int, Handle, void*, int, Handle, Handle))                                                 \
  X(Scatter, (const void*, int, Handle, void*, int, Handle, int, Handle))                                              \
  X(Alltoall, (const void*, int, Handle, void*, int, Handle, Handle))                                                  \
  X(Reduce, (const void*, void*, int, Handle, Handle, int, Handle))                                                    \
  X(Allreduce, (const void*, void*, int, Handle, Handle, Handle))                                                      \
  X(Reduce_scatter_block, (const void*, void*, int, Handle, Handle, Handle))                                           \
  X(Scan, (const void*, void*, int, Handle, Handle, Handle))                                                           \
  X(Exscan, (const void*, void*, int, Handle, Handle, Handle))                                                         \
  X(Cart_create, (Handle, int, const int*, const int*, int, Handle*))                                                  \
  X(Dist_graph_create_adjacent,                                                                                        \
    (Handle, int, const int*, const int*, int, const int*, const int*, Handle, int, Handle*))                          \
  X(Neighbor_allgather, (const void*, int, Handle, void*, int, Handle, Handle))                                        \
  X(Neighbor_alltoall, (const void*, int, Handle, void*, int, Handle, Handle))                                         \
  X(Gatherv, (const void*, int, Handle, void*, const int*, const int*, Handle, int, Handle))                           \
  X(Scatterv, (const void*, const int*, const int*, Handle, void*, int, Handle, int, Handle))                          \
  X(Allgatherv, (const void*, int, Handle, void*, const int*, const int*, Handle, Handle))                             \
  X(Alltoallv, (const void*, const int*, const int*, Handle, void*, const int*, const int*, Handle, Handle))           \
  X(Reduce_scatter, (const void*, void*, const int*, Handle, Handle, Handle))                                          \
  X(Neighbor_allgatherv, (const void*, int, Handle, void*, const int*, const int*, Handle, Handle))                    \
  X(Neighbor_alltoallv, (const void*, const int*, const int*, Handle, void*, const int*, const int*, Handle, Handle))  \
  X(Neighbor_alltoallw,                                                                                                \
    (const void*, const int*, const Address*, const void*, void*, const int*, const Address*, const void*, Handle))    \
  X(Ineighbor_alltoallw, (const void*, const int*, const Address*, const void*, void*, const int*, const Address*,     \
                          const void*, Handle, Handle*))                                                               \
  X(Reduce_local, (const void*, void*, int, Handle, Handle))                                                           \
  X(Type_contiguous, (int, Handle, Handle*))                                                                           \
  X(Type_vector, (int, int, int, Handle, Handle*))                                                                     \
  X(Type_create_hvector, (int, int, Address, Handle, Handle*))                                                         \
  X(Type_create_struct, (int, const int*, const Address*, const void*, Handle*))                                       \
  X(Type_create_hindexed, (int, const int*, const Address*, Handle, Handle*))                                          \
  X(Type_size, (Handle, int*))                                                                                         \
  X(Type_size_x, (Handle, long long*))                                                                                 \
  X(Type_get_extent, (Handle, Address*, Address*))                                                                     \
  X(Type_get_true_extent, (Handle, Address*, Address*))                                                                \
  X(Type_get_envelope, (Handle, int*, int*, int*, int*))                                                               \
  X(Type_get_contents, (Handle, int, int, int, int*, Address*, void* types))                                           \
  X(Pack, (const void*, int, Handle, void*, int, int*, Handle))                                                        \
  X(Unpack, (const void*, int, int*, void*, int, Handle, Handle))                                                      \
  X(Type_dup, (Handle, Handle*))                                                                                       \
  X(Comm_get_parent, (Handle*))                                                                                        \
  X(Type_commit, (Handle*))                                                                                            \
  X(Type_free, (Handle*))                                                                                              \
  X(Op_create, (void (*)(void*, void*, int*, Handle*), int, Handle*))                                                  \
  X(Op_free, (Handle*))                                                                                                \
  X(Op_commutative, (Handle, int*))                                                                                    \
  X(Comm_remote_size, (Handle, int*))                                                                                  \
  X(Comm_group, (Handle, Handle*))                                                                                     \
  X(Comm_remote_group, (Handle, Handle*))                                                                              \
  X(Group_translate_ranks, (Handle, int, const int*, Handle, int*))                                                    \
  X(Group_size, (Handle, int*))                                                                                        \
  X(Group_rank, (Handle, int*))                                                                                        \
  X(Group_free, (Handle*))                                                                                             \
  X(Win_get_group, (Handle, Handle*))                                                                                  \
  X(Ibarrier, (Handle, Handle*))                                                                                       \
  X(Ibcast, (void*, int, Handle, int, Handle, Handle*))                                                                \
  X(Igather, (const void*, int, Handle, void*, int, Handle, int, Handle, Handle*))                                     \
  X(Iallgather, (const void*, int, Handle, void*, int, Handle, Handle, Handle*))                                       \
  X(Iscatter, (const void*, int, Handle, void*, int, Handle, int, Handle, Handle*))                                    \
  X(Ialltoall, (const void*, int, Handle, void*, int, Handle, Handle, Handle*))                                        \
  X(Ireduce, (const void*, void*, int, Handle, Handle, int, Handle, Handle*))                                          \
  X(Iallreduce, (const void*, void*, int, Handle, Handle, Handle, Handle*))                                            \
  X(Ireduce_scatter_block, (const void*, void*, int, Handle, Handle, Handle, Handle*))                                 \
  X(Iscan, (const void*, void*, int, Handle, Handle, Handle, Handle*))                                                 \
  X(Iexscan, (const void*, void*, int, Handle, Handle, Handle, Handle*))                                               \
  X(Ineighbor_allgather, (const void*, int, Handle, void*, int, Handle, Handle, Handle*))                              \
  X(Ineighbor_alltoall, (const void*, int, Handle, void*, int, Handle, Handle, Handle*))                               \
  X(Testall, (int, Handle*, int*, StatusWords*))                                                                       \
  X(Ssend, (const void*, int, Handle, int, int, Handle))

struct Functions {
#define KUMIHIMO_MPI_DECLARE(name, arguments) int(*name) arguments = nullptr;
  KUMIHIMO_MPI_FUNCTIONS(KUMIHIMO_MPI_DECLARE)
#undef KUMIHIMO_MPI_DECLARE
};

// An MPI library in this process. Never unloaded.
struct Library {
  LibraryFamily family = LibraryFamily::open_mpi;
  void* image = nullptr; // as dlopen gave it
  std::string path;      // as opened
  std::string version;   // first line of MPI_Get_library_version
  Functions call;
  Constants constants{};

  Handle datatype(DataType type) const { return constants.datatypes[static_cast<std::size_t>(type)]; }
  Handle operation(Operation op) const { return constants.operations[static_cast<std::size_t>(op)]; }
  // With the functions that programs call (MPI_...), so that a loaded interposer hooks them.
  Library as_programs_call_it() const;
  // The library's text for an error code.
  std::string error_text(int code) const;
  // Whether a code is of the class MPI_ERR_TRUNCATE.
  bool is_truncation(int code) const;
  // An error that names the function `what` ("MPI_Comm_dup") unless the code is MPI_SUCCESS.
  Status check(int code, std::string_view what) const;
};

// Opens the shared library `path`: a file, or a name that the dynamic linker finds.
Result<Library> open_library(const std::string& path);
// The library that the process has already loaded.
Result<Library> loaded_library();
// A symbol of the loaded libmpi*.so files (those of Fortran too), however they were loaded; null: none.
void* loaded_symbol(const char* name);

// Whether this process is between MPI_Init and MPI_Finalize, so that MPI_COMM_WORLD exists. False for a program that
// uses only sessions. Cheap enough to call at every MPI call.
bool is_running();

} // namespace kumihimo::mpi
