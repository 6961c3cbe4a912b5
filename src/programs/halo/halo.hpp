// Halo exchange: each rank has a box of cells of a grid in three dimensions, with layers of ghost cells around it, and
// gets the cells next to its box from the ranks beside it. No collective: a program set of its own.
//
// A field with L layers is an array of (x + 2L)(y + 2L)(z + 2L) elements, x fastest; fields follow each other in one
// buffer, which is input and output. With 7 points ranks exchange their six faces, with 27 edges and corners too, all
// fields of a direction in one message. Cells that need no ghosts are computed while messages are under way, the others
// after it.
#pragma once

#include "base/datatype.hpp"
#include "base/result.hpp"
#include "program/named_programs.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo {

struct Halo {
  using Box = std::array<std::int64_t, 3>;    // x, y, z
  Box cells{};                                // of one rank
  std::array<std::int32_t, 3> ranks{1, 1, 1}; // on each axis; the last one runs fastest in the order of ranks
  std::array<bool, 3> periodic{true, true, true};
  std::optional<bool> asked_periodic; // by the words periodic and mesh; with periodic, a mesh axis of ranks is an error
  std::int64_t fields = 1;
  int points = 7;           // or 27
  Box layers{1, 1, 1};      // of ghosts on both sides of each axis; 0: none, on an axis of one rank that is no ring
  std::int64_t padding = 0; // elements behind each row of x, which nobody uses
  DataType type = DataType::float64;
  double compute_seconds = 0; // of one rank for all its cells

  // "16x16x16", "16x16x16,points=27,fields=3,layers=2,type=float32,mesh,compute=1e-3". Errors name the word: an unknown
  // or repeated one, or a value out of range.
  static Result<Halo> parse(std::string_view text);
  std::string text() const; // as parse() reads it

  std::int64_t length(std::size_t axis) const { return cells[axis] + 2 * layers[axis]; } // with ghosts
  std::int64_t row() const { return length(0) + padding; }                               // from y to y + 1
  std::int64_t plane() const { return row() * length(1); }                               // from z to z + 1
  std::int64_t cells_with_ghosts() const { return plane() * length(2); }                 // elements of a field
  std::int32_t rank_count() const { return ranks[0] * ranks[1] * ranks[2]; }
  // Seconds of computation that needs no ghosts; the rest follows the exchange.
  double interior_seconds() const;
};

// Places [low, high] in a field on each axis: ghosts come first, then the rank's cells, then ghosts.
struct CellBox {
  Halo::Box low{}, high{};
  std::int64_t length(std::size_t axis) const { return high[axis] - low[axis] + 1; }
};

// Message in one direction: to one neighbour the cells next to that side, from the opposite one its cells of that side
// into the ghosts; -1: the grid ends there. Messages between two ranks that meet more than once are in one order at
// both.
struct HaloMessage {
  std::int32_t to = -1, from = -1;
  CellBox sent, received;
};
std::vector<HaloMessage> messages_of(const Halo& halo, Rank rank);

// The ranks of the grid along x, y and z, as a shape of up to three axes has them (x first), and which of them wrap.
// Errors: more axes; more layers than cells on an axis of several ranks; an axis that does not wrap where the text says
// periodic.
Result<Halo> on_ranks(Halo halo, const std::vector<std::int32_t>& lengths, const std::vector<bool>& wraps);

// Their origins follow from the definition of the grid alone: all cells of a rank's box, and all ghosts that the points
// reach.
NamedPrograms programs_of(const Halo& halo);
std::vector<ElementOrigin> origins_of(const Halo& halo, Rank rank);

} // namespace kumihimo
