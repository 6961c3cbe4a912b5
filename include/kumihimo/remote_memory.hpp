// Remote memory for C++: the functions of kumihimo/remote_memory.h as classes that release what they have. A call that
// fails throws RemoteMemoryError. C++17.
#pragma once

#include <kumihimo/remote_memory.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

namespace kumihimo {

class RemoteMemoryError : public std::runtime_error {
 public:
  explicit RemoteMemoryError(int code) : std::runtime_error(kumihimo_rma_error()), code_(code) {}
  int code() const { return code_; } // KUMIHIMO_RMA_...

 private:
  int code_;
};

using RemoteKey = kumihimo_rma_key;
using RemoteCompletion = kumihimo_rma_completion; // {}: nothing is under way

class RemoteMemory {
 public:
  // Owns what kumihimo_rma_open() or kumihimo_rma_open_mpi() has opened.
  explicit RemoteMemory(kumihimo_rma* opened) : rma_(opened) {}
  RemoteMemory(std::int32_t rank, std::int32_t ranks, kumihimo_rma_exchange* exchange, void* argument = nullptr,
               const char* options = nullptr) {
    check(kumihimo_rma_open(rank, ranks, exchange, argument, options, &rma_));
  }
  RemoteMemory(RemoteMemory&& other) noexcept : rma_(std::exchange(other.rma_, nullptr)) {}
  RemoteMemory& operator=(RemoteMemory&&) = delete;
  ~RemoteMemory() { kumihimo_rma_close(rma_, 10.0); } // collective, as close()

  void close(double seconds = -1) { check(kumihimo_rma_close(std::exchange(rma_, nullptr), seconds)); }
  kumihimo_rma* get() const { return rma_; }
  const char* description() const { return kumihimo_rma_description(rma_); }

  RemoteKey register_memory(void* memory, std::int64_t bytes) {
    RemoteKey key;
    check(kumihimo_rma_register(rma_, memory, bytes, &key));
    return key;
  }
  // Zeros, which processes of the node map. Gone with free() or close().
  std::pair<void*, RemoteKey> allocate(std::int64_t bytes) {
    std::pair<void*, RemoteKey> made{};
    check(kumihimo_rma_allocate(rma_, bytes, &made.first, &made.second));
    return made;
  }
  void free(const RemoteKey& key) { check(kumihimo_rma_free(rma_, &key)); }
  void deregister_memory(const RemoteKey& key) { check(kumihimo_rma_deregister(rma_, &key)); }
  void use_engine(std::int32_t engine) { check(kumihimo_rma_use_engine(rma_, engine)); }

  // These start; wait() or fence() ends them.
  void put(const void* source, std::int64_t bytes, const RemoteKey& target, std::int64_t offset = 0,
           RemoteCompletion* completion = nullptr) {
    check(kumihimo_rma_put(rma_, source, bytes, &target, offset, completion));
  }
  void put_flag(const void* source, std::int64_t bytes, const RemoteKey& target, std::int64_t offset, std::int32_t flag,
                RemoteCompletion* completion = nullptr) {
    check(kumihimo_rma_put_flag(rma_, source, bytes, &target, offset, flag, completion));
  }
  void get(void* result, std::int64_t bytes, const RemoteKey& source, std::int64_t offset = 0,
           RemoteCompletion* completion = nullptr) {
    check(kumihimo_rma_get(rma_, result, bytes, &source, offset, completion));
  }

  // These wait for the value before.
  std::int64_t fetch_add(const RemoteKey& target, std::int64_t offset, std::int64_t value, double seconds = -1) {
    auto pending = std::make_unique<Pending>();
    check(kumihimo_rma_fetch_add(rma_, &target, offset, value, &pending->old, &pending->completion));
    return waited(std::move(pending), seconds);
  }
  std::int64_t compare_and_swap(const RemoteKey& target, std::int64_t offset, std::int64_t expected, std::int64_t value,
                                double seconds = -1) {
    auto pending = std::make_unique<Pending>();
    check(kumihimo_rma_compare_and_swap(rma_, &target, offset, expected, value, &pending->old, &pending->completion));
    return waited(std::move(pending), seconds);
  }

  void progress() { check(kumihimo_rma_progress(rma_)); }
  bool test(RemoteCompletion& completion) {
    int is_complete = 0;
    check(kumihimo_rma_test(rma_, &completion, &is_complete));
    return is_complete != 0;
  }
  void wait(RemoteCompletion& completion, double seconds = -1) { check(kumihimo_rma_wait(rma_, &completion, seconds)); }
  void fence(std::int32_t rank = KUMIHIMO_RMA_ALL_RANKS, double seconds = -1) {
    check(kumihimo_rma_fence(rma_, rank, seconds));
  }
  std::int64_t flags(std::int32_t flag) {
    std::int64_t count = 0;
    check(kumihimo_rma_flags(rma_, flag, &count));
    return count;
  }
  void wait_flag(std::int32_t flag, std::int64_t count, std::int32_t source = KUMIHIMO_RMA_ANY_RANK,
                 double seconds = -1) {
    check(kumihimo_rma_wait_flag(rma_, flag, count, source, seconds));
  }
  void barrier(double seconds = -1) { check(kumihimo_rma_barrier(rma_, seconds)); }

 private:
  struct Pending {
    std::int64_t old = 0;
    RemoteCompletion completion{};
  };
  // After an error the atomic goes on: what it writes to stays.
  std::int64_t waited(std::unique_ptr<Pending> pending, double seconds) {
    const int code = kumihimo_rma_wait(rma_, &pending->completion, seconds);
    const std::int64_t old = pending->old;
    if (code != KUMIHIMO_RMA_OK) static_cast<void>(pending.release());
    check(code);
    return old;
  }
  static void check(int code) {
    if (code != KUMIHIMO_RMA_OK) throw RemoteMemoryError(code);
  }
  kumihimo_rma* rma_ = nullptr;
};

} // namespace kumihimo
