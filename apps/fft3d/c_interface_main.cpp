// The functions of kumihimo/fft.h, for C. It declares them itself: that header needs an mpi.h, and this library serves
// every MPI library of the process that has loaded it.
#include "application/job_processes.hpp"
#include "fft3d/user_transform.hpp"
#include "mpi/library.hpp"
#include "mpi_job/job.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>

using namespace kumihimo;
using fft3d::TransformSide, fft3d::UserRequest, fft3d::UserTransform;

// Members are destroyed from the last to the first.
struct kumihimo_fft {
  std::unique_ptr<mpi_job::MpiJob> job;
  std::unique_ptr<application::JobProcesses> processes;
  std::unique_ptr<UserTransform> transform;
};

namespace {

thread_local std::string last_error;

// KUMIHIMO_FFT_FAILED, KUMIHIMO_FFT_BAD_INPUT, KUMIHIMO_FFT_NOT_APPLICABLE.
int complain(const Error& error) {
  last_error = error.sentence();
  switch (error.kind) {
  case Error::Kind::bad_input: return 2;
  case Error::Kind::not_applicable: return 3;
  case Error::Kind::failed: return 1;
  }
  return 1;
}

Error no_plan() { return wrong_value("a transform needs a plan", "NULL", "call kumihimo_fft_create() before"); }

int answer(const Status& status) { return status ? 0 : complain(status.error()); }

// Nothing is thrown through C.
template <class Work>
int guarded(Work work) {
  try {
    last_error.clear();
    return work();
  } catch (const std::bad_alloc&) {
    return complain(failed("out of memory", {}, "use a smaller grid or more ranks"));
  } catch (const std::exception& e) {
    return complain(failed("the transform failed", e.what()));
  }
}

Result<mpi::Handle> handle_at(const void* communicator, std::size_t bytes, const mpi::Library& library) {
  const bool is_open_mpi = library.family == mpi::LibraryFamily::open_mpi;
  if (bytes != (is_open_mpi ? sizeof(mpi::Handle) : sizeof(std::int32_t)))
    return wrong_value(fmt::format("the program must be compiled with the mpi.h of the library that it runs with, {}",
                                   library.version),
                       fmt::format("an MPI_Comm of {} bytes", bytes), "compile it with the mpicc of that library");
  mpi::Handle handle = 0;
  std::int32_t word = 0;
  if (is_open_mpi)
    std::memcpy(&handle, communicator, sizeof handle);
  else
    std::memcpy(&word, communicator, sizeof word);
  handle = is_open_mpi ? handle : word;
  if (handle == library.constants.comm_null)
    return wrong_value("a transform needs the ranks of a communicator", "MPI_COMM_NULL");
  int has_two_groups = 0;
  library.call.Comm_test_inter(handle, &has_two_groups);
  if (has_two_groups) return wrong_value("a transform needs the ranks of one group", "an intercommunicator");
  return handle;
}

Result<std::unique_ptr<kumihimo_fft>> create(const void* communicator, std::size_t bytes, const UserRequest& request) {
  mpi::Library library = TRY(mpi::loaded_library());
  if (!mpi::is_running()) return failed("a transform needs MPI, which is not running", {}, "call MPI_Init before");
  const mpi::Handle handle = TRY(handle_at(communicator, bytes, library));
  auto made = std::make_unique<kumihimo_fft>();
  made->job = TRY(mpi_job::MpiJob::join(library, handle));
  made->processes = std::make_unique<application::JobProcesses>(*made->job);
  made->transform = TRY(UserTransform::make(request, *made->processes));
  return made;
}

} // namespace

extern "C" {

int kumihimo_fft_create_at(const void* communicator, std::size_t bytes, const std::int64_t* points, std::int64_t bands,
                           int kind, const char* options, kumihimo_fft** plan) {
  *plan = nullptr;
  return guarded([&] {
    if (kind != 0 && kind != 1)
      return complain(wrong_value("the kind must be KUMIHIMO_FFT_COMPLEX or KUMIHIMO_FFT_REAL", kind));
    const auto grid_kind = kind == 1 ? distributed_fft::GridKind::real : distributed_fft::GridKind::complex;
    UserRequest request{{points[0], points[1], points[2]}, bands, grid_kind, options ? options : ""};
    Result<std::unique_ptr<kumihimo_fft>> made = create(communicator, bytes, request);
    if (!made) return complain(made.error());
    *plan = made->release();
    return 0;
  });
}

int kumihimo_fft_local(const kumihimo_fft* plan, int side, std::int64_t* lengths, std::int64_t* offsets) {
  return guarded([&] {
    if (!plan) return complain(no_plan());
    if (side != 0 && side != 1)
      return complain(wrong_value("the side must be KUMIHIMO_FFT_GRID or KUMIHIMO_FFT_SPECTRUM", side));
    const fft::PointBox box = plan->transform->box(side == 0 ? TransformSide::grid : TransformSide::spectrum);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      lengths[axis] = box.length(axis);
      offsets[axis] = box.begin[axis];
    }
    return 0;
  });
}

int kumihimo_fft_forward(kumihimo_fft* plan, const void* grid, void* spectrum) {
  return guarded([&] { return plan ? answer(plan->transform->forward(grid, spectrum)) : complain(no_plan()); });
}

int kumihimo_fft_backward(kumihimo_fft* plan, const void* spectrum, void* grid) {
  return guarded([&] { return plan ? answer(plan->transform->backward(spectrum, grid)) : complain(no_plan()); });
}

const char* kumihimo_fft_description(const kumihimo_fft* plan) {
  return plan ? plan->transform->description().c_str() : "no plan";
}

// Without MPI its communicators are gone: what they need stays.
void kumihimo_fft_destroy(kumihimo_fft* plan) {
  if (plan && mpi::is_running()) delete plan;
}

const char* kumihimo_fft_error(void) { return last_error.c_str(); }

} // extern "C"
