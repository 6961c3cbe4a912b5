// What processes pack and put is what the exchanges of a whole matrix do, one after the other.
#include "lu/row_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace kumihimo::lu {
namespace {

using Numbers = std::vector<double>;

struct Parts {
  Parts(const BlockCyclic& rows, std::int64_t columns) : rows(rows), columns(columns) {
    for (std::int32_t p = 0; p < rows.parts; ++p)
      of.emplace_back(static_cast<std::size_t>(std::max<std::int64_t>(1, rows.count(p)) * columns));
  }
  std::int64_t leading(std::int32_t p) const { return std::max<std::int64_t>(1, rows.count(p)); }
  double& at(std::int64_t row, std::int64_t column) {
    const std::int32_t p = rows.owner(row);
    return of[static_cast<std::size_t>(p)][static_cast<std::size_t>(rows.local(row) + column * leading(p))];
  }
  BlockCyclic rows;
  std::int64_t columns;
  std::vector<Numbers> of;
};

void exchange(Parts& parts, std::int64_t first, const std::vector<std::int64_t>& pivots, Numbers& u) {
  const RowMoves moves = moves_of(first, pivots);
  const std::int64_t columns = parts.columns;
  std::vector<RowExchange> each;
  for (std::int32_t p = 0; p < parts.rows.parts; ++p) each.emplace_back(first, moves, parts.rows, p);
  Numbers gathered, left(pivots.size() * static_cast<std::size_t>(columns));
  for (std::size_t p = 0; p < each.size(); ++p) {
    const auto rank = static_cast<std::int32_t>(p);
    Numbers own(static_cast<std::size_t>(each[p].counts(columns)[p]));
    each[p].pack(parts.of[p].data(), parts.leading(rank), columns, own.data());
    gathered.insert(gathered.end(), own.begin(), own.end());
    if (each[p].owner() == rank) each[p].pack_displaced(parts.of[p].data(), parts.leading(rank), columns, left.data());
  }
  u.assign(left.size(), 0);
  each.front().unpack(gathered.data(), columns, u.data());
  const double* taken = left.data();
  for (std::size_t p = 0; p < each.size(); ++p) {
    each[p].put_displaced(taken, parts.of[p].data(), parts.leading(static_cast<std::int32_t>(p)), columns);
    taken += each[p].displaced_counts(columns)[p];
  }
}

TEST(RowExchanges, AreThoseOfTheWholeMatrix) {
  std::mt19937 random(6);
  const auto draw = [&](std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(random);
  };
  for (int round = 0; round < 200; ++round) {
    const std::int64_t n = draw(1, 60), block = draw(1, 9), columns = draw(1, 4);
    Parts parts({n, block, static_cast<std::int32_t>(draw(1, 5))}, columns);
    const std::int64_t first = draw(0, (n - 1) / block) * block, width = std::min(block, n - first);
    std::vector<std::int64_t> pivots;
    for (std::int64_t k = 0; k < width; ++k) pivots.push_back(draw(first + k, n - 1));
    std::vector<Numbers> expected; // by rows
    for (std::int64_t row = 0; row < n; ++row) {
      expected.emplace_back();
      for (std::int64_t j = 0; j < columns; ++j)
        expected.back().push_back(parts.at(row, j) = static_cast<double>(100 * row + j));
    }
    for (std::size_t k = 0; k < pivots.size(); ++k)
      std::swap(expected[static_cast<std::size_t>(first) + k], expected[static_cast<std::size_t>(pivots[k])]);
    Numbers u;
    exchange(parts, first, pivots, u);
    for (std::int64_t row = 0; row < n; ++row)
      for (std::int64_t j = 0; j < columns; ++j) {
        const bool is_of_u = row >= first && row < first + width;
        const double found = is_of_u ? u[static_cast<std::size_t>(row - first + j * width)] : parts.at(row, j);
        ASSERT_EQ(found, expected[static_cast<std::size_t>(row)][static_cast<std::size_t>(j)]) << n << " " << row;
      }
  }
}

} // namespace
} // namespace kumihimo::lu
