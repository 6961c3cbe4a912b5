/* Remote memory over libfabric, for C and C++: puts, gets and atomics on memory that other processes have registered,
   flags that say that data have arrived, fences. It needs no MPI: the program gives a function by which its processes
   exchange addresses once. kumihimo/remote_memory_mpi.h gives one for an MPI communicator; kumihimo/remote_memory.hpp
   has classes for C++. Link with -lkumihimo_remote_memory. The manual page kumihimo_remote_memory(3) explains all.

     kumihimo_rma* rma;
     if (kumihimo_rma_open(rank, ranks, exchange, NULL, NULL, &rma)) fprintf(stderr, "%s\n", kumihimo_rma_error());
     kumihimo_rma_key mine, key;
     kumihimo_rma_register(rma, memory, bytes, &mine);
     ... the processes exchange their keys as they like ...
     kumihimo_rma_completion sent = KUMIHIMO_RMA_NOTHING;
     kumihimo_rma_put_flag(rma, data, bytes, &key, 0, 7, &sent);
     kumihimo_rma_wait_flag(rma, 7, 1, source, 10);
     kumihimo_rma_wait(rma, &sent, 10);
     kumihimo_rma_close(rma, 10);

   Functions that return an int return KUMIHIMO_RMA_OK (0) or a code of an error; kumihimo_rma_error() then has a
   sentence. Any number of threads may call them; a completion is waited for by one thread at a time. `seconds` is the
   time limit of a call that waits; a negative one is no limit. */
#ifndef KUMIHIMO_REMOTE_MEMORY_H
#define KUMIHIMO_REMOTE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kumihimo_rma kumihimo_rma; /* this process's part */

enum {
  KUMIHIMO_RMA_OK = 0,
  KUMIHIMO_RMA_BAD_ARGUMENT = 1,  /* nothing was started */
  KUMIHIMO_RMA_NOT_SUPPORTED = 2, /* by libfabric or the provider; nothing was started */
  KUMIHIMO_RMA_TIMED_OUT = 3,     /* what was waited for goes on */
  KUMIHIMO_RMA_PEER_FAILED = 4,   /* a process cannot be reached any more; the others can */
  KUMIHIMO_RMA_FAILED = 5         /* out of memory, or an error of libfabric */
};

/* Registered memory of a process. The program may copy it, send it, and use it in every process of the job. */
typedef struct {
  uint64_t words[8];
} kumihimo_rma_key;

/* Of one operation or several: how many are under way, and how many have failed. Operations that are given it count
   themselves; it must stay at its place until `open` is 0. */
typedef struct {
  int64_t open;
  int64_t failed;
} kumihimo_rma_completion;
#define KUMIHIMO_RMA_NOTHING                                                                                           \
  { 0, 0 }

enum { KUMIHIMO_RMA_ALL_RANKS = -1, KUMIHIMO_RMA_ANY_RANK = -1 };
enum { KUMIHIMO_RMA_FLAGS = 32768 };

/* Gives `bytes` bytes of every rank to every rank, in the order of ranks, as MPI_Allgather does. `argument`: as it was
   given to kumihimo_rma_open(). Returns 0, or anything else after an error. */
typedef int kumihimo_rma_exchange(const void* mine, void* all, size_t bytes, void* argument);

/* Collective: all ranks call it, with equal options. `exchange` is called three times, and only here. `options`: NULL,
   or words NAME=VALUE such as "provider=shm atomics=1":
     provider   of libfabric, as `fi_info -l` names it [default: the first that reaches other nodes, or FI_PROVIDER]
     engines    1 to 4: endpoints with connections of their own [default: 1, or one a rail]
     rails      "eth0,eth1": interfaces, as `fi_info` names their domains. Engine e uses rail e modulo their number
                [default: one of the provider's choice]
     atomics    1: with fetch-add and compare-and-swap, if the provider has them; puts may then be slower [default: 0]
     progress   microseconds between the looks of a thread that serves other processes while this one makes no calls;
                0: no thread [default: 100]
   Errors: bad argument; not supported: no libfabric or no fit provider; failed: the exchange. */
int kumihimo_rma_open(int32_t rank, int32_t ranks, kumihimo_rma_exchange* exchange, void* argument, const char* options,
                      kumihimo_rma** rma);

/* "tcp;ofi_rxm on lo, 1 engine, ordered puts, flags by data of puts, no atomics"; as long as `rma` is there. */
const char* kumihimo_rma_description(const kumihimo_rma* rma);

/* Other processes may use `bytes` bytes at `memory` until they are deregistered or `rma` is closed. Deregister when no
   operation on them is under way. Later ones do not reach the memory: as the provider has it they fail, end the
   connection, or never complete. */
