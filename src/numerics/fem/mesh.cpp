#include "fem/mesh.hpp"

#include "base/hash.hpp"
#include "fem/shape.hpp"

#include <fmt/format.h>

namespace kumihimo::fem {
namespace {

// In [-1, 1).
double hashed(std::uint64_t key) { return static_cast<double>(mixed(0, key) >> 11) * 0x1p-52 - 1; }

void place_nodes(Mesh& mesh, double distortion, const std::vector<std::int32_t>& numbers) {
  const NodeGrid& grid = mesh.grid;
  std::size_t i = 0;
  for (std::int64_t z = 0; z < grid.extent[2]; ++z)
    for (std::int64_t y = 0; y < grid.extent[1]; ++y)
      for (std::int64_t x = 0; x < grid.extent[0]; ++x) {
        const Triple at{grid.begin[0] + x, grid.begin[1] + y, grid.begin[2] + z};
        bool inner = true;
        for (std::size_t a = 0; a < 3; ++a) inner = inner && at[a] > 0 && at[a] + 1 < grid.nodes[a];
        double* const point = mesh.coordinates.data() + 3 * numbers[i++];
        for (std::size_t a = 0; a < 3; ++a) {
          const auto key = static_cast<std::uint64_t>(3 * grid.global(at)) + a;
          const double moved = inner ? distortion * hashed(key) : 0;
          point[a] = (static_cast<double>(at[a]) + moved) / static_cast<double>(grid.nodes[a] - 1);
        }
      }
}

void connect(Mesh& mesh, const std::vector<std::int32_t>& numbers) {
  const NodeGrid& grid = mesh.grid;
  std::array<std::vector<std::int32_t>, colours> of_colour;
  std::int32_t e = 0;
  for (std::int64_t z = 0; z + 1 < grid.extent[2]; ++z)
    for (std::int64_t y = 0; y + 1 < grid.extent[1]; ++y)
      for (std::int64_t x = 0; x + 1 < grid.extent[0]; ++x) {
        for (std::int64_t c = 0; c < corners; ++c) {
          const std::int64_t at = x + (c & 1) + grid.extent[0] * (y + (c >> 1 & 1) + grid.extent[1] * (z + (c >> 2)));
          mesh.nodes[corners * e + c] = numbers[static_cast<std::size_t>(at)];
        }
        const std::int64_t gx = grid.begin[0] + x, gy = grid.begin[1] + y, gz = grid.begin[2] + z;
        of_colour[static_cast<std::size_t>((gx & 1) + 2 * (gy & 1) + 4 * (gz & 1))].push_back(e++);
        mesh.global_elements.push_back(gx + (grid.nodes[0] - 1) * (gy + (grid.nodes[1] - 1) * gz));
      }
  std::int64_t at = 0;
  for (std::size_t c = 0; c < colours; ++c) {
    mesh.colour_begin[c] = at;
    for (const std::int32_t element : of_colour[c]) mesh.by_colour[at++] = element;
  }
  mesh.colour_begin[colours] = at;
}

} // namespace

Status check_jacobians(const Mesh& mesh) {
  for (std::int64_t e = 0; e < mesh.element_count(); ++e) {
    double points[corners][3];
    gather_points(mesh.coordinates.data(), mesh.element(e), points);
    for (int g = 0; g < gauss_points; ++g) {
      double jacobian[3][3];
      jacobian_at(points, g, jacobian);
      const double det = determinant(jacobian);
      if (!(det > 0))
        return wrong_value(fmt::format("the Jacobian of element {} must be positive at Gauss point {}", e, g),
                           fmt::format("{:.3g}", det), "use less distortion, or number the corners x, y, z");
    }
  }
  return Nothing{};
}

Result<Mesh> make_mesh(const NodeGrid& grid, double distortion) {
  if (!(distortion >= 0 && distortion <= 0.25))
    return wrong_value("the distortion must be 0 to 0.25", fmt::format("{}", distortion));
  Mesh mesh;
  mesh.grid = grid;
  mesh.owned = grid.owned();
  mesh.coordinates = TRY(threads::ThreadedArray<double>::zeros(3 * grid.local()));
  mesh.nodes = TRY(threads::ThreadedArray<std::int32_t>::zeros(corners * grid.elements()));
  mesh.by_colour = TRY(threads::ThreadedArray<std::int32_t>::zeros(grid.elements()));
  mesh.global_elements.reserve(static_cast<std::size_t>(grid.elements()));
  const std::vector<std::int32_t> numbers = local_numbers(grid);
  place_nodes(mesh, distortion, numbers);
  connect(mesh, numbers);
  if (Status sound = check_jacobians(mesh); !sound) return sound.error();
  return mesh;
}

} // namespace kumihimo::fem
