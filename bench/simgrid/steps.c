/* Plays the messages of an expanded schedule under SimGrid's SMPI: prints the simulated seconds (the slowest rank's)
 * from rank 0. `steps FOLDER` reads the program of its rank from FOLDER/<rank>, a line each:
 *
 *   task N DEPENDENCY...   begins once those tasks of this rank are over; numbers count up from 0
 *   round                  its messages begin together, once those of the task's round before are over
 *   send PEER BYTES TAG
 *   recv PEER BYTES TAG
 *
 * No values move: all messages use one buffer. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { send_step, receive_step };
typedef struct {
  int kind, peer, bytes, tag, round, task;
} Step; /* round: counted over the rank's whole program */
typedef struct {
  int first, end, under_way, waits, over;
  int* dependencies;
} Task; /* first, end: of its steps */

static Step* steps;
static Task* tasks;
static int step_count, task_count, longest;

static void* grown(void* array, int count, size_t size) {
  return count & (count - 1) ? array : realloc(array, (count ? 2 * (size_t)count : 1) * size);
}

static void read_program(const char* path) {
  FILE* file = fopen(path, "r");
  if (!file) exit(3);
  char line[4096];
  int round = 0;
  while (fgets(line, sizeof line, file)) {
    char* word = strtok(line, " \n");
    if (!strcmp(word, "task")) {
      tasks = grown(tasks, task_count, sizeof(Task));
      Task* task = &tasks[task_count++];
      memset(task, 0, sizeof *task);
      strtok(NULL, " \n");
      task->first = task->end = step_count;
      while ((word = strtok(NULL, " \n"))) {
        task->dependencies = grown(task->dependencies, task->waits, sizeof(int));
        task->dependencies[task->waits++] = atoi(word);
      }
      ++round;
    } else if (!strcmp(word, "round")) {
      ++round;
    } else {
      steps = grown(steps, step_count, sizeof(Step));
      Step* step = &steps[step_count++];
      step->kind = !strcmp(word, "send") ? send_step : receive_step;
      step->peer = atoi(strtok(NULL, " \n"));
      step->bytes = atoi(strtok(NULL, " \n"));
      step->tag = atoi(strtok(NULL, " \n"));
      step->round = round;
      step->task = task_count - 1;
      if (step->bytes > longest) longest = step->bytes;
      tasks[task_count - 1].end = step_count;
    }
  }
  fclose(file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  steps = NULL, tasks = NULL, step_count = task_count = longest = 0;
  char path[4096];
  snprintf(path, sizeof path, "%s/%d", argv[1], rank);
  read_program(path);
  Step* mine = steps; /* ranks are threads of one process that share these names until here */
  Task* own = tasks;
  const int count = task_count, most = step_count;
  char* buffer = malloc((size_t)longest + 1);
  MPI_Request* requests = malloc(sizeof(MPI_Request) * (size_t)(most + 1));
  int* of_request = malloc(sizeof(int) * (size_t)(most + 1));

  MPI_Barrier(MPI_COMM_WORLD);
  double seconds = MPI_Wtime(), slowest = 0;
  int pending = 0, left = count;
  while (left) {
    for (int changed = 1; changed;) { /* begin what may begin; a task without messages ends at once and frees others */
      changed = 0;
      for (int t = 0; t < count; ++t) {
        Task* task = &own[t];
        if (task->over || task->under_way) continue;
        int ready = 1;
        for (int d = 0; d < task->waits; ++d) ready &= own[task->dependencies[d]].over;
        if (!ready) continue;
        if (task->first == task->end) {
          task->over = changed = 1;
          --left;
          continue;
        }
        for (const int round = mine[task->first].round; task->first < task->end && mine[task->first].round == round;
             ++task->first) {
          const Step* step = &mine[task->first];
          if (step->kind == send_step)
            MPI_Isend(buffer, step->bytes, MPI_BYTE, step->peer, step->tag, MPI_COMM_WORLD, &requests[pending]);
          else
            MPI_Irecv(buffer, step->bytes, MPI_BYTE, step->peer, step->tag, MPI_COMM_WORLD, &requests[pending]);
          of_request[pending++] = t;
          ++task->under_way;
        }
      }
    }
    if (!pending) break;
    int done;
    MPI_Waitany(pending, requests, &done, MPI_STATUS_IGNORE);
    --own[of_request[done]].under_way;
    requests[done] = requests[--pending];
    of_request[done] = of_request[pending];
  }
  seconds = MPI_Wtime() - seconds;
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.9e\n", slowest);
  MPI_Finalize();
  return left ? 1 : 0;
}
