// Where rows go when a panel's exchanges have all been made.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::lu {

// Rows are those of the whole matrix. Rows of the diagonal block are `first` .. first + pivots.size() - 1.
struct RowMoves {
  struct Displaced {
    std::int64_t from, to; // a row of the diagonal block, to a row below it
    bool operator==(const Displaced&) const = default;
  };
  std::vector<std::int64_t> source; // of each row of the diagonal block
  std::vector<Displaced> displaced; // by ascending `to`
};

// Of exchanges of row first + k with pivots[k], in the order of k, where pivots[k] >= first + k. A row that comes to
// stand below the diagonal block always comes from it.
RowMoves moves_of(std::int64_t first, std::span<const std::int64_t> pivots);

// The exchanges that bring rows `chosen`, in their order, into the diagonal block: the inverse of moves_of().source.
std::vector<std::int64_t> pivots_of(std::int64_t first, std::span<const std::int64_t> chosen);

} // namespace kumihimo::lu