int kumihimo_rma_register(kumihimo_rma* rma, void* memory, int64_t bytes, kumihimo_rma_key* key);
int kumihimo_rma_deregister(kumihimo_rma* rma, const kumihimo_rma_key* key);

/* New memory of this process, zeros, that is registered, until kumihimo_rma_free() or kumihimo_rma_close(). Processes
   of its node map it: there puts and gets are copies, complete when the call returns, and a flag is one store more. A
   put with a flag goes over the provider while earlier puts of its engine to that rank may not be delivered: wait for
   its completion, as elsewhere. Nobody may use the memory when it is freed. Failed: no room. */
int kumihimo_rma_allocate(kumihimo_rma* rma, int64_t bytes, void** memory, kumihimo_rma_key* key);
int kumihimo_rma_free(kumihimo_rma* rma, const kumihimo_rma_key* key);

/* Operations that follow, of all threads, use this engine: 0 at first. Engines move data at the same time, and nothing
   orders what they do. */
int kumihimo_rma_use_engine(kumihimo_rma* rma, int32_t engine);

/* Starts to write `bytes` bytes into the memory of `target`, `offset` bytes into it. It completes when the source may
   be changed. `completion` may be NULL. Nothing orders two puts. */
int kumihimo_rma_put(kumihimo_rma* rma, const void* source, int64_t bytes, const kumihimo_rma_key* target,
                     int64_t offset, kumihimo_rma_completion* completion);

/* The same. Then `flag`, 0 to KUMIHIMO_RMA_FLAGS - 1, of the target's process is one higher. Who sees that also sees
   the data of this put, and of all puts that this process started before to that rank on this engine. 0 bytes: the flag
   alone. */
int kumihimo_rma_put_flag(kumihimo_rma* rma, const void* source, int64_t bytes, const kumihimo_rma_key* target,
                          int64_t offset, int32_t flag, kumihimo_rma_completion* completion);

/* Starts to read `bytes` bytes of the memory of `source`. It completes when they are at `result`. */
int kumihimo_rma_get(kumihimo_rma* rma, void* result, int64_t bytes, const kumihimo_rma_key* source, int64_t offset,
                     kumihimo_rma_completion* completion);

/* Atomics on a 64-bit integer; `offset` and its address are multiples of 8. They complete when the value before is at
   `old`. They are atomic beside each other, not beside puts or what the target's processor does. Not supported: opened
   without atomics=1, or the provider has none. */
int kumihimo_rma_fetch_add(kumihimo_rma* rma, const kumihimo_rma_key* target, int64_t offset, int64_t value,
                           int64_t* old, kumihimo_rma_completion* completion);
int kumihimo_rma_compare_and_swap(kumihimo_rma* rma, const kumihimo_rma_key* target, int64_t offset, int64_t expected,
                                  int64_t value, int64_t* old, kumihimo_rma_completion* completion);

/* Moves what can be moved, and does not wait. The calls below do so, too. */
int kumihimo_rma_progress(kumihimo_rma* rma);

/* Whether no operation of the completion is under way; waits for that. Peer failed: at least one has failed, and
   `failed` is 0 again. Until kumihimo_rma_close() the provider may still use the sources, results and `old` of
   operations on that rank. After an error of a wait those that it waited for go on. */
int kumihimo_rma_test(kumihimo_rma* rma, kumihimo_rma_completion* completion, int* is_complete);
int kumihimo_rma_wait(kumihimo_rma* rma, kumihimo_rma_completion* completion, double seconds);

/* Waits until all operations of this process on `rank`, or on all ranks, are complete, and the target has the data of
   all puts. */
int kumihimo_rma_fence(kumihimo_rma* rma, int32_t rank, double seconds);

/* How often a flag of this process was put; waits until that is at least `count`. `source`: the rank that puts, whose
   death ends the wait with an error, or KUMIHIMO_RMA_ANY_RANK. */
int kumihimo_rma_flags(kumihimo_rma* rma, int32_t flag, int64_t* count);
int kumihimo_rma_wait_flag(kumihimo_rma* rma, int32_t flag, int64_t count, int32_t source, double seconds);

/* Waits until all ranks have called it. It delivers no puts: fence before. After a timeout, call it again to go on. */
int kumihimo_rma_barrier(kumihimo_rma* rma, double seconds);

/* Collective: a fence of all ranks, a barrier, and the end of everything. `rma` may be NULL, and is gone in any case.
 */
int kumihimo_rma_close(kumihimo_rma* rma, double seconds);

/* The last error of this thread, in one sentence; "" without one. Valid until its next call. */
const char* kumihimo_rma_error(void);

#ifdef __cplusplus
}
#endif
#endif
