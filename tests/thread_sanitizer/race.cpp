// A race that the thread sanitizer must report: threads of a team add without a reduction.
#include <omp.h>

#include <cstdio>

int main() {
  long sum = 0;
#pragma omp parallel num_threads(2)
  sum += 1 + omp_get_thread_num();
  std::printf("%ld\n", sum);
}
