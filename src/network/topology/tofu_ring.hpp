// A ring of nodes laid into axes of Tofu so that neighbours are one hop apart. Ring(outer, inner cycle) goes up the
// outer axis in inner cell 0. It comes back down as a snake over the other cells of the inner cycle, which is the ring
// of the axes further in, made the same way. It closes for any outer length without a wrap-around cable of the outer
// axis.
//
//   outer 3  5 6        a ring of 8 in an outer axis of 4 and an inner axis of 2; with 3 inner cells the snake visits
//         2  4 7 ...    two cells a row, first one way, then the other
//         1  .
//         0  .
//
// A ring may be shorter than its axes have room for: then the first rows of the way back are narrower.
#pragma once

#include "topology/tofu.hpp"

namespace kumihimo {

class TofuRing {
 public:
  // An axis and how much of it the ring has, from place 0. `wraps`: its last place is beside its first.
  struct Level {
    std::int32_t axis = 0, used = 1;
    bool wraps = false;
  };
  // Levels from the outermost in. None where these axes hold no ring of this length.
  static std::optional<TofuRing> make(std::vector<Level> levels, std::int32_t length);

  std::int32_t length() const { return length_; }
  const std::vector<Level>& levels() const { return levels_; }

  // Sets the coordinates of the ring's axes.
  void lay(std::int32_t position, TofuPlace& at) const;
  // Where on the ring a place is; none where the ring leaves it out.
  std::optional<std::int32_t> position(const TofuPlace& at) const;

 private:
  std::int32_t inner(std::size_t level) const { return room_[level + 1]; } // cells of the cycle further in
  bool closes(std::size_t level) const; // the full ring of these levels, if it has more than two places
  std::int32_t within(std::size_t level, const TofuPlace& at) const; // position on the full ring of these levels
  struct Rows {
    std::int32_t narrow = 0, width = 0; // the first `narrow` rows of the way back have `width` cells
  };

  std::vector<Level> levels_;
  std::vector<std::int32_t> room_; // of each level and those further in; 1 at the end
  std::int32_t length_ = 1;
  std::size_t bent_ = 0; // the outermost level of more than one place, whose rows may be narrow
  Rows rows_;
};

} // namespace kumihimo
