/* Regions of a program and what is asserted of them, for `kumihimo record`. Without it these do nothing; nothing is
   linked.

     kumihimo_begin("solve", "seconds <= 0.5");
     ...
     kumihimo_end("solve");

   A passage is one execution from begin to end. The second argument of kumihimo_begin is NULL or holds asserts, with
   `;` between them:
     seconds <= S                  a passage takes at most S seconds
     seconds <= F of R             ... at most F times what R says: predicted, earlier or golden (see --asserts)
     bytes N rate >= R             its N bytes (or: operations N) pass at R a second or more
     bytes N share >= F of B       ... at a share F or more of B: bytes (or operations) a second, triad or peak
     waiting <= F                  at most the share F of its time is waiting for other ranks (F: 0.1 or 10 %)
     mpi <= F                      at most the share F of its time is in MPI
   The median of the passages decides. `in 95 % of passages` or `in all passages` after an assert asks for more.
   Asserts are judged when the program has ended. Regions may lie within each other. For Fortran there is
   kumihimo.f90, for Python kumihimo.keep. */
#ifndef KUMIHIMO_H
#define KUMIHIMO_H

#ifdef __cplusplus
extern "C" {
#endif

__attribute__((weak)) void kumihimo_region_begin_at(const char* name, const char* asserts, const char* file, int line);
__attribute__((weak)) void kumihimo_region_end(const char* name);

static inline void kumihimo_begin_at(const char* name, const char* asserts, const char* file, int line) {
  if (kumihimo_region_begin_at) kumihimo_region_begin_at(name, asserts, file, line);
}
static inline void kumihimo_end(const char* name) {
  if (kumihimo_region_end) kumihimo_region_end(name);
}
#define kumihimo_begin(name, asserts) kumihimo_begin_at(name, asserts, __FILE__, __LINE__)

#ifdef __cplusplus
}
#endif
#endif
