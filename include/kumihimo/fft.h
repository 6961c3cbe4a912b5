/* Transforms of grids in three dimensions over the ranks of an MPI communicator, for C and C++. Include <mpi.h> of your
   MPI library before or with this header; link with -lkumihimo_fft. One library serves Open MPI and MPICH.

     kumihimo_fft* plan;
     const int64_t points[3] = {128, 128, 128};
     if (kumihimo_fft_create(MPI_COMM_WORLD, points, 1, KUMIHIMO_FFT_REAL, NULL, &plan)) {
       fprintf(stderr, "%s\n", kumihimo_fft_error());
       MPI_Abort(MPI_COMM_WORLD, 1);
     }
     int64_t lengths[3], offsets[3];
     kumihimo_fft_local(plan, KUMIHIMO_FFT_GRID, lengths, offsets);
     ... kumihimo_fft_forward(plan, grid, spectrum);
     ... kumihimo_fft_backward(plan, spectrum, grid);
     kumihimo_fft_destroy(plan);

   Each rank has a box of the grid and a box of the spectrum as dense arrays of doubles; the last axis, z, is
   contiguous. Bands follow each other. Forward is sum over r of g[r] exp(-2 pi i k r / n), backward has the other sign.
   No factor is applied: back and forth multiplies by the number of points. Of a real grid the spectrum has the
   frequencies 0 to nz / 2 along z; the others are their conjugates. A complex number is two doubles: double _Complex,
   fftw_complex, std::complex<double>.

   Functions that return an int return 0, or a code of an error, KUMIHIMO_FFT_FAILED or one of those beside it;
   kumihimo_fft_error() then has a sentence. Create, forward, backward and destroy are collective. After an error of
   create the plan is NULL; after one of forward or backward, destroy is the only call for it. FFTW's time limit for
   plans (fftw_set_timelimit) is of the whole process: create sets it, and leaves none. */
#ifndef KUMIHIMO_FFT_H
#define KUMIHIMO_FFT_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kumihimo_fft kumihimo_fft; /* a plan */

enum {
  KUMIHIMO_FFT_FAILED = 1,        /* the machine or a library failed */
  KUMIHIMO_FFT_BAD_INPUT = 2,     /* a value is wrong */
  KUMIHIMO_FFT_NOT_APPLICABLE = 3 /* a variant does not fit the case */
};
enum { KUMIHIMO_FFT_COMPLEX = 0, KUMIHIMO_FFT_REAL = 1 };  /* numbers of the grid */
enum { KUMIHIMO_FFT_GRID = 0, KUMIHIMO_FFT_SPECTRUM = 1 }; /* sides of the transform */

/* `communicator`: address and size of an MPI_Comm; kumihimo_fft_create() gives them. */
int kumihimo_fft_create_at(const void* communicator, size_t bytes, const int64_t points[3], int64_t bands, int kind,
                           const char* options, kumihimo_fft** plan);

/* `points`: of the whole grid along x, y and z. `bands`: grids that are transformed together. `options`: NULL, or words
   NAME=VALUE such as "variant=fused decomposition=4x2 planning=0":
     decomposition   slab, pencil, rows x columns of ranks, or auto [default: auto]
     variant         window (on one node), fused, overlapped, packed, leader, derived, or auto [default: auto]
     at_once         bands of one exchange [default: 1]
     block           KiB of a block of lines [default: 256]
     throttle        messages of a rank at once [default: 0, the exchange's own]; of variants with messages
     send_window     outstanding sends of a rank [default: 0, as throttle]; of variants with messages
     receive_window  outstanding receives of a rank [default: 0, as throttle]; of variants with messages
     group           ranks of a leader [default: 0, all of a node]; of variants with messages
     pieces          of a box, exchanged beside the lines of the next one [default: 1]; of overlapped
     exchange        an alltoall of the registry for messages, or auto: the fastest of several nodes [default: auto]
     wire            numbers of messages: float64, or float32, which rounds them [default: float64]
     planning        seconds for all measurements of plans and exchanges [default: 1]; 0: FFTW estimates
     threads         OpenMP threads of each rank [default: 1]
     wisdom          folder that keeps what was measured for the next program; no blanks [default: nothing is kept]
     library         FFTW, or a library with its interface [default: the first that is found]
   Errors: a value out of range; no FFTW; no memory; MPI is not initialised. */
static inline int kumihimo_fft_create(MPI_Comm communicator, const int64_t points[3], int64_t bands, int kind,
                                      const char* options, kumihimo_fft** plan) {
  return kumihimo_fft_create_at(&communicator, sizeof communicator, points, bands, kind, options, plan);
}

/* The box of this rank on one side: its lengths and where it begins, along x, y and z. A length may be 0. */
int kumihimo_fft_local(const kumihimo_fft* plan, int side, int64_t lengths[3], int64_t offsets[3]);

/* `grid`: doubles of a real grid, or complex numbers. What is read is not written, and the two may not overlap. */
int kumihimo_fft_forward(kumihimo_fft* plan, const void* grid, void* spectrum);
int kumihimo_fft_backward(kumihimo_fft* plan, const void* spectrum, void* grid);

/* "window, 2x1 ranks, lines by libfftw3.so.3 (fftw-3.3.10-sse2-avx)", and why measurements could not be kept if they
   could not; as long as the plan is there. */
const char* kumihimo_fft_description(const kumihimo_fft* plan);

/* The plan may be NULL. After MPI_Finalize it does nothing. */
void kumihimo_fft_destroy(kumihimo_fft* plan);

/* The last error of this thread, in one sentence; "" without one. Valid until its next call. */
const char* kumihimo_fft_error(void);

#ifdef __cplusplus
}
#endif
#endif
