#include "poisson3d/matrix_file.hpp"

#include "sparse/matrix_market.hpp"
#include "threads/partition.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace kumihimo::poisson3d {

Result<LocalProblem> part_of(const sparse::CrsMatrix& whole, std::int32_t rank, std::int32_t ranks) {
  if (whole.rows < ranks)
    return wrong_value("a matrix must have at least one row for each rank", whole.rows, "use fewer ranks");
  const threads::IndexRange mine = threads::part(whole.rows, rank, ranks);
  const auto each_foreign = [&](threads::IndexRange rows, const auto& visit) {
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      for (std::int64_t k = whole.begin[static_cast<std::size_t>(i)]; k < whole.begin[static_cast<std::size_t>(i) + 1];
           ++k) {
        const std::int32_t j = whole.column[static_cast<std::size_t>(k)];
        if (j < rows.begin || j >= rows.end) visit(i, j);
      }
  };
  LocalProblem made;
  std::set<std::int32_t> foreign; // ascending, and so by owner
  each_foreign(mine, [&](std::int64_t, std::int32_t column) { foreign.insert(column); });
  const std::vector<std::int32_t> ghosts(foreign.begin(), foreign.end());

  made.ghosts.rows = mine.size();
  for (std::int32_t other = 0; other < ranks; ++other) {
    const threads::IndexRange theirs = threads::part(whole.rows, other, ranks);
    const auto first = std::lower_bound(ghosts.begin(), ghosts.end(), theirs.begin);
    const auto last = std::lower_bound(ghosts.begin(), ghosts.end(), theirs.end);
    if (other == rank || first == last) continue;
    // The matrix is symmetric: the rows that they need are mine with an entry in a column of theirs.
    std::set<std::int32_t> sent;
    each_foreign(mine, [&](std::int64_t row, std::int32_t column) {
      if (column >= theirs.begin && column < theirs.end) sent.insert(static_cast<std::int32_t>(row - mine.begin));
    });
    made.ghosts.neighbours.push_back({other, {sent.begin(), sent.end()}, last - first});
  }

  sparse::CrsMatrix& a = made.matrix;
  a.rows = static_cast<std::int32_t>(mine.size());
  a.columns = a.rows + static_cast<std::int32_t>(ghosts.size());
  std::vector<std::pair<std::int32_t, double>> row;
  for (std::int64_t i = mine.begin; i < mine.end; ++i) {
    row.clear();
    for (std::int64_t k = whole.begin[static_cast<std::size_t>(i)]; k < whole.begin[static_cast<std::size_t>(i) + 1];
         ++k) {
      const std::int32_t j = whole.column[static_cast<std::size_t>(k)];
      const std::int64_t column = j >= mine.begin && j < mine.end
                                      ? j - mine.begin
                                      : a.rows + (std::lower_bound(ghosts.begin(), ghosts.end(), j) - ghosts.begin());
      row.emplace_back(static_cast<std::int32_t>(column), whole.value[static_cast<std::size_t>(k)]);
    }
    std::sort(row.begin(), row.end());
    for (const auto& [column, value] : row) {
      a.column.push_back(column);
      a.value.push_back(value);
    }
    a.begin.push_back(static_cast<std::int64_t>(a.column.size()));
  }
  made.right_side.assign(static_cast<std::size_t>(a.rows), 1.0);
  return made;
}

Result<LocalProblem> read_problem(const std::string& path, std::int32_t rank, std::int32_t ranks) {
  const sparse::CrsMatrix whole = TRY(sparse::read_matrix_market(path));
  return part_of(whole, rank, ranks);
}

} // namespace kumihimo::poisson3d
