#include "fem/matrix.hpp"

#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace kumihimo::fem {
namespace {

// The elements of each node: positions `begin[n]` to `begin[n + 1]` of `elements`.
struct ElementsOfNodes {
  std::vector<std::int64_t> begin;
  std::vector<std::int32_t> elements;
};

ElementsOfNodes elements_of_nodes(const Mesh& mesh) {
  ElementsOfNodes found;
  found.begin.assign(static_cast<std::size_t>(mesh.node_count()) + 1, 0);
  for (const std::int32_t n : mesh.nodes) ++found.begin[static_cast<std::size_t>(n) + 1];
  for (std::size_t n = 1; n < found.begin.size(); ++n) found.begin[n] += found.begin[n - 1];
  std::vector<std::int64_t> next(found.begin.begin(), found.begin.end() - 1);
  found.elements.resize(static_cast<std::size_t>(mesh.nodes.size()));
  for (std::int64_t i = 0; i < mesh.nodes.size(); ++i)
    found.elements[static_cast<std::size_t>(next[static_cast<std::size_t>(mesh.nodes[i])]++)] =
        static_cast<std::int32_t>(i / corners);
  return found;
}

} // namespace

Result<BlockMatrix> make_matrix(const Mesh& mesh) {
  const ElementsOfNodes around = elements_of_nodes(mesh);
  const std::int64_t rows = mesh.node_count();
  BlockMatrix made;
  made.owned = mesh.owned;
  made.row_begin = TRY(threads::ThreadedArray<std::int32_t>::zeros(rows + 1));
  std::vector<std::int32_t> columns, row;
  columns.reserve(static_cast<std::size_t>(27 * rows));
  for (std::int64_t n = 0; n < rows; ++n) {
    row.clear();
    const auto at = static_cast<std::size_t>(n);
    for (std::int64_t i = around.begin[at]; i < around.begin[at + 1]; ++i) {
      const std::int32_t* const nodes = mesh.element(around.elements[static_cast<std::size_t>(i)]);
      row.insert(row.end(), nodes, nodes + corners);
    }
    std::sort(row.begin(), row.end());
    columns.insert(columns.end(), row.begin(), std::unique(row.begin(), row.end()));
    made.row_begin[n + 1] = static_cast<std::int32_t>(columns.size());
  }
  made.columns = TRY(threads::ThreadedArray<std::int32_t>::zeros(static_cast<std::int64_t>(columns.size())));
  std::copy(columns.begin(), columns.end(), made.columns.begin());
  made.values = TRY(threads::ThreadedArray<double>::zeros(9 * made.blocks() + 3));
  return made;
}

void set_zero(BlockMatrix& matrix) {
  const int team = threads::count();
#pragma omp parallel for schedule(static) num_threads(team)
  for (int i = 0; i < team; ++i) {
    const threads::IndexRange mine = threads::part(matrix.values.size(), i, team);
    std::memset(matrix.values.data() + mine.begin, 0, static_cast<std::size_t>(mine.size()) * sizeof(double));
  }
}

} // namespace kumihimo::fem
