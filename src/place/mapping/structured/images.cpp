#include "mapping/structured/images.hpp"

#include <algorithm>
#include <numeric>

namespace kumihimo::mapping {

std::vector<CoordinatesOfRanks> symmetric_images(const Box& box, const CoordinatesOfRanks& at, std::size_t most) {
  std::vector<CoordinatesOfRanks> images;
  if (!box.has_axes()) return {at};
  std::vector<std::size_t> order(box.axes.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<std::size_t>> orders;
  do {
    bool is_symmetry = true;
    for (std::size_t axis = 0; axis < order.size(); ++axis)
      is_symmetry &= box.axes[axis] == box.axes[order[axis]] && box.hops[axis] == box.hops[order[axis]];
    if (is_symmetry) orders.push_back(order);
  } while (orders.size() < most && std::next_permutation(order.begin(), order.end()));
  // Bit 2k: axis k is reflected; bit 2k + 1: it is shifted by one place. Orders first, then single reflections.
  std::vector<std::uint32_t> changes(std::size_t{1} << (2 * std::min<std::size_t>(box.axes.size(), 4)));
  std::iota(changes.begin(), changes.end(), 0U);
  std::stable_sort(changes.begin(), changes.end(),
                   [](std::uint32_t a, std::uint32_t b) { return __builtin_popcount(a) < __builtin_popcount(b); });
  for (const std::uint32_t change : changes)
    for (const std::vector<std::size_t>& of_axis : orders) {
      CoordinatesOfRanks image(at.size());
      bool is_new = true;
      for (std::size_t axis = 0; axis < image.size(); ++axis) {
        image[axis] = at[of_axis[axis]];
        if (axis >= 4) continue;
        const auto [length, wraps] = box.axes[axis];
        const bool is_reflected = (change >> (2 * axis) & 1) != 0, is_shifted = (change >> (2 * axis + 1) & 1) != 0;
        if (is_shifted && !(wraps && length > 2)) is_new = false;
        for (Coordinate& c : image[axis]) {
          if (is_reflected) c = length - 1 - c;
          if (is_shifted) c = c + 1 < length ? c + 1 : 0;
        }
      }
      if (is_new) images.push_back(std::move(image));
      if (images.size() >= most) return images;
    }
  return images;
}

} // namespace kumihimo::mapping
