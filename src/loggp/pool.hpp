// Links of many short lists in one array, which are used again: an index takes half of a pointer.
#pragma once

#include <cstdint>
#include <vector>

namespace kumihimo::loggp {

inline constexpr std::uint32_t no_link = 0xFFFFFFFFU;

// `Link` has a member `next`, the index of another link or no_link.
template <class Link>
class Pool {
 public:
  // May move all links.
  std::uint32_t take(const Link& link) {
    if (free_ == no_link) {
      links_.push_back(link);
      return static_cast<std::uint32_t>(links_.size() - 1);
    }
    const std::uint32_t at = free_;
    free_ = links_[at].next;
    links_[at] = link;
    return at;
  }
  void give_back(std::uint32_t at) { links_[at].next = free_, free_ = at; }

  Link& operator[](std::uint32_t at) { return links_[at]; }
  const Link& operator[](std::uint32_t at) const { return links_[at]; }

 private:
  std::vector<Link> links_;
  std::uint32_t free_ = no_link;
};

} // namespace kumihimo::loggp
