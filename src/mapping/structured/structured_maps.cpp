#include "mapping/structured/structured_maps.hpp"

#include "mapping/objective/hop_bytes.hpp"
#include "mapping/objective/link_loads.hpp"
#include "mapping/structured/digit_search.hpp"
#include "mapping/structured/folds.hpp"
#include "mapping/structured/images.hpp"

#include <algorithm>
#include <numeric>

namespace kumihimo::mapping {
namespace {

constexpr std::size_t most_boxes = 4, most_maps = 12, most_folds = 24;
constexpr double share_looked_at = 0.95; // of bytes, while digits are searched

std::int64_t busiest(const Problem& problem, const Assignment& map) {
  const std::vector<std::int64_t> loads = link_loads(problem.traffic, problem.host, map);
  return loads.empty() ? 0 : *std::max_element(loads.begin(), loads.end());
}

// A source of digits: places of ranks in a shape.
struct Source {
  std::string name;
  const Lattice* lattice = nullptr;
  std::vector<std::int32_t> place_of_rank;
};

class Search {
 public:
  Search(const Problem& problem, std::span<const Lattice> lattices, std::int64_t terms, std::uint64_t seed,
         const Tools& tools)
      : problem_(problem), lattices_(lattices), terms_(terms), seed_(seed), tools_(tools) {}

  std::vector<NamedMap> run() {
    const std::vector<Box> boxes = boxes_of(problem_.host, problem_.graph.ranks(), most_boxes);
    if (boxes.empty() || problem_.graph.edges.empty()) return {};
    const std::vector<Pair> pairs = heavy_pairs(problem_.graph, share_looked_at);
    const std::vector<Source> sources = sources_of();
    for (const Box& box : boxes)
      for (const Source& source : sources)
        search(box, source, pairs, terms_ / static_cast<std::int64_t>(boxes.size() * sources.size()));
    return chosen();
  }

 private:
  struct Found {
    std::string name;
    Assignment map;
    std::int64_t hop_bytes = 0, busiest = 0;
  };

  std::vector<Source> sources_of() const {
    std::vector<Source> sources;
    for (const Lattice& lattice : lattices_)
      sources.push_back({"digits of " + lattice.name(), &lattice, lattice.place_of_rank});
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(problem_.graph.ranks()));
    std::iota(numbers.begin(), numbers.end(), 0);
    sources.push_back({"digits of ranks", nullptr, std::move(numbers)});
    return sources;
  }

  // Hop-bytes of the lattice on a network of its own shape. A map that reaches them lays neighbours side by side.
  std::int64_t own_hop_bytes(const Lattice& lattice, std::span<const Pair> pairs) const {
    std::int64_t sum = 0;
    for (std::int32_t axis = 0; axis < lattice.shape.dimensions(); ++axis) {
      const auto [length, wraps] = lattice.shape.axes()[static_cast<std::size_t>(axis)];
      for (const Pair& pair : pairs) {
        const std::int32_t step =
            std::abs(lattice.shape.coordinate(lattice.place_of_rank[static_cast<std::size_t>(pair.a)], axis) -
                     lattice.shape.coordinate(lattice.place_of_rank[static_cast<std::size_t>(pair.b)], axis));
        sum += pair.bytes * (wraps ? std::min(step, length - step) : step);
      }
    }
    return sum;
  }

  bool is_embedding(const Box& box, const Source& source, std::span<const Pair> pairs,
                    const CoordinatesOfRanks& at) const {
    return source.lattice && source.lattice->covered > 0.99 &&
           hop_bytes_in(problem_.host, box, pairs, at) <= own_hop_bytes(*source.lattice, pairs);
  }

  void search(const Box& box, const Source& source, std::span<const Pair> pairs, std::int64_t terms) {
    if (is_embedded_) return;
    const std::vector<DigitMove> moves = digit_moves(box);
    const DigitSearch digits(problem_, box, moves, pairs);
    std::vector<CoordinatesOfRanks> starts;
    if (source.lattice)
      starts = folds(box, source.lattice->shape, source.place_of_rank, pairs, most_folds, terms / 10, seed_, tools_);
    for (const CoordinatesOfRanks& start : starts)
      if (is_embedding(box, source, pairs, start)) {
        add(box, "embedding of " + source.lattice->name(), {0, start});
        is_embedded_ = true;
        return;
      }
    if (starts.empty()) starts.push_back(coordinates_in(box, source.place_of_rank));
    for (FoundMap& map : digits.search(starts, terms, seed_, most_maps, tools_)) add(box, source.name, map);
  }

  // Link loads take long.
  std::size_t images() const {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(600'000 / problem_.traffic.flows(), 1, 16));
  }

  void add(const Box& box, const std::string& name, const FoundMap& map) {
    Assignment assignment = assignment_in(box, problem_.host, map.at);
    const std::int64_t hops = hop_bytes(problem_.graph, problem_.host, assignment);
    Found best{name, std::move(assignment), hops, -1};
    for (const CoordinatesOfRanks& image : symmetric_images(box, map.at, images())) {
      Assignment other = assignment_in(box, problem_.host, image);
      const std::int64_t load = mapping::busiest(problem_, other);
      if (best.busiest < 0 || load < best.busiest) best.map = std::move(other), best.busiest = load;
    }
    found_.push_back(std::move(best));
  }

  std::vector<NamedMap> chosen() {
    std::stable_sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
      return a.hop_bytes != b.hop_bytes ? a.hop_bytes < b.hop_bytes : a.busiest < b.busiest;
    });
    std::vector<NamedMap> maps;
    for (Found& found : found_)
      if (maps.size() < most_maps) maps.push_back({std::move(found.name), std::move(found.map)});
    return maps;
  }

  const Problem& problem_;
  std::span<const Lattice> lattices_;
  std::int64_t terms_;
  std::uint64_t seed_;
  const Tools& tools_;
  std::vector<Found> found_;
  bool is_embedded_ = false;
};

} // namespace

std::vector<NamedMap> structured_maps(const Problem& problem, std::span<const Lattice> lattices, std::int64_t terms,
                                      std::uint64_t seed, const Tools& tools) {
  return Search(problem, lattices, terms, seed, tools).run();
}

} // namespace kumihimo::mapping
