#include "mpi/lost_ranks.hpp"

#include <dlfcn.h>

#include <chrono>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace kumihimo::mpi {
namespace {

// Of Open MPI 5's mpi.h.
constexpr int error_process_failed = 75, error_process_failed_pending = 76, error_revoked = 77;

// A rank that waits for the end of the run leaves its processor to the others.
constexpr std::chrono::microseconds between_tests{200};

struct LossTolerance {
  Library library; // with its own functions
  int (*revoke)(Handle) = nullptr;
  int (*shrink)(Handle, Handle*) = nullptr;
  int (*iagree)(Handle, int*, Handle*) = nullptr;
  std::vector<Handle> made;
  Handle watched = 0;
  bool has_noticed = false;
};

std::unique_ptr<LossTolerance> tolerance;

// In place of the library's functions that make and free communicators.
int note_made(int code, Handle made) {
  if (code == 0 && made != tolerance->library.constants.comm_null) tolerance->made.push_back(made);
  return code;
}
int noted_dup(Handle from, Handle* made) { return note_made(tolerance->library.call.Comm_dup(from, made), *made); }
int noted_split(Handle from, int colour, int key, Handle* made) {
  return note_made(tolerance->library.call.Comm_split(from, colour, key, made), *made);
}
int noted_split_type(Handle from, int type, int key, Handle info, Handle* made) {
  return note_made(tolerance->library.call.Comm_split_type(from, type, key, info, made), *made);
}
int noted_free(Handle* communicator) {
  std::erase(tolerance->made, *communicator);
  return tolerance->library.call.Comm_free(communicator);
}

} // namespace

Status tolerate_losses(Library& library) {
  auto made = std::make_unique<LossTolerance>();
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library.image, name));
    return function != nullptr;
  };
  // MPICH 5 has some of them by name, and still ends a job that has lost a rank.
  const bool has_all = library.family == LibraryFamily::open_mpi && find(made->revoke, "MPIX_Comm_revoke") &&
                       find(made->shrink, "MPIX_Comm_shrink") && find(made->iagree, "MPIX_Comm_iagree");
  if (!has_all)
    return not_applicable("the run can go on without a rank only with user-level failure mitigation (ULFM)",
                          library.version + " has none", "use Open MPI 5 or later, or leave spare= out");
  const bool* is_on = nullptr;
  find(is_on, "ompi_ftmpi_enabled");
  if (!is_on || !*is_on)
    return not_applicable("user-level failure mitigation (ULFM) of Open MPI is off", {},
                          "start the ranks with mpirun --with-ft ulfm, or leave spare= out");
  made->library = library;
  tolerance = std::move(made);
  library.call.Comm_dup = &noted_dup;
  library.call.Comm_split = &noted_split;
  library.call.Comm_split_type = &noted_split_type;
  library.call.Comm_free = &noted_free;
  const Constants& constants = library.constants;
  for (const Handle each : {constants.comm_world, constants.comm_self}) // the latter has errors of requests
    if (Status s =
            library.check(library.call.Comm_set_errhandler(each, constants.errors_return), "MPI_Comm_set_errhandler");
        !s)
      return s;
  return Nothing{};
}

bool is_loss(int code) {
  if (!tolerance || code == 0) return false;
  int kind = 0;
  tolerance->library.call.Error_class(code, &kind);
  // A call that a dead rank has broken off half-way may name another error.
  if (kind != error_process_failed && kind != error_process_failed_pending && kind != error_revoked)
    return look_for_losses() != 0;
  tolerance->has_noticed = true;
  return true;
}

void watch(Handle communicator) {
  tolerance->watched = communicator;
  tolerance->has_noticed = false;
}

int look_for_losses() {
  if (!tolerance || tolerance->watched == 0) return 0;
  const Constants& constants = tolerance->library.constants;
  int is_there = 0;
  const int code = tolerance->library.call.Iprobe(constants.any_source, constants.any_tag, tolerance->watched,
                                                  &is_there, constants.status_ignore);
  if (code != 0) tolerance->has_noticed = true;
  return code;
}

bool has_noticed_loss() { return tolerance && tolerance->has_noticed; }

void revoke_all() {
  tolerance->has_noticed = true;
  for (const Handle each : tolerance->made) tolerance->revoke(each);
}

int agree_of_living(Handle communicator, int mine) {
  const Library& library = tolerance->library;
  int flags = mine;
  Handle request = library.constants.request_null;
  tolerance->iagree(communicator, &flags, &request); // an error says that some have died: the flags are of the others
  for (int is_done = 0; !is_done;) {
    library.call.Test(&request, &is_done, library.constants.status_ignore);
    if (!is_done) std::this_thread::sleep_for(between_tests);
  }
  return flags;
}

Result<Handle> living_ranks_of(Handle communicator) {
  const Library& library = tolerance->library;
  Handle living = 0;
  if (Status s = library.check(tolerance->shrink(communicator, &living), "MPIX_Comm_shrink"); !s) return s.error();
  library.call.Comm_set_errhandler(living, library.constants.errors_return);
  note_made(0, living);
  return living;
}

} // namespace kumihimo::mpi
