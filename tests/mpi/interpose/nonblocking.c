/* Non-blocking collectives as programs use them: many at once, mixed with requests of other kinds, left alone while
 * the program waits elsewhere. Each check is a promise of MPI, so the program passes with the library alone as well.
 * The exit status is the number of failed checks, at most 100. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, failures;
enum { most = 8, length = 3000 };

static void expect(int right, const char* what) {
  if (right) return;
  if (failures++ < 5) fprintf(stderr, "rank %d of %d: %s\n", rank, ranks, what);
}

static int sum_of_ranks(void) { return ranks * (ranks - 1) / 2; }

/* One sum of `n` elements under way. */
struct sum {
  double in[length], out[length];
  int n;
  MPI_Request request;
};
static void begin(struct sum* s, int n, MPI_Comm comm) {
  s->n = n;
  for (int i = 0; i < n; ++i) s->in[i] = rank + i, s->out[i] = -1;
  expect(MPI_Iallreduce(s->in, s->out, n, MPI_DOUBLE, MPI_SUM, comm, &s->request) == MPI_SUCCESS, "MPI_Iallreduce");
}
static int is_right(const struct sum* s) {
  for (int i = 0; i < s->n; ++i)
    if (s->out[i] != sum_of_ranks() + (double)ranks * i) return 0;
  return 1;
}

static void one_after_another(int turns) {
  static struct sum s;
  for (int t = 0; t < turns; ++t) {
    begin(&s, 1 + t % length, MPI_COMM_WORLD);
    MPI_Status status;
    expect(MPI_Wait(&s.request, &status) == MPI_SUCCESS && s.request == MPI_REQUEST_NULL, "MPI_Wait");
    expect(is_right(&s), "one sum after another");
  }
}

