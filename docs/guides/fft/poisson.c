/* Solves -(d2/dx2 + d2/dy2 + d2/dz2) u = f in a periodic box of length 2 pi: u's coefficient is f's over k squared. */
#include <complex.h>
#include <kumihimo/fft.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const int64_t points[3] = {48, 40, 36};

static void check(int failed) {
  if (!failed) return;
  fprintf(stderr, "%s\n", kumihimo_fft_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Of index i along an axis. */
static double coordinate(int64_t i, int axis) { return 2 * acos(-1) * i / points[axis]; }
static double wave_number(int64_t i, int axis) { return 2 * i <= points[axis] ? i : i - points[axis]; }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  kumihimo_fft* plan;
  check(kumihimo_fft_create(MPI_COMM_WORLD, points, 1, KUMIHIMO_FFT_REAL, NULL, &plan));

  int64_t n[3], at[3]; /* this rank's part of the grid */
  check(kumihimo_fft_local(plan, KUMIHIMO_FFT_GRID, n, at));
  double* u = malloc(n[0] * n[1] * n[2] * sizeof *u);
  double* exact = malloc(n[0] * n[1] * n[2] * sizeof *exact);
  for (int64_t i = 0; i < n[0] * n[1] * n[2]; ++i) {
    double x = coordinate(at[0] + i / n[2] / n[1], 0), y = coordinate(at[1] + i / n[2] % n[1], 1);
    double wave = sin(x) * cos(2 * y) * sin(3 * coordinate(at[2] + i % n[2], 2));
    exact[i] = wave + cos(2 * x);
    u[i] = 14 * wave + 4 * cos(2 * x); /* f */
  }

  int64_t m[3], from[3]; /* this rank's part of the spectrum */
  check(kumihimo_fft_local(plan, KUMIHIMO_FFT_SPECTRUM, m, from));
  double complex* spectrum = malloc(m[0] * m[1] * m[2] * sizeof *spectrum);
  check(kumihimo_fft_forward(plan, u, spectrum));
  for (int64_t i = 0; i < m[0] * m[1] * m[2]; ++i) {
    double kx = wave_number(from[0] + i / m[2] / m[1], 0), ky = wave_number(from[1] + i / m[2] % m[1], 1);
    double kz = wave_number(from[2] + i % m[2], 2), squares = kx * kx + ky * ky + kz * kz;
    /* There and back multiplies by the number of points. The mean of u is that of f: 0. */
    spectrum[i] /= (squares == 0 ? 1 : squares) * points[0] * points[1] * points[2];
  }
  check(kumihimo_fft_backward(plan, spectrum, u));

  double error = 0;
  for (int64_t i = 0; i < n[0] * n[1] * n[2]; ++i) error = fmax(error, fabs(u[i] - exact[i]));
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &error, &error, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %s: largest error %.1e\n", ranks, kumihimo_fft_description(plan), error);

  free(spectrum);
  free(exact);
  free(u);
  kumihimo_fft_destroy(plan);
  MPI_Finalize();
  return 0;
}
