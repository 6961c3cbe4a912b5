// The preload library of `kumihimo optimise`: the time from the end of MPI_Init to the beginning of MPI_Finalize in
// each process. It hooks nothing else, so that a program runs as without it. Each process appends its seconds to the
// file that KUMIHIMO_TIMES names.
#include "mpi_hooks/next_function.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

double begun = 0;

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Fortran's names may call C's: the first end and the last beginning count.
void end() {
  const char* const path = std::getenv("KUMIHIMO_TIMES");
  if (begun == 0 || !path) return;
  char line[64];
  const int length = std::snprintf(line, sizeof line, "%.9f\n", now() - begun);
  begun = 0;
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (write(file, line, static_cast<std::size_t>(length)) < 0) std::perror("kumihimo: the time cannot be written");
  close(file);
}

// The library's own function; without one the program would not have come here.
template <class Function>
Function next(const char* name) {
  void* const found = kumihimo::mpi_hooks::next_of(name);
  if (!found) std::fprintf(stderr, "kumihimo: %s was not found\n", name), std::abort();
  return reinterpret_cast<Function>(found);
}

} // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  const int code = next<int (*)(int*, char***)>("MPI_Init")(argc, argv);
  return begun = now(), code;
}
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  using Function = int (*)(int*, char***, int, int*);
  const int code = next<Function>("MPI_Init_thread")(argc, argv, required, provided);
  return begun = now(), code;
}
int MPI_Finalize() {
  end();
  return next<int (*)()>("MPI_Finalize")();
}

// As compilers of Fortran spell them, and mpi_f08.
#define FORTRAN(init, init_thread, finalize)                                                                           \
  void init(int* error) {                                                                                              \
    next<void (*)(int*)>(#init)(error);                                                                                \
    begun = now();                                                                                                     \
  }                                                                                                                    \
  void init_thread(int* required, int* provided, int* error) {                                                         \
    next<void (*)(int*, int*, int*)>(#init_thread)(required, provided, error);                                         \
    begun = now();                                                                                                     \
  }                                                                                                                    \
  void finalize(int* error) {                                                                                          \
    end();                                                                                                             \
    next<void (*)(int*)>(#finalize)(error);                                                                            \
  }
FORTRAN(mpi_init, mpi_init_thread, mpi_finalize)
FORTRAN(mpi_init_, mpi_init_thread_, mpi_finalize_)
FORTRAN(mpi_init__, mpi_init_thread__, mpi_finalize__)
FORTRAN(mpi_init_f08_, mpi_init_thread_f08_, mpi_finalize_f08_)
#undef FORTRAN
}
