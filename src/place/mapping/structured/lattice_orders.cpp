#include "mapping/structured/lattice_orders.hpp"

#include "base/hash.hpp"
#include "mapping/objective/hop_bytes.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace kumihimo::mapping {
namespace {

constexpr std::size_t most_kept = 3;
constexpr std::int64_t terms_of_rank = 8; // to build an order takes some 100 ns a rank, a term 4 to 8 ns

struct LatticeNumbering {
  std::vector<Axis> axes;
  std::vector<Coordinates> at; // of each rank

  Shape shape(std::span<const std::size_t> order_of_axes) const {
    std::vector<Axis> ordered;
    for (const std::size_t axis : order_of_axes) ordered.push_back(axes[axis]);
    return Shape(std::move(ordered));
  }
  std::vector<std::int32_t> row_major(std::span<const std::size_t> order_of_axes) const {
    std::vector<std::int32_t> numbers;
    numbers.reserve(at.size());
    for (const Coordinates& place : at) {
      std::int32_t number = 0;
      for (const std::size_t axis : order_of_axes) number = number * axes[axis].length + place[axis];
      numbers.push_back(number);
    }
    return numbers;
  }
};

LatticeNumbering numbering_of(const Lattice& lattice) {
  LatticeNumbering numbering;
  numbering.axes = lattice.shape.axes();
  for (const std::int32_t place : lattice.place_of_rank) numbering.at.push_back(lattice.shape.coordinates(place));
  return numbering;
}

// With two axes of length 2 as one ring of 4; none: there are no two.
std::optional<LatticeNumbering> with_ring_of_4(LatticeNumbering numbering) {
  auto& axes = numbering.axes;
  const auto is_two = [](const Axis& axis) { return axis.length == 2; };
  const auto first = std::find_if(axes.begin(), axes.end(), is_two);
  const auto second = first == axes.end() ? first : std::find_if(first + 1, axes.end(), is_two);
  if (second == axes.end()) return std::nullopt;
  const auto a = first - axes.begin(), b = second - axes.begin();
  for (Coordinates& at : numbering.at) {
    const std::int32_t along = at[static_cast<std::size_t>(b)];
    std::int32_t& ring = at[static_cast<std::size_t>(a)];
    ring = ring == 0 ? along : 3 - along;
    at.erase(at.begin() + b);
  }
  axes[static_cast<std::size_t>(a)] = {4, true};
  axes.erase(axes.begin() + b);
  return numbering;
}

// The best maps so far by hop-bytes, all different in them.
class Best {
 public:
  Best(const MappingProblem& problem, std::int64_t terms)
      : problem_(problem), terms_(terms), to_build_(terms_of_rank * problem.graph.ranks()),
        to_measure_(static_cast<std::int64_t>(problem.graph.edges.size())) {}

  bool goes_on() const { return terms_ >= to_build_ + to_measure_; }

  // Rank r takes the place of numbers[r].
  void add(std::string name, const std::vector<std::int32_t>& numbers, const Placement& placement) {
    terms_ -= to_build_;
    std::vector<std::int32_t> slots;
    slots.reserve(numbers.size());
    std::uint64_t hash = 0;
    for (const std::int32_t number : numbers) {
      slots.push_back(placement.index(Rank{number}));
      hash = mixed(hash, static_cast<std::uint64_t>(slots.back()));
    }
    if (!seen_.insert(hash).second) return;
    terms_ -= to_measure_;
    Assignment map = Assignment::of_slots(std::move(slots), problem_.host.size());
    const std::int64_t hops = hop_bytes(problem_.graph, problem_.host, map);
    const auto at = std::lower_bound(found_.begin(), found_.end(), hops,
                                     [](const auto& each, std::int64_t value) { return each.first < value; });
    if (at != found_.end() && at->first == hops) return;
    found_.insert(at, {hops, {std::move(name), std::move(map)}});
    if (found_.size() > most_kept) found_.pop_back();
  }

  std::vector<NamedMap> maps() && {
    std::vector<NamedMap> maps;
    for (auto& [hops, map] : found_) maps.push_back(std::move(map));
    return maps;
  }

 private:
  const MappingProblem& problem_;
  std::int64_t terms_, to_build_, to_measure_;
  std::unordered_set<std::uint64_t> seen_; // hashes of maps
  std::vector<std::pair<std::int64_t, NamedMap>> found_;
};

} // namespace

std::vector<NamedMap> lattice_orders(const MappingProblem& problem, std::span<const Lattice> lattices,
                                     OrderContext context, std::int64_t terms, const Tools& tools) {
  Best best(problem, terms);
  for (const Lattice& lattice : lattices) {
    std::vector<LatticeNumbering> numberings = {numbering_of(lattice)};
    while (auto merged = with_ring_of_4(numberings.back())) numberings.push_back(*std::move(merged));
    std::reverse(numberings.begin(), numberings.end()); // fewest axes first
    for (const LatticeNumbering& numbering : numberings) {
      std::vector<std::size_t> order_of_axes(numbering.axes.size());
      std::iota(order_of_axes.begin(), order_of_axes.end(), 0);
      do {
        context.grid = numbering.shape(order_of_axes);
        const std::vector<std::int32_t> numbers = numbering.row_major(order_of_axes);
        for (const std::string& order : names_of_orders(context)) { // block is the first
          if (!best.goes_on() || tools.stop()) return std::move(best).maps();
          if (const Result<Placement> placement = placement_in_order(order, context))
            best.add(order + " of " + lattice.name(), numbers, *placement);
        }
      } while (std::next_permutation(order_of_axes.begin(), order_of_axes.end()));
    }
  }
  return std::move(best).maps();
}

} // namespace kumihimo::mapping
