// The names of C that the program's calls reach instead of the MPI library's: LD_PRELOAD puts this object before it. A
// call that is not taken over goes on to the library by its profiling name, with the arguments as they came.
#include "interpose/calls.hpp"
#include "interpose/session.hpp"

#include <dlfcn.h>

#include <limits>
#include <vector>

using namespace kumihimo;
using namespace kumihimo::interpose;
using mpi::Handle;
using mpi::StatusWords;

namespace {

// The library's function behind one of these names; found once. Null where the library has no such function.
template <class F>
F* behind(const char* name) {
  void* address = mpi::loaded_symbol(name);
  return reinterpret_cast<F*>(address ? address : dlsym(RTLD_NEXT, name + 1)); // without the P, where there is none
}

constexpr int error_count = 2; // MPI_ERR_COUNT, of both families
constexpr std::int64_t most_int = std::numeric_limits<int>::max();

// Where a program keeps requests: MPICH's are ints.
std::vector<Handle> requests_at(const Handle* requests, int count) {
  std::vector<Handle> all;
  const Session* const session = Session::current();
  if (!session || !requests) return all;
  const bool wide = session->library().family == mpi::Family::open_mpi;
  for (int i = 0; i < count; ++i)
    all.push_back(wide ? requests[i] : reinterpret_cast<const std::int32_t*>(requests)[i]);
  return all;
}

std::optional<int> start(CollectiveKind kind, const Call& call, Handle* request) {
  Handle started = 0;
  const std::optional<int> code = start_call(kind, call, started);
  if (!code || *code != 0) return code;
  if (Session::current()->library().family == mpi::Family::open_mpi)
    *request = started;
  else
    *reinterpret_cast<std::int32_t*>(request) = static_cast<std::int32_t>(started);
  return code;
}

} // namespace

#define KUMIHIMO_BEHIND(name) static const auto next = behind<decltype(name)>("P" #name)

