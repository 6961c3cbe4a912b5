// The names of Fortran: of mpif.h and `use mpi`, as the compilers spell them, and of mpi_f08. Open MPI's reach its C
// functions by their profiling names, so they are caught here; MPICH's call MPI_Allreduce and its like by their public
// names, and are caught there: here they pass.
#include "interpose/calls.hpp"
#include "interpose/session.hpp"

#include <dlfcn.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

using namespace kumihimo;
using namespace kumihimo::interpose;
using mpi::Handle;

namespace {

// Open MPI's objects behind the integers of Fortran.
class Handles {
 public:
  static const Handles& get() {
    static const Handles handles;
    return handles;
  }
  // Whether this is a process of Open MPI whose Fortran is caught here.
  explicit operator bool() const { return comm_ && type_ && op_ && request_ && from_request_; }
  Handle comm(const int* f) const { return comm_(*f); }
  Handle type(const int* f) const { return type_(*f); }
  Handle op(const int* f) const { return op_(*f); }
  Handle request(int f) const { return request_(f); }
  int fortran_of(Handle request) const { return from_request_(request); }

  // MPI_IN_PLACE and MPI_BOTTOM are the addresses of variables in Fortran; `address` as C has it.
  const void* buffer(const mpi::Library& library, const void* address) const {
    for (const void* place : in_place_)
      if (place && address == place) return library.constants.in_place;
    for (const void* place : bottom_)
      if (place && address == place) return nullptr;
    return address;
  }

 private:
  using Convert = Handle (*)(int);
  Handles() {
    if (!mpi::loaded_symbol("ompi_mpi_comm_world") || !integers_are_ints()) return;
    comm_ = reinterpret_cast<Convert>(mpi::loaded_symbol("PMPI_Comm_f2c"));
    type_ = reinterpret_cast<Convert>(mpi::loaded_symbol("PMPI_Type_f2c"));
    op_ = reinterpret_cast<Convert>(mpi::loaded_symbol("PMPI_Op_f2c"));
    request_ = reinterpret_cast<Convert>(mpi::loaded_symbol("PMPI_Request_f2c"));
    from_request_ = reinterpret_cast<int (*)(Handle)>(mpi::loaded_symbol("PMPI_Request_c2f"));
    find(in_place_,
         {"mpi_fortran_in_place", "mpi_fortran_in_place_", "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE"});
    find(bottom_, {"mpi_fortran_bottom", "mpi_fortran_bottom_", "mpi_fortran_bottom__", "MPI_FORTRAN_BOTTOM"});
  }
  // A library may be built for longer ones.
  static bool integers_are_ints() {
    const auto size_of_type = reinterpret_cast<int (*)(Handle, int*)>(mpi::loaded_symbol("PMPI_Type_size"));
    void* integer = dlsym(RTLD_DEFAULT, "ompi_mpi_integer");
    if (!integer) integer = mpi::loaded_symbol("ompi_mpi_integer");
    int bytes = 0;
    return size_of_type && integer && size_of_type(reinterpret_cast<Handle>(integer), &bytes) == 0 &&
           bytes == static_cast<int>(sizeof(int));
  }
  // The program may hold a copy of its own, which then is the one that all use.
  static void find(std::array<const void*, 4>& places, const std::array<const char*, 4>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      places[i] = dlsym(RTLD_DEFAULT, names[i]);
      if (!places[i]) places[i] = mpi::loaded_symbol(names[i]);
    }
  }
  Convert comm_ = nullptr, type_ = nullptr, op_ = nullptr, request_ = nullptr;
  int (*from_request_)(Handle) = nullptr;
  std::array<const void*, 4> in_place_{}, bottom_{};
};

// Caught here where Open MPI's is the library; otherwise there is nothing to be within.
bool is_caught_here() { return static_cast<bool>(Handles::get()); }

bool answered(const std::optional<int>& code, int* error) {
  if (!code) return false;
  if (error) *error = *code; // optional in mpi_f08
  return true;
}

// The arguments of a collective, as Fortran has them; what one of them has not is null.
struct Arguments {
  const void* send;
  void* receive;
  const int *count, *type, *op, *root, *comm;
};

