// Memory of numbers that threads share. Each thread writes its part first, so that the pages of the part are placed
// near the thread (first touch).
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

namespace kumihimo::threads {

// `bytes`, aligned to a page of 4 KiB, that nobody has written; from 4 MiB on on huge pages. Null: no memory.
void* allocate(std::int64_t bytes);
// The same as zeros, each part of the team written by its thread.
void* allocate_zeros(std::int64_t bytes);
void free_array(void* memory);
// Asks for huge pages (2 MiB) for the whole ones within `bytes` at `memory`, before they are written: indirect reads
// over many small pages miss the TLB. Advice; the system may not follow it.
void advise_huge_pages(void* memory, std::int64_t bytes);

template <class T>
class ThreadedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  ThreadedArray() = default;
  // Zeros. Error: there is not enough memory.
  static Result<ThreadedArray> zeros(std::int64_t size) { return from(&allocate_zeros, size); }
  // For whoever writes every element, each by the thread that uses it later.
  static Result<ThreadedArray> unwritten(std::int64_t size) { return from(&allocate, size); }

  std::int64_t size() const { return size_; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](std::int64_t i) { return data_.get()[i]; }
  const T& operator[](std::int64_t i) const { return data_.get()[i]; }
  std::span<T> span() { return {data_.get(), static_cast<std::size_t>(size_)}; }
  std::span<const T> span() const { return {data_.get(), static_cast<std::size_t>(size_)}; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }

 private:
  struct Free {
    void operator()(T* p) const { free_array(p); }
  };
  static Result<ThreadedArray> from(void* (*memory)(std::int64_t), std::int64_t size) {
    ThreadedArray made;
    if (size == 0) return made;
    made.data_.reset(static_cast<T*>(memory(size * static_cast<std::int64_t>(sizeof(T)))));
    if (!made.data_)
      return failed("there is not enough memory for an array of " +
                        std::to_string(size * static_cast<std::int64_t>(sizeof(T))) + " bytes",
                    {}, "use a smaller size");
    made.size_ = size;
    return made;
  }

  std::unique_ptr<T, Free> data_;
  std::int64_t size_ = 0;
};

} // namespace kumihimo::threads
