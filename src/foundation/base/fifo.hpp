// First in, first out, in one array: unlike a deque it holds no memory until its first element, and none for each few.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace kumihimo {

template <class T>
class Fifo {
 public:
  bool empty() const { return first_ == all_.size(); }
  std::size_t size() const { return all_.size() - first_; }
  const T& front() const { return all_[first_]; }
  T& operator[](std::size_t i) { return all_[first_ + i]; }
  const T& operator[](std::size_t i) const { return all_[first_ + i]; }
  void push(const T& each, std::size_t times = 1) { all_.insert(all_.end(), times, each); }
  // The others move up once as many have gone as are left.
  void pop() {
    if (++first_ < all_.size() && first_ < std::max<std::size_t>(64, all_.size() / 2)) return;
    all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(std::exchange(first_, 0)));
  }

 private:
  std::vector<T> all_;
  std::size_t first_ = 0;
};

} // namespace kumihimo
