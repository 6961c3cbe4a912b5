#include "mapping/structured/lattice_orders.hpp"

#include "mapping/objective/hop_bytes.hpp"

#include <algorithm>
#include <numeric>

namespace kumihimo::mapping {
namespace {

constexpr std::size_t most_kept = 3;

struct Numbering { // coordinates of ranks
  std::vector<std::int32_t> lengths;
  std::vector<Coordinates> at;
};

Numbering numbering_of(const Lattice& lattice) {
  Numbering numbering;
  for (const Axis& axis : lattice.shape.axes()) numbering.lengths.push_back(axis.length);
  for (const std::int32_t place : lattice.place_of_rank) numbering.at.push_back(lattice.shape.coordinates(place));
  return numbering;
}

// With two axes of length 2 as one ring of 4; none: there are no two.
std::optional<Numbering> with_ring_of_4(Numbering numbering) {
  auto& lengths = numbering.lengths;
  const auto first = std::find(lengths.begin(), lengths.end(), 2);
  const auto second = first == lengths.end() ? first : std::find(first + 1, lengths.end(), 2);
  if (second == lengths.end()) return std::nullopt;
  const auto a = first - lengths.begin(), b = second - lengths.begin();
  for (Coordinates& at : numbering.at) {
    const std::int32_t along = at[static_cast<std::size_t>(b)];
    std::int32_t& ring = at[static_cast<std::size_t>(a)];
    ring = ring == 0 ? along : 3 - along;
    at.erase(at.begin() + b);
  }
  lengths[static_cast<std::size_t>(a)] = 4;
  lengths.erase(lengths.begin() + b);
  return numbering;
}

std::vector<std::int32_t> row_major(const Numbering& numbering, std::span<const std::size_t> axes) {
  std::vector<std::int32_t> numbers;
  numbers.reserve(numbering.at.size());
  for (const Coordinates& at : numbering.at) {
    std::int32_t number = 0;
    for (const std::size_t axis : axes) number = number * numbering.lengths[axis] + at[axis];
    numbers.push_back(number);
  }
  return numbers;
}

} // namespace

std::vector<NamedMap> lattice_orders(const Problem& problem, std::span<const Lattice> lattices,
                                     std::span<const NamedMap> orders, std::int64_t terms, const Tools& tools) {
  std::vector<std::pair<std::int64_t, NamedMap>> found;
  const std::int64_t cost = static_cast<std::int64_t>(problem.graph.edges.size()) + problem.graph.ranks();
  for (const Lattice& lattice : lattices) {
    std::vector<Numbering> numberings = {numbering_of(lattice)};
    while (auto merged = with_ring_of_4(numberings.back())) numberings.push_back(*std::move(merged));
    std::reverse(numberings.begin(), numberings.end()); // fewest axes first
    for (const Numbering& numbering : numberings) {
      std::vector<std::size_t> axes(numbering.lengths.size());
      std::iota(axes.begin(), axes.end(), 0);
      do {
        const std::vector<std::int32_t> numbers = row_major(numbering, axes);
        for (const NamedMap& order : orders) {
          if ((terms -= cost) < 0 || tools.stop()) break;
          std::vector<std::int32_t> slots;
          slots.reserve(numbers.size());
          for (const std::int32_t number : numbers) slots.push_back(order.map.slot(number));
          Assignment map = Assignment::of_slots(std::move(slots), problem.host.size());
          const std::int64_t hops = hop_bytes(problem.graph, problem.host, map);
          if (found.size() == most_kept && hops >= found.back().first) continue;
          const auto is_equal = [&](const auto& each) { return each.first == hops; };
          if (std::any_of(found.begin(), found.end(), is_equal)) continue;
          found.emplace_back(hops, NamedMap{order.name + " of " + lattice.name(), std::move(map)});
          std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
          found.resize(std::min(found.size(), most_kept));
        }
      } while (terms > 0 && !tools.stop() && std::next_permutation(axes.begin(), axes.end()));
    }
  }
  std::vector<NamedMap> maps;
  for (auto& [hops, map] : found) maps.push_back(std::move(map));
  return maps;
}

} // namespace kumihimo::mapping