extern "C" {

int MPI_Allreduce(const void* send, void* receive, int count, Handle type, Handle operation, Handle communicator) {
  KUMIHIMO_BEHIND(MPI_Allreduce);
  const Outermost outermost;
  if (outermost)
    if (const auto code = run_call(CollectiveKind::allreduce, {send, receive, count, type, operation, 0, communicator}))
      return *code;
  return next(send, receive, count, type, operation, communicator);
}

int MPI_Reduce(const void* send, void* receive, int count, Handle type, Handle operation, int root,
               Handle communicator) {
  KUMIHIMO_BEHIND(MPI_Reduce);
  const Outermost outermost;
  if (outermost)
    if (const auto code = run_call(CollectiveKind::reduce, {send, receive, count, type, operation, root, communicator}))
      return *code;
  return next(send, receive, count, type, operation, root, communicator);
}

int MPI_Bcast(void* buffer, int count, Handle type, int root, Handle communicator) {
  KUMIHIMO_BEHIND(MPI_Bcast);
  const Outermost outermost;
  if (outermost)
    if (const auto code = run_call(CollectiveKind::bcast, {nullptr, buffer, count, type, 0, root, communicator}))
      return *code;
  return next(buffer, count, type, root, communicator);
}

// Large counts. Programs look for these names at run time and use them where they are: a library that has them not gets
// the call by its other name.
int MPI_Allreduce_c(const void* send, void* receive, mpi::Address count, Handle type, Handle operation,
                    Handle communicator) {
  KUMIHIMO_BEHIND(MPI_Allreduce_c);
  const Outermost outermost;
  if (outermost)
    if (const auto code = run_call(CollectiveKind::allreduce, {send, receive, count, type, operation, 0, communicator}))
      return *code;
  if (next) return next(send, receive, count, type, operation, communicator);
  if (count > most_int) return error_count;
  return MPI_Allreduce(send, receive, static_cast<int>(count), type, operation, communicator);
}

int MPI_Reduce_c(const void* send, void* receive, mpi::Address count, Handle type, Handle operation, int root,
                 Handle communicator) {
  KUMIHIMO_BEHIND(MPI_Reduce_c);
  const Outermost outermost;
  if (outermost)
    if (const auto code = run_call(CollectiveKind::reduce, {send, receive, count, type, operation, root, communicator}))
      return *code;
  if (next) return next(send, receive, count, type, operation, root, communicator);
  if (count > most_int) return error_count;
  return MPI_Reduce(send, receive, static_cast<int>(count), type, operation, root, communicator);
}

int MPI_Bcast_c(void* buffer, mpi::Address count, Handle type, int root, Handle communicator) {
  KUMIHIMO_BEHIND(MPI_Bcast_c);
  const Outermost outermost;
  if (outermost)
    if (const auto code = run_call(CollectiveKind::bcast, {nullptr, buffer, count, type, 0, root, communicator}))
      return *code;
  if (next) return next(buffer, count, type, root, communicator);
  if (count > most_int) return error_count;
  return MPI_Bcast(buffer, static_cast<int>(count), type, root, communicator);
}

// --- non-blocking

int MPI_Iallreduce(const void* send, void* receive, int count, Handle type, Handle operation, Handle communicator,
                   Handle* request) {
  KUMIHIMO_BEHIND(MPI_Iallreduce);
  const Outermost outermost;
  if (outermost)
    if (const auto code =
            start(CollectiveKind::allreduce, {send, receive, count, type, operation, 0, communicator}, request))
      return *code;
  return next(send, receive, count, type, operation, communicator, request);
}

int MPI_Ireduce(const void* send, void* receive, int count, Handle type, Handle operation, int root,
                Handle communicator, Handle* request) {
  KUMIHIMO_BEHIND(MPI_Ireduce);
  const Outermost outermost;
  if (outermost)
    if (const auto code =
            start(CollectiveKind::reduce, {send, receive, count, type, operation, root, communicator}, request))
      return *code;
  return next(send, receive, count, type, operation, root, communicator, request);
}

int MPI_Ibcast(void* buffer, int count, Handle type, int root, Handle communicator, Handle* request) {
  KUMIHIMO_BEHIND(MPI_Ibcast);
  const Outermost outermost;
  if (outermost)
    if (const auto code = start(CollectiveKind::bcast, {nullptr, buffer, count, type, 0, root, communicator}, request))
      return *code;
  return next(buffer, count, type, root, communicator, request);
}

int MPI_Iallreduce_c(const void* send, void* receive, mpi::Address count, Handle type, Handle operation,
                     Handle communicator, Handle* request) {
  KUMIHIMO_BEHIND(MPI_Iallreduce_c);
  const Outermost outermost;
  if (outermost)
    if (const auto code =
            start(CollectiveKind::allreduce, {send, receive, count, type, operation, 0, communicator}, request))
      return *code;
  if (next) return next(send, receive, count, type, operation, communicator, request);
  if (count > most_int) return error_count;
  return MPI_Iallreduce(send, receive, static_cast<int>(count), type, operation, communicator, request);
}

int MPI_Ireduce_c(const void* send, void* receive, mpi::Address count, Handle type, Handle operation, int root,
                  Handle communicator, Handle* request) {
  KUMIHIMO_BEHIND(MPI_Ireduce_c);
  const Outermost outermost;
  if (outermost)
    if (const auto code =
            start(CollectiveKind::reduce, {send, receive, count, type, operation, root, communicator}, request))
      return *code;
  if (next) return next(send, receive, count, type, operation, root, communicator, request);
  if (count > most_int) return error_count;
  return MPI_Ireduce(send, receive, static_cast<int>(count), type, operation, root, communicator, request);
}

int MPI_Ibcast_c(void* buffer, mpi::Address count, Handle type, int root, Handle communicator, Handle* request) {
  KUMIHIMO_BEHIND(MPI_Ibcast_c);
  const Outermost outermost;
  if (outermost)
    if (const auto code = start(CollectiveKind::bcast, {nullptr, buffer, count, type, 0, root, communicator}, request))
      return *code;
  if (next) return next(buffer, count, type, root, communicator, request);
  if (count > most_int) return error_count;
  return MPI_Ibcast(buffer, static_cast<int>(count), type, root, communicator, request);
}

// --- waiting and testing. Where nothing of ours is under way they cost one look.

int MPI_Test(Handle* request, int* done, StatusWords* status) {
  KUMIHIMO_BEHIND(MPI_Test);
  const Outermost outermost;
  if (Nonblocking* const ours = outermost ? under_way() : nullptr) ours->poke();
  return next(request, done, status);
}

int MPI_Testall(int count, Handle* requests, int* done, StatusWords* statuses) {
  KUMIHIMO_BEHIND(MPI_Testall);
  const Outermost outermost;
  if (Nonblocking* const ours = outermost ? under_way() : nullptr) ours->poke();
  return next(count, requests, done, statuses);
}

int MPI_Testany(int count, Handle* requests, int* index, int* done, StatusWords* status) {
  KUMIHIMO_BEHIND(MPI_Testany);
  const Outermost outermost;
  if (Nonblocking* const ours = outermost ? under_way() : nullptr) ours->poke();
  return next(count, requests, index, done, status);
}

int MPI_Testsome(int count, Handle* requests, int* number, int* indices, StatusWords* statuses) {
  KUMIHIMO_BEHIND(MPI_Testsome);
  const Outermost outermost;
  if (Nonblocking* const ours = outermost ? under_way() : nullptr) ours->poke();
  return next(count, requests, number, indices, statuses);
}

int MPI_Request_get_status(Handle request, int* done, StatusWords* status) {
  KUMIHIMO_BEHIND(MPI_Request_get_status);
  const Outermost outermost;
  if (Nonblocking* const ours = outermost ? under_way() : nullptr) ours->poke();
  return next(request, done, status);
}

int MPI_Wait(Handle* request, StatusWords* status) {
  KUMIHIMO_BEHIND(MPI_Wait);
  const Outermost outermost;
  if (Nonblocking* const ours = outermost ? under_way() : nullptr) ours->finish(requests_at(request, 1));
  return next(request, status);
}

int MPI_Waitall(int count, Handle* requests, StatusWords* statuses) {
  KUMIHIMO_BEHIND(MPI_Waitall);
  const Outermost outermost;
  if (Nonblocking* const ours = outermost ? under_way() : nullptr) ours->finish(requests_at(requests, count));
  return next(count, requests, statuses);
}

// With one of ours among them, the library is asked again and again instead of waiting.
int MPI_Waitany(int count, Handle* requests, int* index, StatusWords* status) {
  KUMIHIMO_BEHIND(MPI_Waitany);
  static const auto test = behind<decltype(MPI_Testany)>("PMPI_Testany");
  const Outermost outermost;
  Nonblocking* const ours = outermost ? under_way() : nullptr;
  if (!ours || !ours->holds_any(requests_at(requests, count))) return next(count, requests, index, status);
  for (int done = 0;; ours->turn())
    if (const int code = test(count, requests, index, &done, status); code != 0 || done) return code;
}

int MPI_Waitsome(int count, Handle* requests, int* number, int* indices, StatusWords* statuses) {
  KUMIHIMO_BEHIND(MPI_Waitsome);
  static const auto test = behind<decltype(MPI_Testsome)>("PMPI_Testsome");
  const Outermost outermost;
  Nonblocking* const ours = outermost ? under_way() : nullptr;
  if (!ours || !ours->holds_any(requests_at(requests, count))) return next(count, requests, number, indices, statuses);
  for (;; ours->turn())
    if (const int code = test(count, requests, number, indices, statuses); code != 0 || *number != 0) return code;
}

// --- others

int MPI_Barrier(Handle communicator) {
  KUMIHIMO_BEHIND(MPI_Barrier);
  const Outermost outermost;
  if (outermost) meet(communicator);
  return next(communicator);
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
