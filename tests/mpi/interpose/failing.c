/* An object that is loaded beside ours and makes our allocations and threads fail, as a limit of memory or threads
 * does. From the allocation that fail_after() or EXHAUSTED_FROM names on, there is only what our object gives back to
 * the system; with EXHAUSTED_FOR_GOOD, not even that. Allocations of others succeed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void* __libc_malloc(size_t);

static char *begin, *end; /* of our object's code */
static int for_good;
static atomic_long left = -1, budget, failed; /* left: allocations before memory runs out; -1: it does not */

static int find(struct dl_phdr_info* info, size_t size, void* nothing) {
  (void)size, (void)nothing;
  if (!strstr(info->dlpi_name, "libkumihimo-")) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
      begin = (char*)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
      end = begin + info->dlpi_phdr[i].p_memsz;
    }
  return 1;
}

static int is_ours(const void* caller) { return begin && (const char*)caller >= begin && (const char*)caller < end; }

/* How many have failed since the last call; number < 0: none fails from now on. */
long fail_after(long number) {
  if (!begin) dl_iterate_phdr(find, NULL);
  budget = 0;
  left = number;
  return atomic_exchange(&failed, 0);
}

static __attribute__((constructor)) void begin_at_once(void) {
  for_good = getenv("EXHAUSTED_FOR_GOOD") != NULL;
  const char *from = getenv("EXHAUSTED_FROM"), *rank = getenv("PMI_RANK");
  if (!rank) rank = getenv("OMPI_COMM_WORLD_RANK");
  if (from && rank && strcmp(rank, "0") == 0) fail_after(atol(from));
}

static int is_refused(const void* caller, size_t bytes) {
  if (left < 0 || !is_ours(caller)) return 0;
  if (left > 0) return left--, 0;
  if ((budget -= (long)bytes) >= 0) return 0;
  budget += (long)bytes;
  return ++failed;
}

void* malloc(size_t bytes) { return is_refused(__builtin_return_address(0), bytes) ? NULL : __libc_malloc(bytes); }

void* mmap(void* at, size_t bytes, int access, int flags, int file, off_t offset) {
  static void* (*next)(void*, size_t, int, int, int, off_t);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "mmap");
  if (is_refused(__builtin_return_address(0), bytes)) return errno = ENOMEM, MAP_FAILED;
  return next(at, bytes, access, flags, file, offset);
}

int munmap(void* at, size_t bytes) {
  static int (*next)(void*, size_t);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "munmap");
  if (is_ours(__builtin_return_address(0)) && !for_good) budget += (long)bytes;
  return next(at, bytes);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  static int (*next)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "pthread_create");
  if (!begin) dl_iterate_phdr(find, NULL);
  if (getenv("NO_THREADS") && is_ours(__builtin_return_address(0))) return EAGAIN;
  return next(thread, attributes, run, argument);
}
