/* Passages of a region whose work is known: ./asserted compute|memory WORK PASSAGES. WORK is in thousandths of a
 * usual passage, which takes about a millisecond: 1100 is 10 % more. */
#include <kumihimo.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { steps = 400, numbers = 2048, chunks = 1024 };

static double compute(long work) {
  double value = 1.0;
  for (long i = 0; i < work * steps; ++i) value = value * 0.999 + 0.001;
  return value;
}

/* In turn through 32 MiB, which no cache of one core holds. */
static double stream(double* array, long work) {
  static long chunk = 0;
  for (long i = 0; i < work; ++i) {
    double* const at = array + chunk * numbers;
    for (long j = 0; j < numbers; ++j) at[j] = at[j] * 0.999 + 0.001;
    chunk = (chunk + 1) % (2 * chunks);
  }
  return array[0];
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int is_memory = strcmp(argv[1], "memory") == 0;
  const long work = atol(argv[2]), passages = atol(argv[3]);
  double* const array = calloc((size_t)2 * chunks * numbers, sizeof *array);
  double value = array ? stream(array, 2 * chunks) : 0.0; /* the first touch is no passage */
  MPI_Init(&argc, &argv);
  for (long p = 0; array && p < passages; ++p) {
    kumihimo_begin("work", NULL);
    value += is_memory ? stream(array, work) : compute(work);
    kumihimo_end("work");
  }
  MPI_Finalize();
  free(array);
  return value < 0;
}
