// Exchanges that permute a box digit by digit. A digit is c / stride % radix of a coordinate c of one axis, for any
// stride and radix that divide the axis; so an axis of 48 has digits in every order of 2, 2, 2, 2 and 3.
//
// Three kinds of move: two digits of equal radix change places; a digit is reflected, d to radix - 1 - d, where another
// one is odd (a fold); a digit has another of its radix added, modulo it. For radix 2 the last two are the exclusive
// or: on a box of powers of two the moves make every invertible matrix over GF(2).
#pragma once

#include "mapping/structured/box_cost.hpp"

namespace kumihimo::mapping {

// A permutation of the places of a box which changes one or two of its axes.
class DigitMove {
 public:
  struct Digit {
    std::size_t axis = 0;
    std::int32_t stride = 1, radix = 2;
    std::int32_t of(Coordinate c) const { return c / stride % radix; }
  };
  enum class Kind { exchange, reflect, add };

  DigitMove(Kind kind, Digit changed, Digit other, const Box& box);

  std::size_t first() const { return a_; }
  std::size_t second() const { return b_; } // changed only where changes_two()
  bool changes_two() const { return !second_.empty(); }
  // New coordinates on the axis first(), or second(), of all ranks.
  void apply_first(const CoordinatesOfRanks& from, std::vector<Coordinate>& to) const;
  void apply_second(const CoordinatesOfRanks& from, std::vector<Coordinate>& to) const;

 private:
  std::size_t a_, b_;
  std::int32_t length_ = 1;                // of axis b in the tables
  std::vector<Coordinate> first_, second_; // by coordinates on both axes; the same axis: by one
};

// All moves of the box, in a fixed order. Empty where their tables would be larger than 64 MiB.
std::vector<DigitMove> digit_moves(const Box& box);

} // namespace kumihimo::mapping
