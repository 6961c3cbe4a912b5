// Storage that fails, for a process that loads this object (LD_PRELOAD). Only files below the folder BAD_STORAGE_AT are
// concerned. BAD_STORAGE is one of
//   full:N quota:N io:N   a write after N bytes, of which as much is written as fits, gives ENOSPC, EDQUOT or EIO
//   killed:N              SIGKILL in a write, after N bytes
//   sync:0                fsync gives EIO
//   rename:0              rename gives EIO
//   unnamed:N unsynced:N  SIGKILL before a rename, or fsync, after N of them
//   call:N                SIGKILL before the call after N of those that change a file or its name
//   read-only:0           nothing can be opened for writing, made, renamed or removed: EROFS
//   unreadable:N          a read after N bytes gives EIO
//   no-direct:0           an open with O_DIRECT gives EINVAL
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static long written, have_read, renamed, synced, called;
static char kind[64], folder[PATH_MAX]; // as at the start: the program may change its environment in another thread

__attribute__((constructor)) static void look(void) {
  if (getenv("BAD_STORAGE")) strncpy(kind, getenv("BAD_STORAGE"), sizeof kind - 1);
  if (getenv("BAD_STORAGE_AT")) strncpy(folder, getenv("BAD_STORAGE_AT"), sizeof folder - 1);
}

static int is(const char* what) {
  const size_t length = strlen(what);
  return strncmp(kind, what, length) == 0 && kind[length] == ':';
}

static long limit(void) { return atol(strchr(kind, ':') + 1); }

static int is_below(const char* path) {
  char here[2 * PATH_MAX];
  if (!*folder || !path) return 0;
  if (path[0] != '/') {
    if (!getcwd(here, PATH_MAX)) return 0;
    strcat(here, "/");
    path = strncat(here, path, PATH_MAX - 1);
  }
  return strncmp(path, folder, strlen(folder)) == 0;
}

static int is_open_below(int file) {
  char link[64], path[PATH_MAX];
  if (!*folder) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return path[0] == '/' && is_below(path); // others are pipes
}

static void count_call(const char* path) {
  if (is("call") && is_below(path) && called++ == limit()) raise(SIGKILL);
}

static void count_call_on(int file) {
  if (is("call") && is_open_below(file) && called++ == limit()) raise(SIGKILL);
}

// How many of the bytes are still written; -1: the limit was reached before, and errno says so.
static ssize_t allowed(int file, size_t bytes) {
  const int error = is("full") ? ENOSPC : is("quota") ? EDQUOT : is("io") ? EIO : 0;
  if ((!error && !is("killed")) || !is_open_below(file)) return (ssize_t)bytes;
  const long left = limit() - written;
  if (left <= 0 && error) return errno = error, -1;
  const size_t now = left <= 0 ? 0 : bytes > (size_t)left ? (size_t)left : bytes;
  written += (long)now;
  return (ssize_t)now;
}

static void killed(int file) {
  if (is("killed") && written >= limit() && is_open_below(file)) raise(SIGKILL);
}

ssize_t write(int file, const void* data, size_t bytes) {
  count_call_on(file);
  const ssize_t now = allowed(file, bytes);
  const ssize_t done = now < 0 ? now : NEXT(write)(file, data, (size_t)now);
  if (done >= 0) killed(file);
  return done;
}

ssize_t pwrite(int file, const void* data, size_t bytes, off_t at) {
  count_call_on(file);
  const ssize_t now = allowed(file, bytes);
  const ssize_t done = now < 0 ? now : NEXT(pwrite)(file, data, (size_t)now, at);
  if (done >= 0) killed(file);
  return done;
}

ssize_t pwrite64(int file, const void* data, size_t bytes, off64_t at) { return pwrite(file, data, bytes, at); }

ssize_t writev(int file, const struct iovec* parts, int count) {
  ssize_t all = 0;
  for (int i = 0; i < count; ++i) {
    const ssize_t done = write(file, parts[i].iov_base, parts[i].iov_len);
    if (done < 0) return all > 0 ? all : done;
    all += done;
    if ((size_t)done < parts[i].iov_len) break;
  }
  return all;
}

