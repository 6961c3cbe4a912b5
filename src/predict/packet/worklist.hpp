// A list that is filled and emptied at each time of a simulation. Adding to it is a few instructions in place, which
// std::vector::push_back is not where the compiler calls it.
#pragma once

#include <cstddef>
#include <vector>

namespace kumihimo::packet {

template <class T>
class Worklist {
 public:
  void add(T value) {
    if (size_ == items_.size()) [[unlikely]]
      grow();
    items_[size_++] = value;
  }
  void clear() { size_ = 0; }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  const T& operator[](std::size_t i) const { return items_[i]; }
  T* begin() { return items_.data(); }
  T* end() { return items_.data() + size_; }

 private:
  [[gnu::noinline]] void grow() { items_.resize(2 * items_.size()); }
  std::vector<T> items_ = std::vector<T>(64);
  std::size_t size_ = 0;
};

} // namespace kumihimo::packet
