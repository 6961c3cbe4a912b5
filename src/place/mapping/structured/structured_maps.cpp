#include "mapping/structured/structured_maps.hpp"

#include "mapping/objective/hop_bytes.hpp"
#include "mapping/objective/link_loads.hpp"
#include "mapping/structured/digit_search.hpp"
#include "mapping/structured/folds.hpp"
#include "mapping/structured/images.hpp"
#include "mapping/structured/jagged_maps.hpp"
#include "mapping/structured/orbits.hpp"

#include <algorithm>
#include <numeric>

namespace kumihimo::mapping {
namespace {

constexpr std::size_t most_boxes = 4, most_maps = 12, most_starts = 24;
constexpr std::int64_t route_terms = 16; // what the route of a flow costs, in terms

std::int64_t busiest_load(const MappingProblem& problem, const Assignment& map) {
  const std::vector<std::int64_t> loads = link_loads(problem.traffic, problem.host, map);
  return loads.empty() ? 0 : *std::max_element(loads.begin(), loads.end());
}

// A source of digits: places of ranks in a shape.
struct DigitSource {
  std::string name;
  const Lattice* lattice = nullptr;
  Shape shape;
  std::vector<std::int32_t> place_of_rank;
  std::int64_t terms = 0; // share of the search
};

// Whether rank numbers say who talks to whom: few differences (or exclusive ors) of partners' numbers carry most bytes.
bool have_pattern(std::span<const WeighedPair> pairs, std::int32_t ranks) {
  const auto is_few = [&](auto key) {
    std::vector<std::int64_t> bytes(std::size_t{2} * static_cast<std::size_t>(ranks) + 2, 0);
    std::int64_t all = 0;
    for (const WeighedPair& pair : pairs) {
      bytes[static_cast<std::size_t>(key(pair))] += pair.bytes, all += pair.bytes;
    }
    std::sort(bytes.begin(), bytes.end(), std::greater<>());
    const auto few = static_cast<std::ptrdiff_t>(std::max(64, ranks / 32));
    const auto end = bytes.begin() + std::min(few, static_cast<std::ptrdiff_t>(bytes.size()));
    return std::accumulate(bytes.begin(), end, std::int64_t{0}) >= all - all / 10;
  };
  return is_few([](const WeighedPair& pair) { return pair.b - pair.a; }) ||
         is_few([](const WeighedPair& pair) { return pair.a ^ pair.b; });
}

// Pairs that the search of digits looks at. Light ones are left out where that leaves out many.
std::vector<WeighedPair> pairs_to_search(const TrafficGraph& graph) {
  std::vector<WeighedPair> most = heavy_pairs(graph, 0.95), nearly_all = heavy_pairs(graph, 0.99);
  return 2 * nearly_all.size() <= 3 * most.size() ? nearly_all : most;
}

class StructuredSearch {
 public:
  StructuredSearch(const MappingProblem& problem, std::span<const Lattice> lattices, std::int64_t terms,
                   std::uint64_t seed, const Tools& tools)
      : problem_(problem), lattices_(lattices), terms_(terms), seed_(seed), tools_(tools),
        pairs_(pairs_to_search(problem.graph)) {}

  std::vector<NamedMap> run() {
    const std::vector<DigitSource> sources = sources_of();
    if (sources.empty() || pairs_.empty()) return {};
    const std::vector<Box> boxes = boxes_of(problem_.host, problem_.graph.ranks(), most_boxes, tools_);
    for (const Box& box : boxes)
      for (const DigitSource& source : sources)
        if (!is_embedded_) search(box, source, source.terms / static_cast<std::int64_t>(boxes.size()));
    if (boxes.empty())
      for (const DigitSource& source : sources) fit(source);
    return chosen();
  }

 private:
  struct Found {
    std::string name;
    Assignment map;
    std::int64_t hop_bytes = 0, busiest = 0;
  };

