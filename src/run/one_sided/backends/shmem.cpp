// OpenSHMEM by its C calls (OpenSHMEM 1.4; the older names where a library has no others), opened at run time. It runs
// beside the MPI library of the job: shmem_init() begins where MPI_Init() has been called.
#include "measure/clock.hpp"
#include "one_sided/backends.hpp"
#include "one_sided/measurement.hpp"

#include <dlfcn.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace kumihimo::one_sided {
namespace {

struct ShmemFunctions {
  void (*init)() = nullptr;
  void (*finalize)() = nullptr;
  int (*my_pe)() = nullptr;
  int (*n_pes)() = nullptr;
  void (*info_get_name)(char*) = nullptr;
  void* (*allocate)(std::size_t) = nullptr;
  void (*free)(void*) = nullptr;
  void (*barrier_all)() = nullptr;
  void (*fence)() = nullptr;
  void (*quiet)() = nullptr;
  void (*putmem)(void*, const void*, std::size_t, int) = nullptr;
  void (*getmem)(void*, const void*, std::size_t, int) = nullptr;
  void (*putmem_nbi)(void*, const void*, std::size_t, int) = nullptr;
  void (*getmem_nbi)(void*, const void*, std::size_t, int) = nullptr;
  long (*fetch_add)(long*, long, int) = nullptr;
  long (*compare_swap)(long*, long, long, int) = nullptr;
  long (*swap)(long*, long, int) = nullptr;
  void (*broadcast32)(void*, const void*, std::size_t, int, int, int, int, long*) = nullptr;
  void (*fcollect32)(void*, const void*, std::size_t, int, int, int, long*) = nullptr;
  void (*int_sum_to_all)(int*, const int*, int, int, int, int, int*, long*) = nullptr;
};

// The first of these names that the library has.
template <class Function>
bool find(void* image, Function& function, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (!function) function = reinterpret_cast<Function>(dlsym(image, name));
  return function != nullptr;
}

Result<ShmemFunctions> open_shmem(const std::string& path) {
  void* const image = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!image) {
    const char* reason = dlerror();
    return failed("cannot load the OpenSHMEM library " + path, reason ? reason : "", "name another by --shmem");
  }
  ShmemFunctions f;
  find(image, f.info_get_name, {"shmem_info_get_name"});
  const bool whole =
      find(image, f.init, {"shmem_init"}) && find(image, f.finalize, {"shmem_finalize"}) &&
      find(image, f.my_pe, {"shmem_my_pe", "_my_pe"}) && find(image, f.n_pes, {"shmem_n_pes", "_num_pes"}) &&
      find(image, f.allocate, {"shmem_malloc", "shmalloc"}) && find(image, f.free, {"shmem_free", "shfree"}) &&
      find(image, f.barrier_all, {"shmem_barrier_all"}) && find(image, f.fence, {"shmem_fence"}) &&
      find(image, f.quiet, {"shmem_quiet"}) && find(image, f.putmem, {"shmem_putmem"}) &&
      find(image, f.getmem, {"shmem_getmem"}) && find(image, f.putmem_nbi, {"shmem_putmem_nbi"}) &&
      find(image, f.getmem_nbi, {"shmem_getmem_nbi"}) &&
      find(image, f.fetch_add, {"shmem_long_atomic_fetch_add", "shmem_long_fadd"}) &&
      find(image, f.compare_swap, {"shmem_long_atomic_compare_swap", "shmem_long_cswap"}) &&
      find(image, f.swap, {"shmem_long_atomic_swap", "shmem_long_swap"}) &&
      find(image, f.broadcast32, {"shmem_broadcast32"}) && find(image, f.fcollect32, {"shmem_fcollect32"}) &&
      find(image, f.int_sum_to_all, {"shmem_int_sum_to_all"});
  if (!whole) return failed(path + " lacks a call of OpenSHMEM 1.3", {}, "name another library by --shmem");
  return f;
}

class ShmemLibrary {
 public:
  static constexpr bool puts_before_quiet = true;

  ShmemLibrary(const ShmemFunctions& functions, std::int32_t ranks, long idle)
      : call_(functions), ranks_(ranks), idle_(idle) {}

  Status allocate(std::int64_t bytes, const std::optional<OneSidedPair>&) {
    half_ = (bytes + alignment - 1) / alignment * alignment;
    work_ints_ = std::max<std::int64_t>(bytes / 8 + 1, least_work); // OpenSHMEM 1.4, 9.8.8: max(nreduce/2 + 1, ...)
    const std::int64_t others = 4 * work_ints_ + counter_bytes + static_cast<std::int64_t>(sizeof(Sync));
    const std::int64_t all = 2 * half_ + others;
    heap_ = allocate_symmetric(half_ + others);
    local_ = allocate_symmetric(half_);
    if (!heap_ || !local_)
      return failed("the symmetric heap of OpenSHMEM is too small", std::to_string(all) + " bytes are needed",
                    "set SHMEM_SYMMETRIC_SIZE, or give smaller --bytes");
    counter_ = reinterpret_cast<long*>(heap_ + half_);
    sync_ = reinterpret_cast<Sync*>(heap_ + half_ + counter_bytes);
    work_ = reinterpret_cast<int*>(heap_ + half_ + counter_bytes + sizeof(Sync));
    sync_->fill(idle_);
    call_.barrier_all();
    return Nothing{};
  }
  void release() {
    call_.barrier_all();
    call_.free(local_);
    call_.free(heap_);
  }
  std::byte* memory() { return heap_; }
  std::byte* local() { return local_; }
  std::int64_t counter() { return *static_cast<volatile long*>(counter_); }
  void set_counter(std::int64_t value) { *counter_ = value; }
  void meet() { call_.barrier_all(); }