// The call as C has it, where it is ours to look at: Open MPI's, initialised, and not from within another one.
std::optional<Call> call_of(const Arguments& given, const Outermost& caught) {
  const Session* const session = caught ? Session::current() : nullptr;
  if (!session) return std::nullopt;
  const Handles& at = Handles::get();
  const mpi::Library& library = session->library();
  return Call{at.buffer(library, given.send),
              const_cast<void*>(at.buffer(library, given.receive)),
              *given.count,
              at.type(given.type),
              given.op ? at.op(given.op) : 0,
              given.root ? *given.root : 0,
              at.comm(given.comm)};
}

bool run(CollectiveKind kind, const Arguments& given, int* error, const Outermost& caught) {
  const std::optional<Call> call = call_of(given, caught);
  return call && answered(run_call(kind, *call), error);
}

bool start(CollectiveKind kind, const Arguments& given, int* request, int* error, const Outermost& caught) {
  const std::optional<Call> call = call_of(given, caught);
  Handle started = 0;
  if (!call || !answered(start_call(kind, *call, started), error)) return false;
  if (started != 0) *request = Handles::get().fortran_of(started);
  return true;
}

void before_barrier(const int* comm, const Outermost& caught) {
  if (caught) meet(Handles::get().comm(comm));
}

// Waits and tests are looked at in either family, since mpi_f08 of MPICH reaches C's by their profiling names.
std::vector<Handle> requests_at(const int* requests, int count) {
  std::vector<Handle> all;
  for (int i = 0; i < count; ++i)
    all.push_back(Handles::get() ? Handles::get().request(requests[i]) : Handle{requests[i]});
  return all;
}
void before_wait(const int* requests, int count) {
  if (Nonblocking* const ours = under_way()) ours->finish(requests_at(requests, count));
}
void before_test() {
  if (Nonblocking* const ours = under_way()) ours->poke();
}
Nonblocking* waits_for(const int* requests, int count) {
  Nonblocking* const ours = under_way();
  return ours && ours->holds_any(requests_at(requests, count)) ? ours : nullptr;
}

// These are caught in either family, since mpi_f08 of MPICH reaches them by their profiling names; twice does no harm.
void before_free(const int* comm) { before_comm_free(Handles::get() ? Handles::get().comm(comm) : Handle{*comm}); }

// The library's, by its profiling name (`p` and the name), or by the same one where there is none (mpi_f08 of MPICH).
template <class F>
F* behind(const char* p, const char* name) {
  void* address = mpi::loaded_symbol((std::string(p) + name).c_str());
  return reinterpret_cast<F*>(address ? address : dlsym(RTLD_NEXT, name));
}

} // namespace

#define KUMIHIMO_TEXT_(name) #name
#define KUMIHIMO_TEXT(name) KUMIHIMO_TEXT_(name)
#define KUMIHIMO_BEHIND(p, name) static const auto next = behind<decltype(name)>(p, KUMIHIMO_TEXT(name))

