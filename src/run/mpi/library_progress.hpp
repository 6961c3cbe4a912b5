// Makes the MPI library progress everything that it has under way in this process, by testing a generalised request
// that never completes. A probe would do for Open MPI; MPICH's probe progresses only what could match it, so another
// rank that waits for a window lock of this process would wait for ever.
//
// One request for all transports of a process: MPICH 5.0.2 has room for 8 such requests and takes 2 MiB for the ninth.
#pragma once

#include "mpi/library.hpp"

#include <memory>

namespace kumihimo::mpi {

class LibraryProgress {
 public:
  // The one of this process. The last owner ends it.
  static std::shared_ptr<LibraryProgress> of(const Library& library);
  ~LibraryProgress();
  LibraryProgress(const LibraryProgress&) = delete;
  LibraryProgress& operator=(const LibraryProgress&) = delete;

  int made() const { return made_; } // MPI error code of making the request
  int progress() const;              // MPI error code

 private:
  explicit LibraryProgress(const Library& library);
  const Library& library_;
  Handle never_ = 0;
  int made_;
};

} // namespace kumihimo::mpi
