/* Buffers in the memory of a GPU. The first argument says when the driver is loaded, the second names its file:
 * before MPI_Init ("early"), later on a node without a GPU ("late") or with one ("late_with_gpu"), or after another
 * driver that does not know the memory ("second"). The third argument says whether rank 1 or all ranks have such
 * buffers. The fourth is their kind: device (1), managed (2), or pinned on the host (3), which is host memory. With the
 * tests' driver the other kinds are protected, and opened for everyone but our object; with CUDA's own they are what
 * they are called. The exit status is the number of failed checks, or 77 if CUDA's driver finds no GPU. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { most = 512, bytes = 1 << 16, kinds = 15 };
static int rank, ranks, failures, has_gpu, memory = 1;
static double* device;          /* input, and output behind it */
static double staged[2 * most]; /* the same on the host */
static void* driver;
static int is_real; /* CUDA's driver */
static int (*copy)(unsigned long long to, unsigned long long from, size_t size);

static void expect(int right, const char* what, int kind) {
  if (right) return;
  if (failures++ < 8) fprintf(stderr, "rank %d of %d: kind %d: %s\n", rank, ranks, kind, what);
}

/* As the C library's, on such a node. */
int access(const char* path, int mode) {
  return has_gpu && strcmp(path, "/dev/nvidiactl") == 0 ? 0 : faccessat(AT_FDCWD, path, mode, 0);
}

static void shut(void) {
  if (memory != 3) mprotect(device, bytes, PROT_NONE);
}
static void open_up(void) { mprotect(device, bytes, PROT_READ | PROT_WRITE); }

static void touched(int signal_number, siginfo_t* info, void* context) {
  (void)context;
  if (is_real || (char*)info->si_addr < (char*)device || (char*)info->si_addr >= (char*)device + bytes) {
    signal(signal_number, SIG_DFL);
    return;
  }
  void* frames[16];
  const int found = backtrace(frames, 16);
  for (int i = 2; i < found; ++i) {
    Dl_info object;
    if (!dladdr(frames[i], &object) || !object.dli_fname || strstr(object.dli_fname, "libc.so")) continue;
    if (strstr(object.dli_fname, "libkumihimo-")) ++failures, fprintf(stderr, "rank %d: our object touched it\n", rank);
    break;
  }
  open_up();
}

static void* named(const char* name) {
  void* const found = dlsym(driver, name);
  if (!found) fprintf(stderr, "%s: %s\n", name, dlerror()), exit(1);
  return found;
}

static void succeed(int code, const char* what) {
  if (code) fprintf(stderr, "%s: CUDA error %d\n", what, code), exit(1);
}

static void allocate(void) {
  int gpu;
  void* context;
  if (((int (*)(unsigned))named("cuInit"))(0) != 0) printf("a GPU was not found\n"), exit(77);
  int (*const takes_device)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support");
  if (memory == 1 && !(takes_device && takes_device())) printf("an MPI library with CUDA was not found\n"), exit(77);
  succeed(((int (*)(int*, int))named("cuDeviceGet"))(&gpu, 0), "cuDeviceGet");
  succeed(((int (*)(void**, int))named("cuDevicePrimaryCtxRetain"))(&context, gpu), "cuDevicePrimaryCtxRetain");
  succeed(((int (*)(void*))named("cuCtxSetCurrent"))(context), "cuCtxSetCurrent");
  copy = (int (*)(unsigned long long, unsigned long long, size_t))named("cuMemcpy");
  if (memory == 1)
    succeed(((int (*)(void*, size_t))named("cuMemAlloc_v2"))(&device, bytes), "cuMemAlloc");
  else if (memory == 2)
    succeed(((int (*)(void*, size_t, unsigned))named("cuMemAllocManaged"))(&device, bytes, 1), "cuMemAllocManaged");
  else
    succeed(((int (*)(void*, size_t, unsigned))named("cuMemHostAlloc"))(&device, bytes, 0), "cuMemHostAlloc");
}

static void load(const char* file) {
  driver = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (!driver) fprintf(stderr, "%s\n", dlerror()), exit(1);
  void (*const fake)(void*, size_t, int) = (void (*)(void*, size_t, int))dlsym(driver, "fake_memory");
  is_real = !fake;
  if (fake) fake(device, bytes, memory);
  if (is_real) allocate();
}

static void move(void* to, const void* from) {
  if (is_real) return succeed(copy((uintptr_t)to, (uintptr_t)from, sizeof staged), "cuMemcpy");
  open_up();
  memcpy(to, from, sizeof staged);
  shut();
}

/* Blocking names in the spelling of the non-blocking ones. */
#define MPI_allreduce MPI_Allreduce
#define MPI_reduce MPI_Reduce
#define MPI_bcast MPI_Bcast
#define MPI_scan MPI_Scan
#define MPI_gather MPI_Gather
#define MPI_scatter MPI_Scatter
#define MPI_allgather MPI_Allgather
#define MPI_allgatherv MPI_Allgatherv
#define MPI_reduce_scatter_block MPI_Reduce_scatter_block
#define MPI_reduce_scatter MPI_Reduce_scatter
#define MPI_alltoall MPI_Alltoall
#define MPI_alltoallv MPI_Alltoallv
#define MPI_gatherv MPI_Gatherv
#define BOTH(name, ...) (request ? MPI_I##name(__VA_ARGS__, request) : MPI_##name(__VA_ARGS__))
#define REDUCTION MPI_DOUBLE, MPI_SUM

