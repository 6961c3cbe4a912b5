#include "fem/constraints.hpp"

#include <fmt/format.h>

namespace kumihimo::fem {

Constraints no_constraints(const Mesh& mesh) {
  const auto size = static_cast<std::size_t>(3 * mesh.node_count());
  return {std::vector<std::uint8_t>(size), std::vector<double>(size)};
}

void fix(Constraints& constraints, const Mesh& mesh, const std::function<bool(const Triple&)>& where,
         const std::function<Vector3(const double*)>& displacement) {
  const NodeGrid& grid = mesh.grid;
  const std::vector<std::int32_t> numbers = local_numbers(grid);
  std::size_t i = 0;
  for (std::int64_t z = 0; z < grid.extent[2]; ++z)
    for (std::int64_t y = 0; y < grid.extent[1]; ++y)
      for (std::int64_t x = 0; x < grid.extent[0]; ++x) {
        const std::int64_t n = numbers[i++];
        if (!where({grid.begin[0] + x, grid.begin[1] + y, grid.begin[2] + z})) continue;
        const Vector3 value = displacement(mesh.node(n));
        for (std::size_t a = 0; a < 3; ++a) {
          constraints.is_fixed[static_cast<std::size_t>(3 * n) + a] = 1;
          constraints.values[static_cast<std::size_t>(3 * n) + a] = value[a];
        }
      }
}

Constraints fixed_face(const Mesh& mesh) {
  Constraints made = no_constraints(mesh);
  fix(
      made, mesh, [](const Triple& at) { return at[0] == 0; }, [](const double*) { return Vector3{}; });
  return made;
}

Constraints stretched_cube(const Mesh& mesh, const Vector3& displacement) {
  Constraints made = fixed_face(mesh);
  const std::int64_t last = mesh.grid.nodes[0] - 1;
  fix(
      made, mesh, [=](const Triple& at) { return at[0] == last; }, [=](const double*) { return displacement; });
  return made;
}

Status eliminate(const Constraints& constraints, BlockMatrix& matrix, std::span<double> load) {
  if (static_cast<std::int64_t>(constraints.is_fixed.size()) != 3 * matrix.rows())
    return wrong_value(fmt::format("the constraints must have {} displacements", 3 * matrix.rows()),
                       constraints.is_fixed.size());
  if (static_cast<std::int64_t>(load.size()) != 3 * matrix.owned)
    return wrong_value(fmt::format("the load must have {} numbers", 3 * matrix.owned), load.size());
  for (std::int64_t n = 0; n < matrix.owned; ++n)
    for (std::int32_t at = matrix.row_begin[n]; at < matrix.row_begin[n + 1]; ++at) {
      const std::int64_t column = matrix.columns[at];
      for (std::int64_t a = 0; a < 3; ++a)
        for (std::int64_t c = 0; c < 3; ++c) {
          const auto i = static_cast<std::size_t>(3 * n + a), j = static_cast<std::size_t>(3 * column + c);
          double& entry = matrix.block(at)[3 * a + c];
          if (i == j) {
            if (!(entry > 0))
              return wrong_value(fmt::format("the diagonal of node {} must be positive", n), fmt::format("{}", entry));
            if (constraints.is_fixed[i]) load[i] = entry * constraints.values[i];
          } else if (constraints.is_fixed[i] || constraints.is_fixed[j]) {
            if (!constraints.is_fixed[i]) load[i] -= entry * constraints.values[j];
            entry = 0;
          }
        }
    }
  return Nothing{};
}

} // namespace kumihimo::fem
