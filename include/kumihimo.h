/* Regions of a program, for `kumihimo record`. Where the program runs without it, these do nothing; nothing is linked.

     kumihimo_begin("solve", "seconds <= 0.5");
     ...
     kumihimo_end("solve");

   The second argument of kumihimo_begin is what is expected of each passage, or NULL:
     seconds <= S                  it takes at most S seconds
     bytes N rate >= R             its N bytes (or: operations N) pass at R a second or more
     bytes N share >= F of B       ... at a share F or more of the bound B, bytes (or operations) a second
   What was missed is reported when the program has ended. Regions may lie within each other. */
#ifndef KUMIHIMO_H
#define KUMIHIMO_H

#ifdef __cplusplus
extern "C" {
#endif

__attribute__((weak)) void kumihimo_region_begin(const char* name, const char* expectation);
__attribute__((weak)) void kumihimo_region_end(const char* name);

static inline void kumihimo_begin(const char* name, const char* expectation) {
  if (kumihimo_region_begin) kumihimo_region_begin(name, expectation);
}
static inline void kumihimo_end(const char* name) {
  if (kumihimo_region_end) kumihimo_region_end(name);
}

#ifdef __cplusplus
}
#endif
#endif
