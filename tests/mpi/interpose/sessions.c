/* MPI sessions (MPI-4.0, section 11.3), alone or beside MPI_Init, as the first argument says. Every result is
 * checked; the exit status is 1 if one is wrong, 77 if the MPI library that this was compiled for has no sessions. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Open MPI 5 has sessions, and says that it is of MPI 3.1. */
#if MPI_VERSION < 4 && !(defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
int main(void) { return 77; }
#else

enum { times = 10, length = 1000 };

static int wrong;
static void expect(int is, const char* what) {
  if (!is && !wrong++) fprintf(stderr, "sessions: %s\n", what);
}

static MPI_Session opened_for(MPI_Info info) {
  MPI_Session session;
  expect(MPI_Session_init(info, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS, "a session");
  return session;
}
static MPI_Session opened(void) { return opened_for(MPI_INFO_NULL); }

/* Of the ranks of "mpi://WORLD" from `first` on; of none where this one is before. */
static MPI_Comm of(MPI_Session session, const char* set, const char* tag, int first) {
  MPI_Group whole, part;
  MPI_Comm comm = MPI_COMM_NULL;
  int size, rank, range[1][3] = {{first, 0, 1}};
  MPI_Group_from_session_pset(session, set, &whole);
  MPI_Group_size(whole, &size), MPI_Group_rank(whole, &rank);
  range[0][1] = size - 1;
  MPI_Group_range_incl(whole, 1, range, &part);
  if (rank >= first)
    expect(MPI_Comm_create_from_group(part, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS, "a group's");
  MPI_Group_free(&part), MPI_Group_free(&whole);
  return comm;
}

/* One of each: a sum, a broadcast and a sum that is begun. */
static void calls(MPI_Comm comm, int i) {
  static int in[length], out[length], data[length];
  int ranks, rank, root;
  MPI_Request request;
  MPI_Comm_size(comm, &ranks), MPI_Comm_rank(comm, &rank);
  root = i % ranks;
  for (int k = 0; k < length; ++k) in[k] = rank + i + k, data[k] = rank == root ? i * k : -1;
  MPI_Allreduce(in, out, length, MPI_INT, MPI_SUM, comm);
  for (int k = 0; k < length; ++k) expect(out[k] == ranks * (i + k) + ranks * (ranks - 1) / 2, "a sum on all ranks");
  MPI_Bcast(data, length, MPI_INT, root, comm);
  for (int k = 0; k < length; ++k) expect(data[k] == i * k, "a broadcast");
  MPI_Iallreduce(in, out, 1, MPI_INT, MPI_MAX, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(out[0] == ranks - 1 + i, "a maximum that was begun");
}

/* Every second element, which is packed. */
static void strided(MPI_Comm comm) {
  int data[200], rank;
  MPI_Datatype type;
  MPI_Comm_rank(comm, &rank);
  for (int k = 0; k < 200; ++k) data[k] = rank == 0 ? k : -1;
  MPI_Type_vector(100, 1, 2, MPI_INT, &type), MPI_Type_commit(&type);
  MPI_Bcast(data, 1, type, 0, comm);
  MPI_Type_free(&type);
  for (int k = 0; k < 200; ++k) expect(data[k] == (rank == 0 || k % 2 == 0 ? k : -1), "every second element");
}

/* To the next rank. */
static void around_the_ring(MPI_Comm comm) {
  int rank, ranks, got = -1;
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &ranks);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 3, &got, 1, MPI_INT, (rank + ranks - 1) % ranks, 3, comm,
               MPI_STATUS_IGNORE);
  expect(got == (rank + ranks - 1) % ranks, "a message");
}

/* Two sessions at one time, of which the first ends first; communicators of all, of some, of one. */
static void several(void) {
  MPI_Session first = opened(), second = opened();
  MPI_Comm one = of(first, "mpi://WORLD", "one", 0), other = of(second, "mpi://WORLD", "other", 0), sub;
  MPI_Comm alone = of(second, "mpi://SELF", "alone", 0), most = of(first, "mpi://WORLD", "most", 1);
  int rank;
  MPI_Comm_rank(one, &rank);
  for (int i = 0; i < times; ++i) calls(one, i), calls(other, i), calls(alone, i);
  if (most != MPI_COMM_NULL) calls(most, 1), MPI_Comm_free(&most);
  MPI_Comm_split(one, 0, -rank, &sub);
  calls(sub, 2);
  MPI_Comm_disconnect(&sub);
  MPI_Comm_free(&one);
  MPI_Session_finalize(&first);
  for (int i = 0; i < times; ++i) calls(other, i);
  strided(other);
  around_the_ring(other);
  MPI_Comm_free(&alone), MPI_Comm_disconnect(&other);
  MPI_Session_finalize(&second);
}

/* What the program does not free ends with the session. */
static void left(void) {
  MPI_Session session = opened();
  MPI_Comm comm = of(session, "mpi://WORLD", "left", 0), copy;
  MPI_Comm_dup(comm, &copy);
  calls(comm, 3), calls(copy, 4);
  MPI_Session_finalize(&session);
}

/* For threads, which take other ways on Open MPI 5. */
static MPI_Session opened_for_threads(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
  MPI_Session session = opened_for(info);
  MPI_Info_free(&info);
  return session;
}

static void threads(void) {
  MPI_Session session = opened_for_threads();
  MPI_Comm comm = of(session, "mpi://WORLD", "threads", 0);
  for (int i = 0; i < times; ++i) calls(comm, i);
  strided(comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

/* Rank 0 is done when the others have not ended their session, and they wait for its word, which no message of MPI is:
 * nobody may be waited for in the end of a session. */
static void apart(const char* word) {
  MPI_Session session = opened(), other = opened();
  MPI_Comm comm = of(session, "mpi://WORLD", "apart", 0);
  int rank;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) remove(word); /* of an earlier run */
  calls(comm, 5);
  MPI_Comm_disconnect(&comm);
  for (int i = 0; rank != 0 && access(word, F_OK) != 0; ++i) {
    if (i == 20000) fprintf(stderr, "sessions: no word of rank 0\n"), exit(1);
    usleep(1000);
  }
  MPI_Session_finalize(&session);
  if (rank == 0) fclose(fopen(word, "w"));
  MPI_Session_finalize(&other);
}

/* Sessions that follow each other, with none in between: not all libraries can. */
static void again(void) {
  for (int i = 0; i < 3; ++i) {
    MPI_Session session = opened();
    MPI_Comm comm = of(session, "mpi://WORLD", "again", 0);
    calls(comm, i);
    if (i == 1) strided(comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
  }
}

/* Begun before MPI_Init, and ended after MPI_Finalize. */
static void around(void) {
  MPI_Session session = opened();
  MPI_Comm comm = of(session, "mpi://WORLD", "around", 0), last = of(session, "mpi://WORLD", "last", 0);
  calls(comm, 6);
  MPI_Init(NULL, NULL);
  calls(comm, 7), calls(MPI_COMM_WORLD, 8);
  strided(MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  calls(last, 9); /* the library's */
  MPI_Comm_free(&last);
  MPI_Session_finalize(&session);
}

/* Rank 0 is in its first call on a communicator as it initialises MPI in another thread; the others call after that. */
static void* first_calls(void* comm) { return calls(*(MPI_Comm*)comm, 10), NULL; }
static void beside(void) {
  MPI_Session session = opened_for_threads();
  MPI_Comm comm = of(session, "mpi://WORLD", "beside", 0);
  pthread_t thread;
  int rank, provided;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) pthread_create(&thread, NULL, first_calls, &comm), usleep(300000);
  MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
  if (rank == 0)
    pthread_join(thread, NULL);
  else
    calls(comm, 10);
  calls(comm, 11), calls(MPI_COMM_WORLD, 12);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  MPI_Session_finalize(&session);
}

static void within(void) {
  MPI_Init(NULL, NULL);
  for (int i = 0; i < 2; ++i) {
    MPI_Session session = opened();
    MPI_Comm comm = of(session, "mpi://WORLD", "within", 0);
    calls(comm, i), calls(MPI_COMM_WORLD, i);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
  }
  MPI_Finalize();
}

/* Rank 1 is stopped or killed while rank 0 waits for it. */
static void lost(const char* call, const char* how) {
  MPI_Session session = opened();
  MPI_Comm comm = of(session, "mpi://WORLD", "lost", 0);
  int rank, in = 1, out;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i < times; ++i) MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
  if (rank == 1) raise(strcmp(how, "stop") == 0 ? SIGSTOP : SIGKILL);
  if (strcmp(call, "session_allreduce") == 0) MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
  if (strcmp(call, "session_recv") == 0) MPI_Recv(&in, 1, MPI_INT, 1, 1, comm, MPI_STATUS_IGNORE);
  _exit(0);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "several";
  if (strcmp(what, "several") == 0) several();
  if (strcmp(what, "left") == 0) left();
  if (strcmp(what, "threads") == 0) threads();
  if (strcmp(what, "apart") == 0) apart(argv[2]);
  if (strcmp(what, "again") == 0) again();
  if (strcmp(what, "around") == 0) around();
  if (strcmp(what, "beside") == 0) beside();
  if (strcmp(what, "within") == 0) within();
  if (strncmp(what, "session_", 8) == 0) lost(what, argv[2]);
  return wrong != 0;
}
#endif
