// Fields of Maxwell's equations in two dimensions, TM mode (K. Yee, IEEE Trans. Antennas Propag. 14, 1966): Ez on the
// nodes of a grid, Hx and Hy between them, and the memory variables psi of the absorbing layer. The pure part: no MPI.
//
//   Hx(x, y + 1/2) -= S (Ez(x, y + 1) - Ez(x, y))      Hy(x + 1/2, y) += S (Ez(x + 1, y) - Ez(x, y))
//   Ez(x, y)       += S (Hy(x + 1/2, y) - Hy(x - 1/2, y) - Hx(x, y + 1/2) + Hx(x, y - 1/2))
//
// Units: the distance of nodes, the speed of light and the impedance of vacuum are 1; S is the time step. Nodes 0 and
// `points` of an axis are metal walls, where Ez = 0; the node 0 is stored and never updated. Element n of Hx and Hy
// lies half a distance behind node n. With N layers, CPML (J. Roden and S. Gedney, Microw. Opt. Technol. Lett. 27,
// 2000) with kappa = 1 fills N cells before each wall: a difference D becomes D + psi with psi = b psi + c D.
#pragma once

#include "base/result.hpp"
#include "threads/array.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace kumihimo::fdtd2d {

using Pair = std::array<std::int64_t, 2>; // x, y

struct NodeBox {
  Pair begin{}, end{};
  bool is_empty() const { return end[0] <= begin[0] || end[1] <= begin[1]; }
};

struct FieldShape {
  Pair points{};           // of the whole grid
  Pair first{}, cells{};   // nodes of this rank: [first, first + cells)
  std::int64_t ghosts = 1; // layers of ghosts, on all sides
  std::int64_t layer = 10; // cells of the absorbing layer; 0: metal walls alone
  double courant = 0.5;    // S, below 1 / sqrt(2)
};

// b and c along one axis, of its nodes and of the places between them; c = 0 outside the layer. Indices begin with the
// rank's ghosts.
template <class T>
struct Absorption {
  std::vector<T> b_node, c_node, b_half, c_half;
  std::int64_t inner_begin = 0, inner_end = 0; // of the rank's own indices: there c = 0
};

inline constexpr int field_count = 7;
inline constexpr int flops_of_cell = 11;   // additions and multiplications of the three updates, outside the layer
inline constexpr int elements_of_cell = 6; // that a step of all three fields must move: each is read and written

template <class T>
class Fields {
 public:
  // Zeros, each part written by the thread that updates its rows. Error: there is not enough memory.
  static Result<Fields> make(const FieldShape& shape);
  static double bytes(const FieldShape& shape);

  const FieldShape& shape() const { return shape_; }
  std::int64_t row() const { return row_; } // from y to y + 1
  std::int64_t padding() const { return row_ - shape_.cells[0] - 2 * shape_.ghosts; }
  std::int64_t at(std::int64_t x, std::int64_t y) const { return (y + shape_.ghosts) * row_ + x + shape_.ghosts; }
  std::int64_t size() const { return row_ * (shape_.cells[1] + 2 * shape_.ghosts); } // elements of a field
  T* memory() const { return ez; } // of all fields, one after another as they are declared here

  T *ez = nullptr, *hx = nullptr, *hy = nullptr, *psi_ezx = nullptr, *psi_ezy = nullptr, *psi_hx = nullptr,
    *psi_hy = nullptr;
  T courant = 0;
  Absorption<T> along_x, along_y;

 private:
  FieldShape shape_;
  std::int64_t row_ = 0;
  threads::ThreadedArray<T> memory_;
};

// The nodes of a rank whose Ez is updated: all but the wall at node 0. H is updated there and one place before.
NodeBox nodes_of_e(const FieldShape& shape);
inline NodeBox places_of_h(NodeBox e) { return {{e.begin[0] - 1, e.begin[1] - 1}, e.end}; }

} // namespace kumihimo::fdtd2d
