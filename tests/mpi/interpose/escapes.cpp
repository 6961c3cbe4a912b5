// A program that leaves calls of MPI by exceptions and jumps out of its own functions, which the library calls: error
// handlers and the delete functions of attributes. What comes after is as if the call had ended. Ends with the number
// of checks that failed, at most 100.
#include <mpi.h>
#include <unistd.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

namespace {

struct Escape {};
std::jmp_buf back;
int rank, ranks, failures;

void expect(bool right, const char* what) {
  if (right) return;
  if (failures++ < 5) std::fprintf(stderr, "rank %d of %d: %s\n", rank, ranks, what);
}

void throws(MPI_Comm*, int*, ...) { throw Escape(); }
void jumps(MPI_Comm*, int*, ...) { std::longjmp(back, 1); }

// A sum of ones, from so much deeper in the stack.
[[gnu::noinline]] int ones(int depth) {
  volatile char room[512];
  room[0] = 0;
  int in = 1, out = 0;
  if (depth > 0) return ones(depth - 1) + room[0];
  MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return out;
}

void send_to_nobody() {
  int word = 0;
  MPI_Send(&word, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
}

void handle_errors_by(MPI_Comm_errhandler_function* function) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(function, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Errhandler_free(&handler);
}

// One rank alone, so that the ranks must not come to differ.
void by_exception(bool then_rests) {
  handle_errors_by(&throws);
  for (int i = 0; i < 3; ++i) {
    bool caught = false;
    try {
      if (rank == 0) send_to_nobody();
    } catch (const Escape&) {
      caught = true;
    }
    if (then_rests) sleep(3); // longer than the time limit of calls: no rank is in one
    expect(caught == (rank == 0), "an exception from an error handler");
    expect(ones(i) == ranks, "a sum after an exception");
    then_rests = false;
  }
}

void by_jump() {
  handle_errors_by(&jumps);
  for (int i = 0; i < 5; ++i) {
    if (rank == 0 && setjmp(back) == 0) {
      send_to_nobody();
      expect(false, "a jump out of an error handler");
    }
    expect(ones(i) == ranks, "a sum after a jump");
  }
}

} // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  expect(ones(0) == ranks, "a sum");
  by_exception(argc > 1 && std::strcmp(argv[1], "rests") == 0);
  by_jump();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) std::printf("%s: %d failures\n", all == 0 ? "good" : "bad", all);
  return all < 100 ? all : 100;
}