static int root = 1;
static void run(int kind, int n, double* in, double* out, MPI_Comm comm, MPI_Request* request) {
  int lengths[8], places[8], firsts[8];
  for (int r = 0; r < ranks; ++r) lengths[r] = n + r, places[r] = r * n + r * (r - 1) / 2, firsts[r] = (rank + r) * 8;
  const int own = n + rank;
  switch (kind) {
  case 0: BOTH(allreduce, in, out, n, REDUCTION, comm); break;
  case 1: BOTH(allreduce, MPI_IN_PLACE, out, n, REDUCTION, comm); break;
  case 2: BOTH(reduce, in, out, n, REDUCTION, root, comm); break;
  case 3: BOTH(bcast, out, n, MPI_DOUBLE, root, comm); break;
  case 4: BOTH(scan, in, out, n, REDUCTION, comm); break;
  case 5: BOTH(gather, in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, root, comm); break;
  case 6: BOTH(scatter, in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, root, comm); break;
  case 7: BOTH(allgather, in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm); break;
  case 8: BOTH(allgatherv, in, own, MPI_DOUBLE, out, lengths, places, MPI_DOUBLE, comm); break;
  case 9: BOTH(reduce_scatter_block, in, out, n, REDUCTION, comm); break;
  case 10: BOTH(reduce_scatter, in, out, lengths, REDUCTION, comm); break;
  case 11: BOTH(alltoall, in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm); break;
  case 12: {
    int equal[8];
    for (int r = 0; r < ranks; ++r) equal[r] = 8;
    BOTH(alltoallv, in, equal, firsts, MPI_DOUBLE, out, equal, firsts, MPI_DOUBLE, comm);
    break;
  }
  case 13: BOTH(gatherv, in, own, MPI_DOUBLE, out, lengths, places, MPI_DOUBLE, root, comm); break;
  case 14: BOTH(allreduce, in, out, n / 2, MPI_DOUBLE_INT, MPI_MAXLOC, comm); break;
  }
}
static double host_in[most], host_out[most], expected[most];

static void fill(int kind, int n, double* in, double* out) {
  for (int i = 0; i < most; ++i) in[i] = 100 * rank + i + n, out[i] = -1;
  if (kind == 1 || (kind == 3 && rank == root)) memcpy(out, in, most * sizeof *in);
  if (kind != 14) return;
  memset(in, 0, most * sizeof *in), memset(out, 0, most * sizeof *out);
  for (int i = 0; i < n / 2; ++i) in[2 * i] = (rank + i) % ranks, ((int*)in)[4 * i + 2] = rank;
}

/* By host memory alone: the right result. */
static void on_host(int kind, int n, MPI_Comm comm) {
  fill(kind, n, host_in, host_out);
  run(kind, n, host_in, host_out, comm, NULL);
  memcpy(expected, host_out, sizeof expected);
}

/* Whether the library takes what it should: Open MPI, even with CUDA, reduces no device memory in non-blocking calls
 * and in MPI_Reduce_scatter. */
static int is_taken(int kind, int is_begun) {
  const int reduces = kind == 0 || kind == 1 || kind == 2 || kind == 4 || kind == 9 || kind == 10 || kind == 14;
  return !is_real || memory != 1 || !reduces || (!is_begun && kind != 10);
}

/* Some ranks' on the device; after on_host(), perhaps on another communicator. */
static void compare(int kind, int n, MPI_Comm comm, int is_begun, int here) {
  double *const in = here ? device : host_in, *const out = here ? device + most : host_out;
  MPI_Request request;
  if (!is_taken(kind, is_begun)) return;
  fill(kind, n, here ? staged : in, here ? staged + most : out);
  if (here) move(device, staged);
  run(kind, n, in, out, comm, is_begun ? &request : NULL);
  if (is_begun) MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (here) move(staged, device);
  const double* const found = here ? staged + most : out;
  expect(memcmp(found, expected, sizeof expected) == 0, is_begun ? "begun: another result" : "another result", kind);
}

int main(int argc, char** argv) {
  if (argc < 4) return 1;
  if (argc > 4) memory = atoi(argv[4]);
  alarm(60);
  const int is_late = strcmp(argv[1], "early") != 0, everywhere = strcmp(argv[3], "all") == 0;
  void* warm[1];
  backtrace(warm, 1); /* which allocates at first */
  device = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct sigaction action = {.sa_sigaction = touched, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
  has_gpu = strcmp(argv[1], "late_with_gpu") == 0;
  if (!is_late) load(argv[2]);
  if (strcmp(argv[1], "second") == 0)
    dlopen(strstr(argv[2], "cuda") ? "libamdhip64.so.6" : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int here = everywhere || rank == 1;
  MPI_Comm other;
  for (int kind = 0; kind < kinds; ++kind) on_host(kind, 8, MPI_COMM_WORLD);
  if (is_late) load(argv[2]);
  for (int kind = 0; is_late && kind < kinds; ++kind) { /* nothing new is set up in which it could be noticed */
    on_host(kind, 8, MPI_COMM_WORLD);
    compare(kind, 8, MPI_COMM_WORLD, 0, here);
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  for (int kind = 0; kind < kinds; ++kind) {
    on_host(kind, 8, MPI_COMM_WORLD);
    for (int turn = 0; turn < 3; ++turn) {
      compare(kind, 8, MPI_COMM_WORLD, 0, here); /* of host memory before: ours, in host memory */
      compare(kind, 8, other, 0, here);          /* new: the library's, */
      compare(kind, 8, other, 0, 0);             /* wherever its data are */
      compare(kind, 8, MPI_COMM_WORLD, 1, here);
    }
  }
  int last = 0, all = 0;
  int (*const error)(void) = (int (*)(void))dlsym(driver, "fake_last_error");
  if (error) last = error();
  expect(last == 0, "an error of ours is left to the program", -1);
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all < 100 ? all : 100;
}
