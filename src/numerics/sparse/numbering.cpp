#include "sparse/numbering.hpp"

#include <algorithm>

namespace kumihimo::sparse {
namespace {

// Parts begin at multiples of this many rows of their colour, so that whole vectors fill them.
constexpr std::int64_t rows_of_a_vector = 8;

threads::IndexRange rows_of_part(const Colouring& colouring, int c, int part, int parts) {
  const std::int64_t first = colouring.begin[c], rows = colouring.begin[c + 1] - first;
  const threads::IndexRange units = threads::part((rows + rows_of_a_vector - 1) / rows_of_a_vector, part, parts);
  return {first + std::min(rows, units.begin * rows_of_a_vector), first + std::min(rows, units.end * rows_of_a_vector)};
}

} // namespace

int parts_for(std::int64_t rows, int colours) {
  return rows / colours >= std::int64_t{most_parts} * rows_of_a_large_part ? most_parts : fewest_parts;
}

RowNumbering number(const CrsMatrix& a, const Colouring& colouring, RowOrder order, int parts, int sigma) {
  RowNumbering made;
  made.order = order;
  made.colours = colouring.colours();
  made.parts = parts;
  made.groups = std::min(parts, most_groups);
  const auto n = static_cast<std::size_t>(a.rows);
  made.old_of_new.resize(n);
  made.new_of_old.resize(n);
  made.rank.resize(n);
  made.colour.resize(n);
  made.block.resize(static_cast<std::size_t>(made.colours) * parts);
  const auto length = [&](std::int32_t row) { return a.begin[row + 1] - a.begin[row]; };
  std::vector<std::int32_t> rows;
  std::int64_t next = 0;
  const auto place = [&](int c, int part) {
    const threads::IndexRange from = rows_of_part(colouring, c, part, parts);
    rows.assign(colouring.row.begin() + from.begin, colouring.row.begin() + from.end);
    for (std::int64_t i = 0; sigma > 1 && i < from.size(); i += sigma)
      std::stable_sort(rows.begin() + i, rows.begin() + std::min(from.size(), i + sigma),
                       [&](std::int32_t x, std::int32_t y) { return length(x) > length(y); });
    made.block[made.block_of(c, part)] = {next, next + from.size()};
    for (std::int64_t i = 0; i < from.size(); ++i, ++next) {
      made.old_of_new[next] = rows[i];
      made.new_of_old[rows[i]] = static_cast<std::int32_t>(next);
      made.rank[next] = static_cast<std::int32_t>(from.begin + i);
      made.colour[next] = c;
    }
  };
  made.in_order({0, parts}, place);
  return made;
}

} // namespace kumihimo::sparse
