#include "lu/row_moves.hpp"

#include <map>
#include <utility>

namespace kumihimo::lu {
namespace {

// Which row stands at each place; places that are not named hold their own row.
class RowPlaces {
 public:
  std::int64_t& at(std::int64_t place) { return rows_.emplace(place, place).first->second; }
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }

 private:
  std::map<std::int64_t, std::int64_t> rows_;
};

} // namespace

RowMoves moves_of(std::int64_t first, std::span<const std::int64_t> pivots) {
  RowPlaces places;
  for (std::size_t k = 0; k < pivots.size(); ++k)
    std::swap(places.at(first + static_cast<std::int64_t>(k)), places.at(pivots[k]));
  RowMoves moves;
  const std::int64_t end = first + static_cast<std::int64_t>(pivots.size());
  for (std::int64_t row = first; row < end; ++row) moves.source.push_back(places.at(row));
  for (const auto& [place, row] : places)
    if (place >= end && place != row) moves.displaced.push_back({row, place});
  return moves;
}

std::vector<std::int64_t> pivots_of(std::int64_t first, std::span<const std::int64_t> chosen) {
  RowPlaces places, where; // where: the place of each row
  std::vector<std::int64_t> pivots;
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const std::int64_t place = first + static_cast<std::int64_t>(k), found = where.at(chosen[k]);
    std::swap(places.at(place), places.at(found));
    where.at(places.at(place)) = place;
    where.at(places.at(found)) = found;
    pivots.push_back(found);
  }
  return pivots;
}

} // namespace kumihimo::lu
