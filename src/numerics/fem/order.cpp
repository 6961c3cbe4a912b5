#include "fem/order.hpp"

#include <algorithm>

namespace kumihimo::fem {
namespace {

constexpr std::int32_t unseen = -2;

// Breadth first from `root` among unseen nodes: sets their levels, appends them to `found`.
void breadth_first(const BlockMatrix& matrix, std::int32_t root, RowNumbers& level, std::vector<std::int32_t>& found) {
  const auto degree = [&](std::int32_t n) { return matrix.row_begin[n + 1] - matrix.row_begin[n]; };
  std::size_t at = found.size();
  found.push_back(root);
  level[root] = 0;
  for (; at < found.size(); ++at) {
    const std::int32_t n = found[at];
    const std::size_t first = found.size();
    for (std::int32_t b = matrix.row_begin[n]; b < matrix.row_begin[n + 1]; ++b) {
      const std::int32_t next = matrix.columns[b];
      if (level[next] != unseen) continue;
      level[next] = level[n] + 1;
      found.push_back(next);
    }
    std::stable_sort(found.begin() + static_cast<std::ptrdiff_t>(first), found.end(),
                     [&](std::int32_t a, std::int32_t b) { return degree(a) < degree(b); });
  }
}

} // namespace

std::vector<std::int32_t> reverse_cuthill_mckee(const BlockMatrix& matrix, const std::vector<std::int32_t>& nodes) {
  RowNumbers work(matrix);
  return reverse_cuthill_mckee(matrix, nodes, work);
}

std::vector<std::int32_t> reverse_cuthill_mckee(const BlockMatrix& matrix, const std::vector<std::int32_t>& nodes,
                                                RowNumbers& level) {
  std::vector<std::int32_t> found, trial;
  for (const std::int32_t n : nodes) level[n] = unseen;
  found.reserve(nodes.size());
  for (const std::int32_t start : nodes) {
    if (level[start] != unseen) continue;
    // The last node of a breadth-first search lies far out; from there the levels are more and smaller.
    std::int32_t root = start;
    trial.clear();
    breadth_first(matrix, start, level, trial);
    root = trial.back();
    for (const std::int32_t n : trial) level[n] = unseen;
    breadth_first(matrix, root, level, found);
  }
  level.reset(nodes);
  std::reverse(found.begin(), found.end());
  return found;
}

NodeOrder coloured(const BlockMatrix& matrix, const std::vector<std::int32_t>& order) {
  std::vector<std::int32_t> colour(static_cast<std::size_t>(matrix.rows()), -1);
  std::vector<std::int64_t> taken_by; // of a colour: the last node with a neighbour of it
  std::vector<std::int64_t> count;
  for (const std::int32_t n : order) {
    for (std::int32_t b = matrix.row_begin[n]; b < matrix.row_begin[n + 1]; ++b) {
      const std::int32_t c = colour[static_cast<std::size_t>(matrix.columns[b])];
      if (c >= 0) taken_by[static_cast<std::size_t>(c)] = n;
    }
    std::size_t c = 0;
    while (c < taken_by.size() && taken_by[c] == n) ++c;
    if (c == taken_by.size()) {
      taken_by.push_back(-1);
      count.push_back(0);
    }
    colour[static_cast<std::size_t>(n)] = static_cast<std::int32_t>(c);
    ++count[c];
  }
  NodeOrder made;
  made.colour_begin.assign(1, 0);
  for (const std::int64_t size : count) made.colour_begin.push_back(made.colour_begin.back() + size);
  std::vector<std::int64_t> next(made.colour_begin.begin(), made.colour_begin.end() - 1);
  made.nodes.resize(order.size());
  for (const std::int32_t n : order)
    made.nodes[static_cast<std::size_t>(next[static_cast<std::size_t>(colour[static_cast<std::size_t>(n)])]++)] = n;
  return made;
}

} // namespace kumihimo::fem