/* All of the same kind and length, and of several, waited for backwards and all at once. */
static void many_at_once(void) {
  static struct sum sums[most];
  for (int way = 0; way < 3; ++way) {
    MPI_Request requests[most];
    for (int i = 0; i < most; ++i) begin(&sums[i], way == 1 ? length - 7 * i : length, MPI_COMM_WORLD);
    for (int i = 0; i < most; ++i) requests[i] = sums[i].request;
    if (way == 2)
      for (int i = most - 1; i >= 0; --i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    else
      MPI_Waitall(most, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < most; ++i) expect(is_right(&sums[i]) && requests[i] == MPI_REQUEST_NULL, "many sums at once");
  }
}

static void of_every_kind(void) {
  static struct sum s;
  static int data[length], low[length];
  for (int root = 0; root < ranks; ++root) {
    for (int i = 0; i < length; ++i) data[i] = rank == root ? i * 3 : -1, low[i] = rank * 1000 + i;
    MPI_Request requests[3];
    begin(&s, length, MPI_COMM_WORLD);
    requests[0] = s.request;
    MPI_Ibcast(data, length, MPI_INT, root, MPI_COMM_WORLD, &requests[1]);
    MPI_Ireduce(rank == root ? MPI_IN_PLACE : low, rank == root ? low : NULL, length, MPI_INT, MPI_MIN, root,
                MPI_COMM_WORLD, &requests[2]);
    int in = 1, out = 0; /* a blocking one behind them */
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(out == ranks, "a blocking sum while others are under way");
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    int right = is_right(&s);
    for (int i = 0; i < length; ++i) right &= data[i] == i * 3 && (rank != root || low[i] == i);
    expect(right, "an allreduce, a bcast and a reduce at once");
  }
}

/* The type is freed before the broadcast is complete, as MPI allows. */
/* Functions of an attribute, which nobody but the program's own calls may make run. */
static int asked;
static int refuse_copy(MPI_Datatype type, int key, void* extra, void* in, void* out, int* flag) {
  ++asked;
  return MPI_ERR_OTHER;
}
static int note_end(MPI_Datatype type, int key, void* value, void* extra) { return ++asked, MPI_SUCCESS; }

static void bcast_of_another_type(void) {
  int key;
  MPI_Type_create_keyval(refuse_copy, note_end, &key, NULL);
  for (int root = 0; root < ranks; ++root) {
    static int data[length];
    const int step = rank == root ? 1 : 2;
    MPI_Datatype every_second;
    MPI_Type_vector(length / 2, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    MPI_Type_set_attr(every_second, key, &key);
    MPI_Request request;
    for (int i = 0; i < length; ++i) data[i] = rank == root ? i + root : -5;
    asked = 0;
    if (rank == root)
      MPI_Ibcast(data, length / 2, MPI_INT, root, MPI_COMM_WORLD, &request);
    else
      MPI_Ibcast(data, 1, every_second, root, MPI_COMM_WORLD, &request);
    MPI_Type_free(&every_second);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(asked == 1, "the functions of a type's attribute");
    int right = 1;
    for (int i = 0; i < length / 2; ++i) right &= data[i * step] == i + root;
    for (int i = 0; rank != root && i < length / 2 - 1; ++i) right &= data[i * 2 + 1] == -5;
    expect(right, "bcast into another type");
  }
  MPI_Type_free_keyval(&key);
}

/* Every way to wait and to test, with requests of other kinds, null and inactive ones among them. */
static void every_way_to_wait(void) {
  static struct sum s;
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  int out = rank, in = -1, persistent_in = -1;
  MPI_Request inactive;
  MPI_Recv_init(&persistent_in, 1, MPI_INT, before, 99, MPI_COMM_WORLD, &inactive);
  for (int way = 0; way < 7; ++way) {
    in = -1;
    MPI_Request requests[5] = {MPI_REQUEST_NULL, inactive, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    begin(&s, length, MPI_COMM_WORLD);
    requests[2] = s.request;
    MPI_Irecv(&in, 1, MPI_INT, before, way, MPI_COMM_WORLD, &requests[3]);
    MPI_Isend(&out, 1, MPI_INT, next, way, MPI_COMM_WORLD, &requests[4]);
    int indices[5], index, number, done = 0, left = 3;
    MPI_Status statuses[5];
    while (left > 0) switch (way) {
      case 0:
        MPI_Waitall(5, requests, statuses), left = 0;
        expect(statuses[3].MPI_SOURCE == before, "status of MPI_Waitall");
        break;
      case 1:
        MPI_Waitany(5, requests, &index, statuses), --left;
        expect(index >= 2 && index <= 4, "index of MPI_Waitany");
        break;
      case 2:
        MPI_Waitsome(5, requests, &number, indices, statuses);
        expect(number > 0 && number <= left, "number of MPI_Waitsome"), left -= number;
        break;
      case 3: MPI_Testall(5, requests, &done, MPI_STATUSES_IGNORE), left = done ? 0 : left; break;
      case 4: MPI_Testany(5, requests, &index, &done, statuses), left -= done; break;
      case 5: MPI_Testsome(5, requests, &number, indices, MPI_STATUSES_IGNORE), left -= number; break;
      default:
        MPI_Request_get_status(requests[2], &done, MPI_STATUS_IGNORE);
        if (done) MPI_Waitall(3, requests + 2, MPI_STATUSES_IGNORE), left = 0;
      }
    MPI_Waitany(5, requests, &index, statuses);
    expect(index == MPI_UNDEFINED, "nothing is left to wait for");
    expect(is_right(&s) && in == before, "what was waited for");
  }
  MPI_Request_free(&inactive);
}

/* --- progress */

/* Rank 1 waits for its sum before it sends; rank 0 receives before it waits. */
static void receive_before_the_wait(void) {
  if (ranks < 2) return;
  static struct sum s;
  int word = 0;
  for (int turn = 0; turn < 3; ++turn) {
    begin(&s, length, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&word, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&s.request, MPI_STATUS_IGNORE);
    if (rank == 1) word = 42, MPI_Ssend(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    expect(is_right(&s) && (rank != 0 || word == 42), "a receive before the wait");
  }
}

/* The same with calls that have no non-blocking twin: rank 0 goes into them before it waits. */
static void others_before_the_wait(void) {
  if (ranks < 2) return;
  static struct sum s;
  MPI_Comm pair, copy;
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &pair);
  begin(&s, length, MPI_COMM_WORLD);
  if (rank != 0) MPI_Wait(&s.request, MPI_STATUS_IGNORE);
  if (rank < 2) {
    MPI_Comm_dup(pair, &copy);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&pair);
  }
  if (rank == 0) MPI_Wait(&s.request, MPI_STATUS_IGNORE);
  expect(is_right(&s), "other collectives before the wait");
}

/* A message that cannot end before its receiver looks, which it does only after the sum. */
static void a_send_before_it(void) {
  if (ranks < 2) return;
  static struct sum s;
  const int n = 16 << 20;
  int* data = malloc(n * sizeof *data);
  for (int i = 0; i < n; ++i) data[i] = rank == 0 ? i : 0;
  MPI_Request request;
  if (rank == 0) MPI_Isend(data, n, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
  if (rank == 1) MPI_Recv(data, n, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  begin(&s, length, MPI_COMM_WORLD);
  MPI_Wait(&s.request, MPI_STATUS_IGNORE);
  if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(is_right(&s) && (rank != 1 || data[n - 1] == n - 1), "a send before it, received before it");
  free(data);
}

/* --- communicators */

/* Known by a call that the library may keep, before its first sum is begun: from the second on the sums are taken over.
 */
static void after_another_call(void) {
  static struct sum s;
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int turn = 0; turn < 50; ++turn) {
    int word = turn;
    MPI_Bcast(&word, 1, MPI_INT, 0, copy);
    begin(&s, 100, copy);
    MPI_Wait(&s.request, MPI_STATUS_IGNORE);
    expect(is_right(&s) && word == turn, "by turns with another call");
  }
  MPI_Comm_free(&copy);
}

static void on_several(void) {
  static struct sum sums[most];
  MPI_Comm copies[most];
  MPI_Request requests[most];
  for (int i = 0; i < most; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &copies[i]);
    double in = 1, out = 0;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, copies[i]);
  }
  /* MPI leaves the order between communicators to each rank. */
  for (int i = 0; i < most; ++i) {
    const int at = rank % 2 ? i : most - 1 - i;
    begin(&sums[at], length, copies[at]);
    requests[at] = sums[at].request;
  }
  MPI_Waitall(most, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < most; ++i) expect(is_right(&sums[i]), "on several communicators");
  for (int i = 0; i < most; ++i) MPI_Comm_free(&copies[i]);
}

/* Not asked of the library alone: Open MPI 4.1 does not survive it. */
static void freed_while_under_way(void) {
  static struct sum s;
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  double in = 1, out = 0;
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, copy);
  begin(&s, length, copy);
  MPI_Comm_free(&copy);
  MPI_Wait(&s.request, MPI_STATUS_IGNORE);
  expect(is_right(&s), "on a communicator that was freed meanwhile");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  one_after_another(3); /* before anything that may wait */
  MPI_Barrier(MPI_COMM_WORLD);
  one_after_another(200);
  many_at_once();
  of_every_kind();
  bcast_of_another_type();
  every_way_to_wait();
  receive_before_the_wait();
  others_before_the_wait();
  a_send_before_it();
  after_another_call();
  on_several();
  if (argc > 1) freed_while_under_way();
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) printf("%s: %d failures\n", all == 0 ? "good" : "bad", all);
  return all < 100 ? all : 100;
}
