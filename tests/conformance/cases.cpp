#include "cases.hpp"

#include "collectives/named_neighbours.hpp"
#include "collectives/patterns/exchange_windows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace conformance {

using namespace kumihimo;

namespace {

// Ranks 0 .. 6 of three nodes that hold 3, 1 and 3 of them.
RankSpace unequal_nodes() {
  const std::vector<NodeId> node_of_rank = {NodeId{0}, NodeId{0}, NodeId{0}, NodeId{1},
                                            NodeId{2}, NodeId{2}, NodeId{2}};
  return RankSpace::recognise(*Shape::parse("3"), node_of_rank);
}

// The same nodes, whose ranks do not follow each other.
RankSpace mixed_nodes() {
  const std::vector<NodeId> node_of_rank = {NodeId{2}, NodeId{0}, NodeId{0}, NodeId{2},
                                            NodeId{1}, NodeId{0}, NodeId{2}};
  return RankSpace::recognise(*Shape::parse("3"), node_of_rank);
}

// The same in every run and on every machine.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return h;
}

class Sampler {
 public:
  Sampler(const Variant& variant, const Place& place)
      : variant_(variant), place_(place),
        random_(hash_of(std::string(name_of(variant.kind)) + variant.name + place.name)) {}

  Case draw(std::int64_t count) {
    Case c;
    Collective& collective = c.problem.collective;
    collective = make_collective(variant_.kind, place_.space.ranks(), count);
    if (collective.neighbours) collective = *with_neighbours(collective, neighbours());
    const auto root = static_cast<std::int32_t>(below(static_cast<std::uint64_t>(collective.ranks)));
    if (collective.has_root()) collective.root = Rank{root};
    collective.in_place |= below(3) == 0 && !collective.neighbours;
    const auto& all = all_arithmetic();
    c.problem.arithmetic = all[below(4) == 0 ? 2 : below(all.size())];
    c.problem.arithmetic.apply_to(collective);
    c.problem.seed = below(1'000'000);
    for (const Variant::Parameter& p : variant_.parameters) choose(*p.parameter, collective, c.parameters);
    if (c.parameters.send_window && c.parameters.receive_window) c.parameters.throttle.reset(); // all three are refused
    return c;
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  // Of the ranks' own shape, of other axes, of none.
  std::shared_ptr<const Neighbourhood> neighbours() {
    const std::int32_t ranks = place_.space.ranks();
    const std::uint64_t dice = below(5);
    std::string name = fmt::format("random:{}", below(1000));
    if (dice < 2 && place_.space.has_shape()) name = "cart:" + place_.space.shape().text();
    if (dice == 2) name = fmt::format("cart:1x{}mx1m", ranks);
    if (dice == 3) name = ranks % 2 == 0 ? fmt::format("cart:{}mx2", ranks / 2) : fmt::format("cart:1x{}", ranks);
    return *named_neighbours(name, ranks);
  }

  // Every other time the default.
  void choose(const ParameterDeclaration& declared, const Collective& collective, Parameters& p) {
    if (&declared == &parameter::segment_bytes) return choose_segments(collective, p);
    const bool graph = collective.neighbours && !collective.neighbours->is_cartesian();
    const bool of_windows = std::ranges::any_of(
        window_parameters(), [&](const Variant::Parameter& window) { return window.parameter == &declared; });
    if (below(2) == 0 || (of_windows && graph)) return;
    const auto all = Registry::standard().variants(collective.kind);
    if (const auto* number = std::get_if<ParameterDeclaration::Number>(&declared.value))
      p.** number = std::min(declared.min + static_cast<std::int64_t>(below(6)), declared.max);
    else if (const auto* choice = std::get_if<ParameterDeclaration::Choice>(&declared.value))
      p.** choice = &declared == &parameter::inner ? "linear" : all[below(all.size())]->name;
    else if (const auto* flag = std::get_if<ParameterDeclaration::Flag>(&declared.value))
      p.** flag = below(2) == 0;
  }

  void choose_segments(const Collective& collective, Parameters& p) {
    const std::uint64_t dice = below(6);
    const std::int64_t most = collective.kind->is_vector() ? 40 : 6;
    if (dice < 2)
      p.segments = 1 + static_cast<std::int64_t>(below(
                           static_cast<std::uint64_t>(std::clamp<std::int64_t>(collective.counts.each, 1, most))));
    if (dice == 2) p.segment_bytes = collective.type_bytes << below(6);
    if (dice == 3) p.default_segment_bytes = 64;
  }

  const Variant& variant_;
  const Place& place_;
  std::mt19937_64 random_;
};

} // namespace