size_t fwrite(const void* data, size_t size, size_t count, FILE* file) {
  count_call_on(fileno(file));
  const ssize_t now = allowed(fileno(file), size * count);
  const size_t done = now < 0 ? 0 : NEXT(fwrite)(data, 1, (size_t)now, file);
  if (now >= 0) fflush(file), killed(fileno(file));
  return size ? done / size : 0;
}

static ssize_t readable(int file, size_t bytes) {
  if (!is("unreadable") || !is_open_below(file)) return (ssize_t)bytes;
  const long left = limit() - have_read;
  if (left <= 0) return errno = EIO, -1;
  const size_t now = bytes > (size_t)left ? (size_t)left : bytes;
  have_read += (long)now;
  return (ssize_t)now;
}

ssize_t read(int file, void* data, size_t bytes) {
  const ssize_t now = readable(file, bytes);
  return now < 0 ? now : NEXT(read)(file, data, (size_t)now);
}

ssize_t pread(int file, void* data, size_t bytes, off_t at) {
  const ssize_t now = readable(file, bytes);
  return now < 0 ? now : NEXT(pread)(file, data, (size_t)now, at);
}

ssize_t pread64(int file, void* data, size_t bytes, off64_t at) { return pread(file, data, bytes, at); }

static int is_refused(const char* path) { return is("read-only") && is_below(path) ? (errno = EROFS, 1) : 0; }

static int is_direct_refused(const char* path, int flags) {
  return is("no-direct") && (flags & O_DIRECT) && is_below(path) ? (errno = EINVAL, 1) : 0;
}

static int is_for_writing(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT); }

#define OPEN(name)                                                                                                     \
  int name(const char* path, int flags, ...) {                                                                         \
    va_list more;                                                                                                      \
    va_start(more, flags);                                                                                             \
    const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;                                    \
    va_end(more);                                                                                                      \
    if (is_for_writing(flags)) count_call(path);                                                                       \
    if (is_for_writing(flags) && is_refused(path)) return -1;                                                          \
    if (is_direct_refused(path, flags)) return -1;                                                                     \
    return NEXT(name)(path, flags, mode);                                                                              \
  }
OPEN(open)
OPEN(open64)

#define OPEN_AT(name)                                                                                                  \
  int name(int folder, const char* path, int flags, ...) {                                                             \
    va_list more;                                                                                                      \
    va_start(more, flags);                                                                                             \
    const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;                                    \
    va_end(more);                                                                                                      \
    if (is_for_writing(flags) && is_refused(path)) return -1;                                                          \
    return NEXT(name)(folder, path, flags, mode);                                                                      \
  }
OPEN_AT(openat)
OPEN_AT(openat64)

FILE* fopen(const char* path, const char* how) {
  return strpbrk(how, "wa+") && is_refused(path) ? NULL : NEXT(fopen)(path, how);
}
FILE* fopen64(const char* path, const char* how) {
  return strpbrk(how, "wa+") && is_refused(path) ? NULL : NEXT(fopen64)(path, how);
}

int access(const char* path, int how) { return (how & W_OK) && is_refused(path) ? -1 : NEXT(access)(path, how); }
int mkdir(const char* path, mode_t mode) {
  struct stat there;
  if (stat(path, &there) == 0) return errno = EEXIST, -1; // as a file system that is read-only says
  return is_refused(path) ? -1 : NEXT(mkdir)(path, mode);
}
int unlink(const char* path) {
  count_call(path);
  return is_refused(path) ? -1 : NEXT(unlink)(path);
}

int rename(const char* from, const char* to) {
  count_call(to);
  if (is_below(to) && is("unnamed") && renamed++ == limit()) raise(SIGKILL);
  if (is_below(to) && is("rename")) return errno = EIO, -1;
  return is_refused(to) ? -1 : NEXT(rename)(from, to);
}

int fsync(int file) {
  count_call_on(file);
  if (is("unsynced") && is_open_below(file) && synced++ == limit()) raise(SIGKILL);
  return is("sync") && is_open_below(file) ? (errno = EIO, -1) : NEXT(fsync)(file);
}
int fdatasync(int file) {
  count_call_on(file);
  return is("sync") && is_open_below(file) ? (errno = EIO, -1) : NEXT(fdatasync)(file);
}
