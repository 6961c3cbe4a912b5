/* Calls of many lengths, one after another, and many at once. Memory that their algorithms need while they run is not
 * kept. The exit status is 1 if a sum is wrong, 2 if the memory of a rank grew by more than 8 MiB since its first
 * call, or meanwhile if the calls are ours (a library's own may). The program prints its memory at the end, to be
 * compared with a run without our object. */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { length = 1 << 18, lengths = 101, brief = 1 << 14, at_once = 500 };

/* Without what was freed and is the heap's still: messages that came too early lie there for a while. */
static double resident_mebibytes(void) {
  malloc_trim(0);
  long pages = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &pages, &resident) != 2) abort();
  fclose(file);
  return resident * 4096.0 / (1 << 20);
}

/* From here on; where the kernel lets us. */
static void forget_peak(void) {
  FILE* file = fopen("/proc/self/clear_refs", "w");
  if (!file) return;
  fputs("5", file);
  fclose(file);
}

static double peak_mebibytes(void) {
  char line[256];
  double peak = 0;
  FILE* file = fopen("/proc/self/status", "r");
  if (!file) abort();
  while (fgets(line, sizeof line, file)) sscanf(line, "VmHWM: %lf kB", &peak);
  fclose(file);
  return peak / 1024;
}

static int is_all(const double* vector, int count, double value) {
  for (int i = 0; i < count; ++i)
    if (vector[i] != value) return 0;
  return 1;
}

static double* filled(int count, double value) {
  double* vector = malloc(count * sizeof *vector);
  for (int i = 0; i < count; ++i) vector[i] = value;
  return vector;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double *in = filled(length + lengths, 1), *out = filled(length + lengths, 0), *each[at_once];
  for (int i = 0; i < at_once; ++i) each[i] = filled(brief, 0); /* resident from now on */
  MPI_Allreduce(in, out, brief, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double before = resident_mebibytes();
  for (int i = 0; i < lengths; ++i) { // in place and not by turns
    for (int k = 0; k < length + i; ++k) in[k] = out[k] = 1;
    MPI_Allreduce(i % 2 ? MPI_IN_PLACE : in, out, length + i, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    wrong |= !is_all(out, length + i, ranks);
  }
  const double after_lengths = resident_mebibytes() - before;
  for (int i = 0; i < brief; ++i) in[i] = 1;
  MPI_Request requests[at_once];
  forget_peak();
  for (int i = 0; i < at_once; ++i)
    MPI_Iallreduce(in, each[i], brief, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
  MPI_Waitall(at_once, requests, MPI_STATUSES_IGNORE);
  const double peak = peak_mebibytes() - before;
  for (int i = 0; i < at_once; ++i) wrong |= !is_all(each[i], brief, ranks);
  usleep(300000); /* what a thread of ours does after the last one is complete */
  const double at_end = resident_mebibytes(), grown = at_end - before;
  MPI_Finalize();
  printf("rank %d: %s, grown by %.1f MiB of %d lengths, by %.1f MiB while %d were under way and %.1f MiB after them, "
         "%.0f KiB at its end\n",
         rank, wrong ? "wrong" : "right", after_lengths, lengths, peak, at_once, grown, 1024 * at_end);
  return wrong ? 1 : grown > 8 || after_lengths > 8 || (getenv("KUMIHIMO_ALGORITHM") && peak > 8) ? 2 : 0;
}
