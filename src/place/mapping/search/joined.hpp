// Sets that are joined, each named by its least member: a union-find forest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace kumihimo::mapping {

template <class Member>
class Joined {
 public:
  explicit Joined(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), Member{0}); }
  Member find(Member member) {
    while (parent(member) != member) member = parent(member) = parent(parent(member));
    return member;
  }
  void join(Member a, Member b) {
    a = find(a), b = find(b);
    parent(std::max(a, b)) = std::min(a, b);
  }

 private:
  Member& parent(Member member) { return parent_[static_cast<std::size_t>(member)]; }
  std::vector<Member> parent_;
};

} // namespace kumihimo::mapping
