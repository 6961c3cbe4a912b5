// The rows that a panel's exchanges bring from one process of a column of the grid to another, as one of them sees it.
#pragma once

#include "lu/block_cyclic.hpp"
#include "lu/row_moves.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::lu {

// All processes get the rows of U; the owner of the diagonal block sends the rows that they displace. Packed rows stand
// process by process, then column by column. Columns are stored at `a`, `leading` apart, with this process's rows.
class RowExchange {
 public:
  RowExchange() = default;
  RowExchange(std::int64_t first, const RowMoves& moves, const BlockCyclic& rows, std::int32_t process);

  std::int32_t owner() const { return owner_; } // of the diagonal block
  bool displaces_rows() const { return has_displaced_; }
  // Of each process, in so many columns: numbers of U, and of the rows that are displaced to it.
  std::vector<std::int64_t> counts(std::int64_t columns) const;
  std::vector<std::int64_t> displaced_counts(std::int64_t columns) const;

  // This process's part of U.
  void pack(const double* a, std::int64_t leading, std::int64_t columns, double* to) const;
  // Those of all processes, to columns as high as the diagonal block.
  void unpack(const double* from, std::int64_t columns, double* u) const;
  // By the owner of the diagonal block: for each process the rows that are displaced to it.
  void pack_displaced(const double* a, std::int64_t leading, std::int64_t columns, double* to) const;
  // Those that are displaced to this process, to their places.
  void put_displaced(const double* from, double* a, std::int64_t leading, std::int64_t columns) const;

 private:
  using Places = std::vector<std::int64_t>;
  std::int32_t owner_ = 0;
  std::int64_t height_ = 0;
  std::vector<Places> of_process_; // rows of U that it has, as places in U
  std::vector<Places> left_from_;  // for each process, as places of the owner of the diagonal block
  Places given_from_, taken_to_;   // places of this process
  bool has_displaced_ = false;
};

} // namespace kumihimo::lu