  void open(std::int32_t) {}
  void close(std::int32_t) { call_.quiet(); }
  void start_put(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
    call_.putmem_nbi(memory() + offset, local() + offset, static_cast<std::size_t>(bytes), peer);
  }
  void start_get(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
    call_.getmem_nbi(local() + offset, memory() + offset, static_cast<std::size_t>(bytes), peer);
  }
  void put(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
    call_.putmem(memory() + offset, local() + offset, static_cast<std::size_t>(bytes), peer);
  }
  void get(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
    call_.getmem(local() + offset, memory() + offset, static_cast<std::size_t>(bytes), peer);
  }
  void fence(std::int32_t) { call_.fence(); }
  std::int64_t fetch_add(std::int32_t peer, std::int64_t value) { return call_.fetch_add(counter_, value, peer); }
  std::int64_t swap(std::int32_t peer, std::int64_t value) { return call_.swap(counter_, value, peer); }
  std::int64_t compare_and_swap(std::int32_t peer, std::int64_t expected, std::int64_t value) {
    return call_.compare_swap(counter_, expected, value, peer);
  }
  void barrier() { call_.barrier_all(); }
  void broadcast(std::int64_t bytes, std::int32_t root) {
    call_.broadcast32(memory(), local(), static_cast<std::size_t>(bytes / 4), root, 0, 0, ranks_, sync_->data());
  }
  void collect(std::int64_t bytes) {
    call_.fcollect32(memory(), local(), static_cast<std::size_t>(bytes / 4), 0, 0, ranks_, sync_->data());
  }
  void reduce(std::int64_t count) {
    call_.int_sum_to_all(reinterpret_cast<int*>(memory()), reinterpret_cast<const int*>(local()),
                         static_cast<int>(count), 0, 0, ranks_, work_, sync_->data());
  }

 private:
  static constexpr std::int64_t alignment = 64, counter_bytes = 64, least_work = 1024;
  using Sync = std::array<long, 1024>; // more than any library's _SHMEM_..._SYNC_SIZE

  const ShmemFunctions& call_;
  int ranks_;
  long idle_;
  std::byte* allocate_symmetric(std::int64_t bytes) {
    return static_cast<std::byte*>(call_.allocate(static_cast<std::size_t>(bytes)));
  }

  std::byte *heap_ = nullptr, *local_ = nullptr; // two blocks, as programs have them
  std::int64_t half_ = 0, work_ints_ = 0;
  long* counter_ = nullptr;
  Sync* sync_ = nullptr; // free between calls, which all begin with a barrier
  int* work_ = nullptr;
};

// The value of a free pSync (_SHMEM_SYNC_VALUE): -1 in SGI's SHMEM and its descendants, 0 in Sandia's.
long idle_value(const std::string& library) { return library.find("Sandia") == std::string::npos ? -1 : 0; }

std::string name_of_library(const ShmemFunctions& call) {
  std::array<char, 1024> name{}; // SHMEM_MAX_NAME_LEN is at most 256
  if (call.info_get_name) call.info_get_name(name.data());
  return name.data();
}

} // namespace

Status measure_shmem(const OneSidedContext& context, const OneSidedTask& task) {
  OneSidedPeers& peers = context.peers;
  const Result<ShmemFunctions> call = open_shmem(task.image);
  if (Status s = peers.agree(call ? Status(Nothing{}) : Status(call.error())); !s) return s;
  call->init();
  const bool same = call->my_pe() == peers.rank() && call->n_pes() == peers.ranks();
  const Status numbered = same ? Status(Nothing{})
                               : failed("the ranks of OpenSHMEM are not those of MPI", task.image,
                                        "name the OpenSHMEM library of this MPI library, and leave --order out");
  if (Status s = peers.agree(numbered); !s) return s;
  const std::string name = name_of_library(*call);
  ShmemLibrary library(*call, peers.ranks(), idle_value(name));
  const Status status = measure_library(library, peers, task, {{"backend", "shmem"}, {"shmem", name}});
  // Open MPI before 4.1.6 crashes in it (open-mpi/ompi issue 11604): who reads this knows then what happened.
  peers.print({{"ending", "shmem_finalize"}});
  call->finalize();
  return status;
}

} // namespace kumihimo::one_sided