// One spelling of all names: `as(mpi_wait, MPI_WAIT)` spells one, `p` begins the profiling name.
#define KUMIHIMO_FORTRAN(p, as)                                                                                        \
  void as(mpi_allreduce, MPI_ALLREDUCE)(const void* send, void* receive, const int* count, const int* type,            \
                                        const int* op, const int* comm, int* error) {                                  \
    KUMIHIMO_BEHIND(p, as(mpi_allreduce, MPI_ALLREDUCE));                                                              \
    const Outermost caught(is_caught_here());                                                                          \
    if (!run(CollectiveKind::allreduce, {send, receive, count, type, op, nullptr, comm}, error, caught))               \
      next(send, receive, count, type, op, comm, error);                                                               \
  }                                                                                                                    \
  void as(mpi_reduce, MPI_REDUCE)(const void* send, void* receive, const int* count, const int* type, const int* op,   \
                                  const int* root, const int* comm, int* error) {                                      \
    KUMIHIMO_BEHIND(p, as(mpi_reduce, MPI_REDUCE));                                                                    \
    const Outermost caught(is_caught_here());                                                                          \
    if (!run(CollectiveKind::reduce, {send, receive, count, type, op, root, comm}, error, caught))                     \
      next(send, receive, count, type, op, root, comm, error);                                                         \
  }                                                                                                                    \
  void as(mpi_bcast, MPI_BCAST)(void* buffer, const int* count, const int* type, const int* root, const int* comm,     \
                                int* error) {                                                                          \
    KUMIHIMO_BEHIND(p, as(mpi_bcast, MPI_BCAST));                                                                      \
    const Outermost caught(is_caught_here());                                                                          \
    if (!run(CollectiveKind::bcast, {nullptr, buffer, count, type, nullptr, root, comm}, error, caught))               \
      next(buffer, count, type, root, comm, error);                                                                    \
  }                                                                                                                    \
  void as(mpi_iallreduce, MPI_IALLREDUCE)(const void* send, void* receive, const int* count, const int* type,          \
                                          const int* op, const int* comm, int* request, int* error) {                  \
    KUMIHIMO_BEHIND(p, as(mpi_iallreduce, MPI_IALLREDUCE));                                                            \
    const Outermost caught(is_caught_here());                                                                          \
    if (!start(CollectiveKind::allreduce, {send, receive, count, type, op, nullptr, comm}, request, error, caught))    \
      next(send, receive, count, type, op, comm, request, error);                                                      \
  }                                                                                                                    \
  void as(mpi_ireduce, MPI_IREDUCE)(const void* send, void* receive, const int* count, const int* type, const int* op, \
                                    const int* root, const int* comm, int* request, int* error) {                      \
    KUMIHIMO_BEHIND(p, as(mpi_ireduce, MPI_IREDUCE));                                                                  \
    const Outermost caught(is_caught_here());                                                                          \
    if (!start(CollectiveKind::reduce, {send, receive, count, type, op, root, comm}, request, error, caught))          \
      next(send, receive, count, type, op, root, comm, request, error);                                                \
  }                                                                                                                    \
  void as(mpi_ibcast, MPI_IBCAST)(void* buffer, const int* count, const int* type, const int* root, const int* comm,   \
                                  int* request, int* error) {                                                          \
    KUMIHIMO_BEHIND(p, as(mpi_ibcast, MPI_IBCAST));                                                                    \
    const Outermost caught(is_caught_here());                                                                          \
    if (!start(CollectiveKind::bcast, {nullptr, buffer, count, type, nullptr, root, comm}, request, error, caught))    \
      next(buffer, count, type, root, comm, request, error);                                                           \
  }                                                                                                                    \
  void as(mpi_barrier, MPI_BARRIER)(const int* comm, int* error) {                                                     \
    KUMIHIMO_BEHIND(p, as(mpi_barrier, MPI_BARRIER));                                                                  \
    const Outermost caught(is_caught_here());                                                                          \
    before_barrier(comm, caught);                                                                                      \
    next(comm, error);                                                                                                 \
  }                                                                                                                    \
  void as(mpi_wait, MPI_WAIT)(int* request, void* status, int* error) {                                                \
    KUMIHIMO_BEHIND(p, as(mpi_wait, MPI_WAIT));                                                                        \
    before_wait(request, 1);                                                                                           \
    next(request, status, error);                                                                                      \
  }                                                                                                                    \
  void as(mpi_waitall, MPI_WAITALL)(const int* count, int* requests, void* statuses, int* error) {                     \
    KUMIHIMO_BEHIND(p, as(mpi_waitall, MPI_WAITALL));                                                                  \
    before_wait(requests, *count);                                                                                     \
    next(count, requests, statuses, error);                                                                            \
  }                                                                                                                    \
  void as(mpi_test, MPI_TEST)(int* request, int* done, void* status, int* error) {                                     \
    KUMIHIMO_BEHIND(p, as(mpi_test, MPI_TEST));                                                                        \
    before_test();                                                                                                     \
    next(request, done, status, error);                                                                                \
  }                                                                                                                    \
  void as(mpi_testall, MPI_TESTALL)(const int* count, int* requests, int* done, void* statuses, int* error) {          \
    KUMIHIMO_BEHIND(p, as(mpi_testall, MPI_TESTALL));                                                                  \
    before_test();                                                                                                     \
    next(count, requests, done, statuses, error);                                                                      \
  }                                                                                                                    \
  void as(mpi_testany, MPI_TESTANY)(const int* count, int* requests, int* index, int* done, void* status,              \
                                    int* error) {                                                                      \
    KUMIHIMO_BEHIND(p, as(mpi_testany, MPI_TESTANY));                                                                  \
    before_test();                                                                                                     \
    next(count, requests, index, done, status, error);                                                                 \
  }                                                                                                                    \
  void as(mpi_testsome, MPI_TESTSOME)(const int* count, int* requests, int* number, int* indices, void* statuses,      \
                                      int* error) {                                                                    \
    KUMIHIMO_BEHIND(p, as(mpi_testsome, MPI_TESTSOME));                                                                \
    before_test();                                                                                                     \
    next(count, requests, number, indices, statuses, error);                                                           \
  }                                                                                                                    \
  void as(mpi_waitany, MPI_WAITANY)(const int* count, int* requests, int* index, void* status, int* error) {           \
    KUMIHIMO_BEHIND(p, as(mpi_waitany, MPI_WAITANY));                                                                  \
    static const auto test =                                                                                           \
        behind<decltype(as(mpi_testany, MPI_TESTANY))>(p, KUMIHIMO_TEXT(as(mpi_testany, MPI_TESTANY)));                \
    Nonblocking* const ours = waits_for(requests, *count);                                                             \
    if (!ours) return next(count, requests, index, status, error);                                                     \
    int code = 0;                                                                                                      \
    for (int done = 0; code == 0 && !done;) {                                                                          \
      test(count, requests, index, &done, status, &code);                                                              \
      if (code == 0 && !done) ours->turn();                                                                            \
    }                                                                                                                  \
    if (error) *error = code;                                                                                          \
  }                                                                                                                    \
  void as(mpi_waitsome, MPI_WAITSOME)(const int* count, int* requests, int* number, int* indices, void* statuses,      \
                                      int* error) {                                                                    \
    KUMIHIMO_BEHIND(p, as(mpi_waitsome, MPI_WAITSOME));                                                                \
    static const auto test =                                                                                           \
        behind<decltype(as(mpi_testsome, MPI_TESTSOME))>(p, KUMIHIMO_TEXT(as(mpi_testsome, MPI_TESTSOME)));            \
    Nonblocking* const ours = waits_for(requests, *count);                                                             \
    if (!ours) return next(count, requests, number, indices, statuses, error);                                         \
    int code = 0;                                                                                                      \
    for (*number = 0; code == 0 && *number == 0;) {                                                                    \
      test(count, requests, number, indices, statuses, &code);                                                         \
      if (code == 0 && *number == 0) ours->turn();                                                                     \
    }                                                                                                                  \
    if (error) *error = code;                                                                                          \
  }                                                                                                                    \
  void as(mpi_comm_free, MPI_COMM_FREE)(int* comm, int* error) {                                                       \
    KUMIHIMO_BEHIND(p, as(mpi_comm_free, MPI_COMM_FREE));                                                              \
    before_free(comm);                                                                                                 \
    next(comm, error);                                                                                                 \
  }                                                                                                                    \
  void as(mpi_comm_disconnect, MPI_COMM_DISCONNECT)(int* comm, int* error) {                                           \
    KUMIHIMO_BEHIND(p, as(mpi_comm_disconnect, MPI_COMM_DISCONNECT));                                                  \
    before_free(comm);                                                                                                 \
    next(comm, error);                                                                                                 \
  }                                                                                                                    \
  void as(mpi_finalize, MPI_FINALIZE)(int* error) {                                                                    \
    KUMIHIMO_BEHIND(p, as(mpi_finalize, MPI_FINALIZE));                                                                \
    before_finalize();                                                                                                 \
    next(error);                                                                                                       \
  }

#define KUMIHIMO_PLAIN(lower, upper) lower
#define KUMIHIMO_ONE(lower, upper) lower##_
#define KUMIHIMO_TWO(lower, upper) lower##__
#define KUMIHIMO_UPPER(lower, upper) upper
#define KUMIHIMO_F08(lower, upper) lower##_f08_

extern "C" {
KUMIHIMO_FORTRAN("p", KUMIHIMO_PLAIN)
KUMIHIMO_FORTRAN("p", KUMIHIMO_ONE)
KUMIHIMO_FORTRAN("p", KUMIHIMO_TWO)
KUMIHIMO_FORTRAN("P", KUMIHIMO_UPPER)
KUMIHIMO_FORTRAN("p", KUMIHIMO_F08)
}
