#include "execute/scratch.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace kumihimo::execute {
namespace {

// Blocks are as long as a power of two. Pages that nobody touches cost nothing, so larger ones come from the system
// itself, and leave the program's heap as it is.
constexpr std::int64_t smallest = 4 << 10, from_the_system = 64 << 10;

struct Block {
  std::byte* data = nullptr;
  std::int64_t capacity = 0;
};

Block allocated(std::int64_t capacity) {
  void* data = nullptr;
  if (capacity < from_the_system)
    data = std::aligned_alloc(64, static_cast<std::size_t>(capacity));
  else
    data =
        mmap(nullptr, static_cast<std::size_t>(capacity), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!data || data == MAP_FAILED) throw std::bad_alloc();
  return {static_cast<std::byte*>(data), capacity};
}

void release(Block block) {
  if (block.capacity >= from_the_system)
    munmap(block.data, static_cast<std::size_t>(block.capacity));
  else
    std::free(block.data);
}

class Pool {
 public:
  // One for the process, never destroyed: a program may call MPI while its own objects are.
  static Pool& of_process() {
    static Pool& pool = *new Pool;
    return pool;
  }

  Block take(std::int64_t bytes) {
    if (bytes > std::int64_t{1} << 62) throw std::bad_alloc();
    const auto capacity =
        static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max(bytes, smallest))));
    Block none_to_keep;
    {
      const std::lock_guard lock(mutex_);
      ++takings_;
      if (capacity > ScratchMemory::most_kept_bytes) {
        large_used_ = takings_;
        std::swap(none_to_keep, large_);
        if (none_to_keep.capacity >= capacity) return none_to_keep;
      } else {
        if (large_.data && takings_ - large_used_ >= ScratchMemory::most_takings_unused)
          std::swap(none_to_keep, large_);
        Class& c = class_of(capacity);
        c.used = takings_;
        if (!c.spare.empty()) {
          kept_ -= capacity;
          const Block block{c.spare.back(), capacity};
          c.spare.pop_back();
          if (none_to_keep.data) release(none_to_keep);
          return block;
        }
      }
    }
    if (none_to_keep.data) release(none_to_keep);
    return allocated(capacity);
  }

  void give_back(Block block) {
    const std::lock_guard lock(mutex_);
    if (block.capacity > ScratchMemory::most_kept_bytes) {
      if (block.capacity > large_.capacity) std::swap(block, large_);
      if (block.data) release(block);
      return;
    }
    Class& c = class_of(block.capacity);
    try {
      c.spare.push_back(block.data);
    } catch (const std::bad_alloc&) {
      return release(block);
    }
    kept_ += block.capacity;
    while (kept_ > ScratchMemory::most_kept_bytes) drop_one();
  }

  std::int64_t kept() {
    const std::lock_guard lock(mutex_);
    return kept_ + large_.capacity;
  }

 private:
  struct Class {
    std::vector<std::byte*> spare;
    std::int64_t used = 0; // when one was last taken
  };
  static constexpr int classes = std::countr_zero(static_cast<std::uint64_t>(ScratchMemory::most_kept_bytes)) -
                                 std::countr_zero(static_cast<std::uint64_t>(smallest)) + 1;
  static std::int64_t capacity_of(std::size_t index) { return smallest << index; }
  Class& class_of(std::int64_t capacity) {
    return classes_[static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(capacity / smallest)))];
  }
  // Of the length that was longest not asked for.
  void drop_one() {
    Class* oldest = nullptr;
    for (Class& c : classes_)
      if (!c.spare.empty() && (!oldest || c.used < oldest->used)) oldest = &c;
    const std::int64_t capacity = capacity_of(static_cast<std::size_t>(oldest - classes_.data()));
    release({oldest->spare.back(), capacity});
    oldest->spare.pop_back();
    kept_ -= capacity;
  }

  std::mutex mutex_;
  std::array<Class, classes> classes_;
  Block large_;
  std::int64_t kept_ = 0; // without the large one
  std::int64_t takings_ = 0, large_used_ = 0;
};

} // namespace

ScratchMemory::ScratchMemory(std::int64_t bytes) {
  const Block block = Pool::of_process().take(bytes);
  data_ = block.data;
  capacity_ = block.capacity;
}

void ScratchMemory::give() {
  Pool::of_process().give_back({data_, capacity_});
  data_ = nullptr;
  capacity_ = 0;
}

std::int64_t ScratchMemory::kept_bytes() { return Pool::of_process().kept(); }

} // namespace kumihimo::execute
