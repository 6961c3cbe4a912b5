// What programs are linked with that run with glibc 2.34 (KumihimoPortable.cmake).
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

// glibc 2.35 gave hypot a second version, which rounds better; a program linked there asks for it. With
// -Wl,--wrap=hypot it asks for the first version, which all have.
#if defined(__x86_64__)
__asm__(".symver first_hypot, hypot@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver first_hypot, hypot@GLIBC_2.17");
#else
#define first_hypot __real_hypot
#endif

double first_hypot(double x, double y);

double __wrap_hypot(double x, double y);
double __wrap_hypot(double x, double y) { return first_hypot(x, y); }

// Of glibc 2.36, which GCC's std::random_device calls.
__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t bits;
  if (getrandom(&bits, sizeof bits, 0) != sizeof bits) abort();
  return bits;
}
