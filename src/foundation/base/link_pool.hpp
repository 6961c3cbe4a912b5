// Links of many short lists in one array, which are used again: an index takes half of a pointer.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace kumihimo {

inline constexpr std::uint32_t no_link = 0xFFFFFFFFU;

// `Link` has a member `next`, the index of another link or no_link.
template <class Link>
class LinkPool {
 public:
  std::uint32_t take(const Link& link) {
    if (free_ == no_link) {
      if (size_ % in_piece == 0) pieces_.push_back(std::make_unique<Piece>());
      (*this)[size_] = link;
      return size_++;
    }
    const std::uint32_t at = free_;
    free_ = (*this)[at].next;
    (*this)[at] = link;
    return at;
  }
  void give_back(std::uint32_t at) { (*this)[at].next = free_, free_ = at; }

  Link& operator[](std::uint32_t at) { return (*pieces_[at / in_piece])[at % in_piece]; }
  const Link& operator[](std::uint32_t at) const { return (*pieces_[at / in_piece])[at % in_piece]; }

 private:
  static constexpr std::uint32_t in_piece = 4096; // links stay where they are: no memory is held twice
  using Piece = std::array<Link, in_piece>;
  std::vector<std::unique_ptr<Piece>> pieces_;
  std::uint32_t size_ = 0, free_ = no_link;
};

} // namespace kumihimo
