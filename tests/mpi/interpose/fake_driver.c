/* The function of a GPU driver that tells the kind of a pointer, for ranges that a test calls device memory. Built as
 * libcuda.so.1, and with HIP as libamdhip64.so.6. */
#include <stddef.h>
#include <stdint.h>

enum kind { none, device, managed, pinned };
static struct {
  uintptr_t begin, end;
  enum kind kind;
} ranges[16];
static int count, last_error;

void fake_memory(void* address, size_t bytes, int kind) {
  ranges[count].begin = (uintptr_t)address, ranges[count].end = (uintptr_t)address + bytes, ranges[count].kind = kind;
  ++count;
}
int fake_last_error(void) { return last_error; }

static enum kind kind_of(uintptr_t address) {
  for (int i = 0; i < count; ++i)
    if (address >= ranges[i].begin && address < ranges[i].end) return ranges[i].kind;
  return none;
}

#ifdef HIP
struct attributes {
  int type, device;
  void *on_device, *on_host;
  int is_managed;
  unsigned flags;
};
int hipPointerGetAttributes(struct attributes* found, const void* address) {
  const enum kind kind = kind_of((uintptr_t)address);
  if (kind == none) return last_error = 1;
  found->on_device = (void*)address, found->is_managed = kind == managed;
  found->on_host = kind == device ? NULL : (void*)address;
  return 0;
}
int hipPeekAtLastError(void) { return last_error; }
int hipGetLastError(void) {
  const int last = last_error;
  last_error = 0;
  return last;
}
#else
int cuPointerGetAttributes(unsigned number, const int* attributes, void** values, unsigned long long address) {
  const enum kind kind = kind_of((uintptr_t)address);
  for (unsigned i = 0; i < number; ++i) {
    unsigned* const value = values[i];
    *value = 0;
    if (attributes[i] == 2 /* memory type */) *value = kind == none ? 0 : kind == pinned ? 1 : 2;
    if (attributes[i] == 8 /* managed */) *value = kind == managed;
  }
  return 0;
}
#endif
