// Orders of nodes for Gauss-Seidel sweeps, by the graph of a matrix (its owned rows and columns).
#pragma once

#include "fem/matrix.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::fem {

// Nodes in the order of the sweep. Nodes of one colour, positions colour_begin[c] to colour_begin[c + 1], share no
// block, so threads sweep them at the same time.
struct NodeOrder {
  std::vector<std::int32_t> nodes;
  std::vector<std::int64_t> colour_begin;
};

// A number for each row of a matrix, `outside` before and after its use. Those who need one for each of many parts
// share it, as they write and reset only what belongs to the part.
class RowNumbers {
 public:
  static constexpr std::int32_t outside = -1;
  explicit RowNumbers(const BlockMatrix& matrix) : of_row_(static_cast<std::size_t>(matrix.rows()), outside) {}
  std::int32_t& operator[](std::int32_t row) { return of_row_[static_cast<std::size_t>(row)]; }
  void reset(const std::vector<std::int32_t>& rows) {
    for (const std::int32_t row : rows) (*this)[row] = outside;
  }

 private:
  std::vector<std::int32_t> of_row_;
};

// Reverse Cuthill-McKee (George and Liu 1981): breadth first from a node of least degree at the end of a longest path,
// neighbours by degree, reversed. `nodes`: ascending, owned; couplings with others are left out.
std::vector<std::int32_t> reverse_cuthill_mckee(const BlockMatrix& matrix, const std::vector<std::int32_t>& nodes,
                                                RowNumbers& work);
std::vector<std::int32_t> reverse_cuthill_mckee(const BlockMatrix& matrix, const std::vector<std::int32_t>& nodes);

// Each node, in the given order, gets the first colour that none of its neighbours has. Within a colour the order
// stays. 27-point graphs have neighbours within a level of Cuthill-McKee, so levels are no colours there.
NodeOrder coloured(const BlockMatrix& matrix, const std::vector<std::int32_t>& order);

} // namespace kumihimo::fem
