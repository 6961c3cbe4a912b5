// Lets the MPI library make progress on everything that it has under way in this process, by asking for a request that
// is never complete. (A probe would do in Open MPI; MPICH's moves only what could match, so that who has locked a
// window here, or waits for it, would wait for ever.)
//
// One for all transports of a process: MPICH 5.0.2 has room for 8 requests of this kind, and takes 2 MiB for the ninth.
#pragma once

#include "mpi/library.hpp"

#include <memory>

namespace kumihimo::mpi {

class LibraryProgress {
 public:
  // The one that there is, else a new one; it ends with the last who has it.
  static std::shared_ptr<LibraryProgress> of(const Library& library);
  ~LibraryProgress();
  LibraryProgress(const LibraryProgress&) = delete;
  LibraryProgress& operator=(const LibraryProgress&) = delete;

  int made() const { return made_; } // the library's code
  int drive() const;                 // its code

 private:
  explicit LibraryProgress(const Library& library);
  const Library& library_;
  Handle never_ = 0;
  int made_;
};

} // namespace kumihimo::mpi
