// The names of C that the program's calls reach instead of the MPI library's: LD_PRELOAD puts this object before it. A
// call that is not taken over goes on to the library by its profiling name, with the arguments as they came.
#include "interpose/calls.hpp"

#include <dlfcn.h>

#include <limits>

using namespace kumihimo;
using namespace kumihimo::interpose;
using mpi::Handle;

namespace {

// The library's function behind one of these names; found once. Null where the library has no such function.
template <class F>
F* behind(const char* name) {
  void* address = mpi::loaded_symbol(name);
  return reinterpret_cast<F*>(address ? address : dlsym(RTLD_NEXT, name + 1)); // without the P, where there is none
}

constexpr int error_count = 2; // MPI_ERR_COUNT, of both families
constexpr std::int64_t most_int = std::numeric_limits<int>::max();

} // namespace

#define KUMIHIMO_BEHIND(name) static const auto next = behind<decltype(name)>("P" #name)

extern "C" {

int MPI_Allreduce(const void* send, void* receive, int count, Handle type, Handle operation, Handle communicator) {
  KUMIHIMO_BEHIND(MPI_Allreduce);
  const Outermost outermost;
  if (outermost)
    if (const auto code = take_allreduce({send, receive, count, type, operation, 0, communicator})) return *code;
  return next(send, receive, count, type, operation, communicator);
}

int MPI_Reduce(const void* send, void* receive, int count, Handle type, Handle operation, int root,
               Handle communicator) {
  KUMIHIMO_BEHIND(MPI_Reduce);
  const Outermost outermost;
  if (outermost)
    if (const auto code = take_reduce({send, receive, count, type, operation, root, communicator})) return *code;
  return next(send, receive, count, type, operation, root, communicator);
}

int MPI_Bcast(void* buffer, int count, Handle type, int root, Handle communicator) {
  KUMIHIMO_BEHIND(MPI_Bcast);
  const Outermost outermost;
  if (outermost)
    if (const auto code = take_bcast({nullptr, buffer, count, type, 0, root, communicator})) return *code;
  return next(buffer, count, type, root, communicator);
}

// Large counts. Programs look for these names at run time and use them where they are: a library that has them not gets
// the call by its other name.
int MPI_Allreduce_c(const void* send, void* receive, mpi::Address count, Handle type, Handle operation,
                    Handle communicator) {
  KUMIHIMO_BEHIND(MPI_Allreduce_c);
  const Outermost outermost;
  if (outermost)
    if (const auto code = take_allreduce({send, receive, count, type, operation, 0, communicator})) return *code;
  if (next) return next(send, receive, count, type, operation, communicator);
  if (count > most_int) return error_count;
  return MPI_Allreduce(send, receive, static_cast<int>(count), type, operation, communicator);
}

int MPI_Reduce_c(const void* send, void* receive, mpi::Address count, Handle type, Handle operation, int root,
                 Handle communicator) {
  KUMIHIMO_BEHIND(MPI_Reduce_c);
  const Outermost outermost;
  if (outermost)
    if (const auto code = take_reduce({send, receive, count, type, operation, root, communicator})) return *code;
  if (next) return next(send, receive, count, type, operation, root, communicator);
  if (count > most_int) return error_count;
  return MPI_Reduce(send, receive, static_cast<int>(count), type, operation, root, communicator);
}

int MPI_Bcast_c(void* buffer, mpi::Address count, Handle type, int root, Handle communicator) {
  KUMIHIMO_BEHIND(MPI_Bcast_c);
  const Outermost outermost;
  if (outermost)
    if (const auto code = take_bcast({nullptr, buffer, count, type, 0, root, communicator})) return *code;
  if (next) return next(buffer, count, type, root, communicator);
  if (count > most_int) return error_count;
  return MPI_Bcast(buffer, static_cast<int>(count), type, root, communicator);
}

int MPI_Comm_free(Handle* communicator) {
  KUMIHIMO_BEHIND(MPI_Comm_free);
  const Outermost outermost;
  if (outermost) before_comm_free(communicator);
  return next(communicator);
}

int MPI_Comm_disconnect(Handle* communicator) {
  KUMIHIMO_BEHIND(MPI_Comm_disconnect);
  const Outermost outermost;
  if (outermost) before_comm_free(communicator);
  return next(communicator);
}

int MPI_Finalize() {
  KUMIHIMO_BEHIND(MPI_Finalize);
  const Outermost outermost;
  if (outermost) before_finalize();
  return next();
}

} // extern "C"