  std::vector<DigitSource> sources_of() const {
    std::vector<DigitSource> sources;
    for (const Lattice& lattice : lattices_)
      sources.push_back({lattice.name(), &lattice, lattice.shape, lattice.place_of_rank,
                         terms_ * 9 / 10 / static_cast<std::int64_t>(lattices_.size())});
    if (!have_pattern(pairs_, problem_.graph.ranks())) return sources;
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(problem_.graph.ranks()));
    std::iota(numbers.begin(), numbers.end(), 0);
    sources.push_back({"digits of ranks", nullptr, Shape({{problem_.graph.ranks(), false}}), std::move(numbers),
                       sources.empty() ? terms_ : terms_ / 10});
    return sources;
  }

  // Hop-bytes of the lattice on a network of its own shape. A map that reaches them lays neighbours side by side.
  std::int64_t own_hop_bytes(const Lattice& lattice) const {
    std::int64_t sum = 0;
    for (std::int32_t axis = 0; axis < lattice.shape.dimensions(); ++axis) {
      const auto [length, wraps] = lattice.shape.axes()[static_cast<std::size_t>(axis)];
      for (const WeighedPair& pair : pairs_) {
        const std::int32_t step =
            std::abs(lattice.shape.coordinate(lattice.place_of_rank[static_cast<std::size_t>(pair.a)], axis) -
                     lattice.shape.coordinate(lattice.place_of_rank[static_cast<std::size_t>(pair.b)], axis));
        sum += pair.bytes * (wraps ? std::min(step, length - step) : step);
      }
    }
    return sum;
  }

  bool is_embedding(const Box& box, const DigitSource& source, const CoordinatesOfRanks& at) const {
    return source.lattice && source.lattice->covered > 0.99 &&
           hop_bytes_in(problem_.host, box, pairs_, at) <= own_hop_bytes(*source.lattice);
  }

  void embed(const Box& box, const DigitSource& source, std::span<const CoordinatesOfRanks> starts) {
    for (const CoordinatesOfRanks& start : starts)
      if (is_embedding(box, source, start)) {
        add(source.name + ", embedded", assignment_in(box, problem_.host, start));
        is_embedded_ = true;
        return;
      }
  }

  // Embeddings, folds and digit maps into a box of as many places as ranks.
  void search(const Box& box, const DigitSource& source, std::int64_t terms) {
    std::vector<CoordinatesOfRanks> starts;
    // The simplest folds first: they are enough where the lattice fits.
    for (const std::int64_t looked_at : {terms / 400, terms / 10}) {
      if (!source.lattice || is_embedded_) break;
      starts = folds(box, source.shape, source.place_of_rank, pairs_, most_starts, looked_at, seed_, tools_);
      embed(box, source, starts);
    }
    if (is_embedded_) return;
    for (std::size_t start = 0; start < std::min<std::size_t>(2, starts.size()); ++start)
      add(source.name + ", folded", assignment_in(box, problem_.host, starts[start]));
    if (starts.empty()) starts.push_back(coordinates_in(box, source.place_of_rank));
    const std::vector<DigitMove> moves = digit_moves(box);
    const DigitSearch digits(problem_, box, moves, pairs_);
    std::vector<FoundMap> maps = digits.search(starts, terms * 8 / 10, seed_, most_maps, tools_);
    // The best ones again, with all pairs.
    const std::vector<WeighedPair> all = heavy_pairs(problem_.graph, 2);
    if (all.size() > pairs_.size()) {
      std::vector<CoordinatesOfRanks> best;
      for (std::size_t at = 0; at < std::min<std::size_t>(8, maps.size()); ++at) best.push_back(maps[at].at);
      for (FoundMap& map : DigitSearch(problem_, box, moves, all).search(best, terms / 10, seed_, most_maps, tools_))
        maps.push_back(std::move(map));
    }
    for (const FoundMap& map : maps)
      add(source.lattice ? source.name + ", folded by digits" : source.name, assignment_in(box, problem_.host, map.at));
  }

  // Where no box of the host has as many places as ranks.
  void fit(const DigitSource& source) {
    if (source.lattice)
      for (NamedMap& map : orbit_maps(problem_, *source.lattice, source.terms / 2, seed_, tools_))
        add(std::move(map.name), std::move(map.map));
    else if (!lattices_.empty())
      return;
    for (JaggedMap& map :
         jagged_maps(problem_, source.shape, source.place_of_rank, source.terms / 2, seed_, most_maps, tools_))
      add(source.name + ", in jagged cuts", std::move(map.map));
  }

