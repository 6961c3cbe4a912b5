/* The MPI library's own functions, past every object that was loaded before it. Included first. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>

static inline void* library_function(const char* name) {
  Dl_info library; /* no preload library defines the function that is asked for */
  if (!dladdr(dlsym(RTLD_DEFAULT, "MPI_Get_library_version"), &library)) abort();
  void* const found = dlsym(dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD), name);
  if (!found) abort();
  return found;
}

#define LIBRARY(name, ...) ((__typeof__(&MPI_##name))library_function("MPI_" #name))(__VA_ARGS__)
