/* Prints the nanoseconds of passages of fixed work. Arguments: the work of a passage, passages. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

int main(int argc, char** argv) {
  const long work = argc > 1 ? atol(argv[1]) : 1000, passages = argc > 2 ? atol(argv[2]) : 100;
  double value = 1.0;
  for (long p = 0; p < passages; ++p) {
    const long begun = now();
    for (long i = 0; i < work; ++i) value = value * 0.999 + 0.001;
    printf("%ld\n", now() - begun);
  }
  return value < 0;
}
