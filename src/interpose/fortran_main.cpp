// The names of Fortran: of mpif.h and `use mpi`, as the compilers spell them, and of mpi_f08. Open MPI's reach its C
// functions by their profiling names, so they are caught here; MPICH's call MPI_Allreduce and its like by their public
// names, and are caught there: here they pass.
#include "interpose/calls.hpp"
#include "interpose/session.hpp"

#include <dlfcn.h>

#include <array>
#include <optional>
#include <string>

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
  explicit operator bool() const { return comm_ && type_ && op_; }
  Handle comm(const int* f) const { return comm_(*f); }
  Handle type(const int* f) const { return type_(*f); }
  Handle op(const int* f) const { return op_(*f); }

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
  Convert comm_ = nullptr, type_ = nullptr, op_ = nullptr;
  std::array<const void*, 4> in_place_{}, bottom_{};
};

// Caught here, where Open MPI's is the library; otherwise there is nothing to be within.
class Caught {
 public:
  Caught() {
    if (Handles::get()) outermost_.emplace();
  }
  explicit operator bool() const { return outermost_ && *outermost_; }

 private:
  std::optional<Outermost> outermost_;
};

// Where this call is ours to look at: Open MPI's, initialised, and not from within another one.
const mpi::Library* library_here(const Caught& caught) {
  if (!caught) return nullptr;
  const Session* const session = Session::current();
  return session ? &session->library() : nullptr;
}

bool answered(const std::optional<int>& code, int* error) {
  if (!code) return false;
  if (error) *error = *code; // optional in mpi_f08
  return true;
}

bool allreduce(const void* send, void* receive, const int* count, const int* type, const int* op, const int* comm,
               int* error, const Caught& caught) {
  const mpi::Library* const library = library_here(caught);
  if (!library) return false;
  const Handles& at = Handles::get();
  return answered(take_allreduce({at.buffer(*library, send), const_cast<void*>(at.buffer(*library, receive)), *count,
                                  at.type(type), at.op(op), 0, at.comm(comm)}),
                  error);
}

bool reduce(const void* send, void* receive, const int* count, const int* type, const int* op, const int* root,
            const int* comm, int* error, const Caught& caught) {
  const mpi::Library* const library = library_here(caught);
  if (!library) return false;
  const Handles& at = Handles::get();
  return answered(take_reduce({at.buffer(*library, send), const_cast<void*>(at.buffer(*library, receive)), *count,
                               at.type(type), at.op(op), *root, at.comm(comm)}),
                  error);
}

bool bcast(void* buffer, const int* count, const int* type, const int* root, const int* comm, int* error,
           const Caught& caught) {
  const mpi::Library* const library = library_here(caught);
  if (!library) return false;
  const Handles& at = Handles::get();
  return answered(take_bcast({nullptr, const_cast<void*>(at.buffer(*library, buffer)), *count, at.type(type), 0, *root,
                              at.comm(comm)}),
                  error);
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

// One spelling of all names; `p` begins the profiling name in the same spelling.
#define KUMIHIMO_FORTRAN(p, allreduce_name, reduce_name, bcast_name, free_name, disconnect_name, finalize_name)        \
  void allreduce_name(const void* send, void* receive, const int* count, const int* type, const int* op,               \
                      const int* comm, int* error) {                                                                   \
    static const auto next = behind<decltype(allreduce_name)>(p, #allreduce_name);                                     \
    const Caught caught;                                                                                               \
    if (!allreduce(send, receive, count, type, op, comm, error, caught))                                               \
      next(send, receive, count, type, op, comm, error);                                                               \
  }                                                                                                                    \
  void reduce_name(const void* send, void* receive, const int* count, const int* type, const int* op, const int* root, \
                   const int* comm, int* error) {                                                                      \
    static const auto next = behind<decltype(reduce_name)>(p, #reduce_name);                                           \
    const Caught caught;                                                                                               \
    if (!reduce(send, receive, count, type, op, root, comm, error, caught))                                            \
      next(send, receive, count, type, op, root, comm, error);                                                         \
  }                                                                                                                    \
  void bcast_name(void* buffer, const int* count, const int* type, const int* root, const int* comm, int* error) {     \
    static const auto next = behind<decltype(bcast_name)>(p, #bcast_name);                                             \
    const Caught caught;                                                                                               \
    if (!bcast(buffer, count, type, root, comm, error, caught)) next(buffer, count, type, root, comm, error);          \
  }                                                                                                                    \
  void free_name(int* comm, int* error) {                                                                              \
    static const auto next = behind<decltype(free_name)>(p, #free_name);                                               \
    before_free(comm);                                                                                                 \
    next(comm, error);                                                                                                 \
  }                                                                                                                    \
  void disconnect_name(int* comm, int* error) {                                                                        \
    static const auto next = behind<decltype(disconnect_name)>(p, #disconnect_name);                                   \
    before_free(comm);                                                                                                 \
    next(comm, error);                                                                                                 \
  }                                                                                                                    \
  void finalize_name(int* error) {                                                                                     \
    static const auto next = behind<decltype(finalize_name)>(p, #finalize_name);                                       \
    before_finalize();                                                                                                 \
    next(error);                                                                                                       \
  }

extern "C" {
KUMIHIMO_FORTRAN("p", mpi_allreduce, mpi_reduce, mpi_bcast, mpi_comm_free, mpi_comm_disconnect, mpi_finalize)
KUMIHIMO_FORTRAN("p", mpi_allreduce_, mpi_reduce_, mpi_bcast_, mpi_comm_free_, mpi_comm_disconnect_, mpi_finalize_)
KUMIHIMO_FORTRAN("p", mpi_allreduce__, mpi_reduce__, mpi_bcast__, mpi_comm_free__, mpi_comm_disconnect__,
                 mpi_finalize__)
KUMIHIMO_FORTRAN("P", MPI_ALLREDUCE, MPI_REDUCE, MPI_BCAST, MPI_COMM_FREE, MPI_COMM_DISCONNECT, MPI_FINALIZE)
KUMIHIMO_FORTRAN("p", mpi_allreduce_f08_, mpi_reduce_f08_, mpi_bcast_f08_, mpi_comm_free_f08_, mpi_comm_disconnect_f08_,
                 mpi_finalize_f08_)
}