  void add(std::string name, Assignment map) {
    const std::int64_t hops = hop_bytes(problem_.graph, problem_.host, map);
    found_.push_back({std::move(name), std::move(map), hops, 0});
  }

  // Takes the symmetric image whose busiest link carries least. Routes of all flows take long: `images` of them.
  void cool(Found& found, const Box& host, std::size_t images) const {
    found.busiest = busiest_load(problem_, found.map);
    if (images < 2 || host.places() == 0) return;
    std::vector<std::int32_t> places(static_cast<std::size_t>(found.map.slots()));
    for (std::size_t place = 0; place < host.slot_of_place.size(); ++place)
      places[static_cast<std::size_t>(host.slot_of_place[place])] = static_cast<std::int32_t>(place);
    std::vector<std::int32_t> place_of_rank;
    for (const std::int32_t slot : found.map.slot_of_rank())
      place_of_rank.push_back(places[static_cast<std::size_t>(slot)]);
    for (const CoordinatesOfRanks& image : symmetric_images(host, coordinates_in(host, place_of_rank), images)) {
      Assignment map = assignment_in(host, problem_.host, image);
      const std::int64_t load = busiest_load(problem_, map);
      if (load < found.busiest) found.map = std::move(map), found.busiest = load;
    }
  }

  // The best maps; the last ones are those that load no link more than the usual order does.
  std::vector<NamedMap> chosen() {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Found& a, const Found& b) { return a.hop_bytes < b.hop_bytes; });
    std::vector<Found> kept;
    for (Found& found : found_)
      if (kept.size() < 2 * most_maps &&
          std::none_of(kept.begin(), kept.end(), [&](const Found& k) { return k.map == found.map; }))
        kept.push_back(std::move(found));
    const std::vector<Box> host = problem_.host.metric.has_axes() && problem_.host.slots.are_even()
                                      ? boxes_of(problem_.host, problem_.host.size(), 1, tools_)
                                      : std::vector<Box>{};
    const std::int64_t routes = std::max<std::int64_t>(problem_.traffic.flows() * route_terms, 1);
    const auto affordable = static_cast<std::size_t>(terms_ / 10 / routes);
    if (affordable == 0 || tools_.stop()) return named(std::move(kept));
    const std::size_t images = std::clamp<std::size_t>(affordable / std::max<std::size_t>(kept.size(), 1), 1, 16);
    kept.resize(std::min(kept.size(), affordable));
    tools_.parallel(static_cast<int>(kept.size()), [&](int at) {
      cool(kept[static_cast<std::size_t>(at)], host.empty() ? Box{} : host.front(), is_embedded_ ? 1 : images);
    });
    const std::int64_t usual =
        busiest_load(problem_, Assignment::identity(problem_.graph.ranks(), problem_.host.size()));
    std::stable_sort(kept.begin(), kept.end(), [](const Found& a, const Found& b) {
      return a.hop_bytes != b.hop_bytes ? a.hop_bytes < b.hop_bytes : a.busiest < b.busiest;
    });
    std::vector<Found> best, cool;
    for (Found& found : kept) {
      if (best.size() < most_maps * 2 / 3)
        best.push_back(std::move(found));
      else if (found.busiest <= usual && cool.size() < most_maps / 3)
        cool.push_back(std::move(found));
    }
    for (Found& found : cool) best.push_back(std::move(found));
    return named(std::move(best));
  }

  static std::vector<NamedMap> named(std::vector<Found> found) {
    std::vector<NamedMap> maps;
    for (Found& map : found)
      if (maps.size() < most_maps) maps.push_back({std::move(map.name), std::move(map.map)});
    return maps;
  }

  const MappingProblem& problem_;
  std::span<const Lattice> lattices_;
  std::int64_t terms_;
  std::uint64_t seed_;
  const Tools& tools_;
  std::vector<WeighedPair> pairs_;
  std::vector<Found> found_;
  bool is_embedded_ = false;
};

} // namespace

std::vector<NamedMap> structured_maps(const MappingProblem& problem, std::span<const Lattice> lattices,
                                      std::int64_t terms, std::uint64_t seed, const Tools& tools) {
  return StructuredSearch(problem, lattices, terms, seed, tools).run();
}

} // namespace kumihimo::mapping
