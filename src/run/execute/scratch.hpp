// Memory for the time of a run: taken when the run starts and given back when it ends, so that a thousand plans need no
// more of it than those that run at once. Memory that was given back serves the next run, of any plan, transport or
// communicator, because to get pages from the system costs more than to use them. A little is kept for good. Beyond
// that, one block for the largest run is kept until most_takings_unused runs had no use for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace kumihimo::execute {

class ScratchMemory {
 public:
  static constexpr std::int64_t most_kept_bytes = 4 << 20; // and one larger block
  static constexpr std::int64_t most_takings_unused = 64;  // after as many without the larger block, it is freed

  ScratchMemory() = default;
  // At least `bytes` bytes of any content, aligned to a cache line. Throws std::bad_alloc.
  explicit ScratchMemory(std::int64_t bytes);
  ~ScratchMemory() { give_back(); }
  ScratchMemory(ScratchMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
  ScratchMemory& operator=(ScratchMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }

  std::byte* data() const { return data_; }
  bool exists() const { return data_ != nullptr; }
  void give_back() { // for whoever takes next
    if (data_) give();
  }
  void leak() { data_ = nullptr; } // it stays valid until the process ends, for the library that may still use it

  // What is kept of all that was given back, in this process.
  static std::int64_t kept_bytes();

 private:
  void give();
  std::byte* data_ = nullptr;
  std::int64_t capacity_ = 0;
};

} // namespace kumihimo::execute