const std::vector<Place>& all_places() {
  static const std::vector<Place> places = [] {
    std::vector<Place> all;
    for (const char* shape :
         {"1",     "2",     "3",     "4",       "5",       "8",       "2x2", "3x2",   "4x3",  "1x5",    "5x5",  "2x2x2",
          "3x1x4", "4x3x2", "3x3x3", "2x2x2x2", "3x2x1x2", "3x2x3x2", "4m",  "2mx3m", "3mx4", "3x4mx2", "5mx3m"})
      all.push_back({shape, RankSpace::box(*Shape::parse(shape))});
    for (const std::int32_t ranks : {2, 3, 6, 7, 12, 17})
      all.push_back({fmt::format("row {}", ranks), RankSpace::row(ranks)});
    all.push_back({"2x2 x 2 ranks", RankSpace::box(*Shape::parse("2x2"), 2)});
    all.push_back({"nodes of 3, 1 and 3 ranks", unequal_nodes()});
    all.push_back({"3x2m x 3 ranks", RankSpace::box(*Shape::parse("3x2m"), 3)});
    all.push_back({"nodes of mixed ranks", mixed_nodes()});
    for (const std::int32_t ranks : {4, 7}) all.push_back({fmt::format("node {}", ranks), RankSpace::node(ranks)});
    all.push_back({"fat tree, 7 nodes", RankSpace::on_switches(7, 1, {{"switch", 3}})});
    all.push_back({"fat tree, 5 nodes x 2 ranks", RankSpace::on_switches(5, 2, {{"switch", 2}})});
    all.push_back({"dragonfly, 9 nodes", RankSpace::on_switches(9, 1, {{"group", 4}, {"switch", 2}})});
    all.push_back({"dragonfly+, 3 nodes x 3 ranks", RankSpace::on_switches(3, 3, {{"group", 2}})});
    all.push_back({"node of 6 ranks in packages of 3", RankSpace::node(6, {{"package", 3}})});
    return all;
  }();
  return places;
}

std::string Case::name() const {
  const Collective& c = problem.collective;
  std::string given;
  for (const ParameterDeclaration& q : declared_parameters)
    if (q.is_given(parameters)) given += " " + q.text(parameters);
  const std::string neighbours = c.neighbours ? ", neighbours " + c.neighbours->name() : "";
  return fmt::format("{}{} elements, {}, root {}{}{} default_segment_bytes={} seed={}",
                     spread.empty() ? "" : spread + " about ", c.counts.each, problem.arithmetic.name(), c.root.value,
                     c.in_place ? ", in place" : neighbours, given, parameters.default_segment_bytes, problem.seed);
}

std::vector<Case> cases(const Variant& variant, const Place& place) {
  Sampler sampler(variant, place);
  const std::int64_t ranks = place.space.ranks();
  std::vector<Case> all;
  // Of a vector, or of each rank's block.
  const std::vector<std::int64_t> counts = variant.kind->is_vector()
                                               ? std::vector<std::int64_t>{0, 1, ranks - 1, ranks, 61, 1009}
                                               : std::vector<std::int64_t>{0, 1, 2, 7, 61};
  for (const std::int64_t count : counts) all.push_back(sampler.draw(count));
  if (variant.kind->irregular == Counts::Known::uniform) return all;
  for (const char* spread : {"zeros", "one_huge", "ramp", "random:1", "random:2"}) {
    Case c = sampler.draw(7);
    c.spread = spread;
    Collective& collective = c.problem.collective;
    collective = *with_counts(collective, *spread_counts(spread, collective));
    if (c.parameters.segment_bytes && collective.counts.known != Counts::Known::global)
      c.parameters.segment_bytes.reset();
    all.push_back(c);
  }
  return all;
}

} // namespace conformance
