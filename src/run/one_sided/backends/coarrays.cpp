// Fortran coarrays: a module in Fortran (coarrays.f90 of the Python package), which the user's compiler has made a
// shared library of, opened at run time. What is measured is what the compiler makes of an assignment to a coarray.
#include "one_sided/backends.hpp"
#include "one_sided/measurement.hpp"

#include <dlfcn.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>

namespace kumihimo::one_sided {
namespace {

struct CoarrayFunctions {
  int (*image)() = nullptr; // of this rank, from 0
  int (*images)() = nullptr;
  void (*allocate)(std::int64_t bytes, std::byte** memory, std::int32_t** counter) = nullptr;
  void (*release)() = nullptr;
  void (*put)(std::int32_t image, std::int64_t offset, std::int64_t bytes, const std::byte* from) = nullptr;
  void (*get)(std::int32_t image, std::int64_t offset, std::int64_t bytes, std::byte* to) = nullptr;
  void (*sync_memory)() = nullptr;
  void (*sync_all)() = nullptr;
  void (*fetch_add)(std::int32_t image, std::int32_t value, std::int32_t* old) = nullptr;
  void (*compare_and_swap)(std::int32_t image, std::int32_t expected, std::int32_t value, std::int32_t* old) = nullptr;
  void (*broadcast)(std::int64_t bytes, std::int32_t image, std::byte* data) = nullptr;
  void (*sum)(std::int64_t count, std::byte* data) = nullptr;
  void (*finalize)() = nullptr; // of GNU Fortran's library interface, if it is that
};

Result<CoarrayFunctions> open_coarrays(const std::string& path) {
  void* const image = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!image) {
    const char* reason = dlerror();
    return failed("cannot load the coarrays that the Fortran compiler made", reason ? reason : "");
  }
  CoarrayFunctions f;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(image, name));
    return function != nullptr;
  };
  // A program's main does it where coarrays are of GNU Fortran's library interface.
  find(f.finalize, "_gfortran_caf_finalize");
  void (*init)(int*, char***) = nullptr;
  if (find(init, "_gfortran_caf_init")) init(nullptr, nullptr);
  const bool whole = find(f.image, "kumihimo_image") && find(f.images, "kumihimo_images") &&
                     find(f.allocate, "kumihimo_allocate") && find(f.release, "kumihimo_release") &&
                     find(f.put, "kumihimo_put") && find(f.get, "kumihimo_get") &&
                     find(f.sync_memory, "kumihimo_sync_memory") && find(f.sync_all, "kumihimo_sync_all") &&
                     find(f.fetch_add, "kumihimo_fetch_add") && find(f.compare_and_swap, "kumihimo_compare_and_swap") &&
                     find(f.broadcast, "kumihimo_broadcast") && find(f.sum, "kumihimo_sum");
  if (!whole) return failed("the Fortran compiler made no coarrays that can be called", path);
  return f;
}

class CoarrayLibrary {
 public:
  static constexpr bool puts_before_quiet = true, blocks = true;

  CoarrayLibrary(const CoarrayFunctions& functions, std::int32_t rank) : call_(functions), rank_(rank) {}

  Status allocate(std::int64_t bytes, const std::optional<OneSidedPair>&) {
    call_.allocate(bytes, &memory_, &counter_);
    local_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
    return Nothing{};
  }
  void release() { call_.release(); }
  std::byte* memory() { return memory_; }
  std::byte* local() { return local_.get(); }
  std::int64_t counter() { return *static_cast<volatile std::int32_t*>(counter_); }
  void set_counter(std::int64_t value) { *counter_ = static_cast<std::int32_t>(value); }
  void meet() { call_.sync_all(); }

  void open(std::int32_t) {}
  void close(std::int32_t) { call_.sync_memory(); }
  void put(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
    call_.put(peer, offset, bytes, local() + offset);
  }
  void get(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
    call_.get(peer, offset, bytes, local() + offset);
  }
  void start_put(std::int32_t peer, std::int64_t offset, std::int64_t bytes) { put(peer, offset, bytes); }
  void start_get(std::int32_t peer, std::int64_t offset, std::int64_t bytes) { get(peer, offset, bytes); }
  std::int64_t fetch_add(std::int32_t peer, std::int64_t value) {
    std::int32_t old = 0;
    call_.fetch_add(peer, static_cast<std::int32_t>(value), &old);
    return old;
  }
  std::int64_t compare_and_swap(std::int32_t peer, std::int64_t expected, std::int64_t value) {
    std::int32_t old = 0;
    call_.compare_and_swap(peer, static_cast<std::int32_t>(expected), static_cast<std::int32_t>(value), &old);
    return old;
  }
  void barrier() { call_.sync_all(); }
  void broadcast(std::int64_t bytes, std::int32_t root) {
    call_.broadcast(bytes, root, rank_ == root ? local() : memory());
  }
  // A coarray sum is in place: its operand is written before each.
  void prepare_reduce(std::int64_t count) { std::memcpy(memory(), local(), static_cast<std::size_t>(4 * count)); }
  void reduce(std::int64_t count) { call_.sum(count, memory()); }

 private:
  const CoarrayFunctions& call_;
  std::int32_t rank_;
  std::byte* memory_ = nullptr;
  std::int32_t* counter_ = nullptr;
  std::unique_ptr<std::byte[]> local_;
};

} // namespace

Status measure_coarrays(const OneSidedContext& context, const OneSidedTask& task) {
  OneSidedPeers& peers = context.peers;
  const Result<CoarrayFunctions> call = open_coarrays(task.image);
  if (Status s = peers.agree(call ? Status(Nothing{}) : Status(call.error())); !s) return s;
  const bool same = call->image() == peers.rank() && call->images() == peers.ranks();
  const Status numbered =
      same ? Status(Nothing{}) : failed("the images of the coarrays are not the ranks of MPI", {}, "leave --order out");
  if (Status s = peers.agree(numbered); !s) return s;
  CoarrayLibrary library(*call, peers.rank());
  const Status status = measure_library(library, peers, task, {{"backend", "coarrays"}});
  // MPICH's UCX ends with a failed assertion where coarrays were; whoever reads this knows then what happened.
  peers.print({{"ending", "the end of the coarrays and of MPI"}});
  if (call->finalize) call->finalize();
  return status;
}

} // namespace kumihimo::one_sided
