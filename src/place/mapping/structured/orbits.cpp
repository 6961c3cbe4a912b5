#include "mapping/structured/orbits.hpp"

#include "mapping/objective/hop_bytes.hpp"
#include "mapping/structured/jagged_maps.hpp"
#include "topology/torus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace kumihimo::mapping {
namespace {

constexpr std::int32_t most_cells = 2048;
constexpr std::size_t most_translations = 3;
constexpr int orbit_chains = 4;
constexpr double hot = 1.2, cold = 0.1; // temperatures, in hops of a typical message

// `steps` along an axis of the lattice are `shift` along an axis of the host. An orbit has `length` ranks.
struct Translation {
  std::size_t axis = 0, host_axis = 0;
  std::int32_t steps = 1, length = 1, shift = 1;
  bool turns = true; // round both rings
};

std::vector<Translation> translations(const Lattice& lattice, const MappingHost& host) {
  std::vector<Translation> found;
  const std::int32_t ranks = lattice.shape.places();
  for (std::size_t axis = 0; axis < lattice.shape.axes().size(); ++axis)
    for (std::size_t on = 0; on < host.metric.axes().axes().size(); ++on) {
      const auto [length, wraps] = lattice.shape.axes()[axis];
      const auto [host_length, host_wraps] = host.metric.axes().axes()[on];
      for (std::int32_t steps = 1; steps <= 4 && length / steps >= 3; ++steps) {
        if (length % steps != 0) continue;
        const std::int32_t orbit = length / steps, shift = host_length / orbit;
        const bool turns = wraps && host_wraps && shift * orbit == host_length;
        if (shift < 1 || (wraps && !turns)) continue;
        const std::int32_t cells = host.size() / host_length * shift;
        if (cells >= ranks / orbit && cells <= most_cells) found.push_back({axis, on, steps, orbit, shift, turns});
      }
    }
  return found;
}

// The lattice's place without the translated axis but for the ranks between two steps of it.
class TranslationOrbits {
 public:
  struct Partner {
    std::int32_t orbit = 0, phase = 0; // of a rank whose partner has phase 0
    std::int64_t bytes = 0;            // of all ranks of the orbit
  };

  TranslationOrbits(const MappingProblem& problem, const Lattice& lattice, const Translation& translation)
      : translation_(translation) {
    std::vector<Axis> axes = lattice.shape.axes();
    axes[translation.axis] = {translation.steps, false};
    shape_ = Shape(axes);
    for (const std::int32_t place : lattice.place_of_rank) {
      Coordinates at = lattice.shape.coordinates(place);
      phase_.push_back(at[translation.axis] / translation.steps);
      at[translation.axis] %= translation.steps;
      orbit_.push_back(shape_.place(at));
    }
    find_partners(problem.graph);
  }

  const Shape& shape() const { return shape_; } // of the orbits
  std::int32_t count() const { return shape_.places(); }
  std::int32_t orbit(std::size_t rank) const { return orbit_[rank]; }
  std::int32_t phase(std::size_t rank) const { return phase_[rank]; }
  std::span<const Partner> of(std::int32_t orbit) const { return partners_[static_cast<std::size_t>(orbit)]; }

 private:
  void find_partners(const TrafficGraph& graph) {
    partners_.resize(static_cast<std::size_t>(count()));
    for (std::size_t rank = 0; rank < orbit_.size(); ++rank)
      for (const TrafficGraph::Edge& edge : graph.of(static_cast<std::int32_t>(rank))) {
        const auto other = static_cast<std::size_t>(edge.to);
        if (orbit_[rank] == orbit_[other]) continue; // their distance is that of the translation
        std::int32_t phase = phase_[other] - phase_[rank];
        if (translation_.turns) phase = (phase + translation_.length) % translation_.length;
        partners_[static_cast<std::size_t>(orbit_[rank])].push_back({orbit_[other], phase, edge.bytes});
      }
    for (std::vector<Partner>& partners : partners_) {
      std::sort(partners.begin(), partners.end(), [](const Partner& a, const Partner& b) {
        return a.orbit != b.orbit ? a.orbit < b.orbit : a.phase < b.phase;
      });
      std::size_t kept = 0;
      for (const Partner& partner : partners)
        if (kept > 0 && partners[kept - 1].orbit == partner.orbit && partners[kept - 1].phase == partner.phase)
          partners[kept - 1].bytes += partner.bytes;
        else
          partners[kept++] = partner;
      partners.resize(kept);
    }
  }

  Translation translation_;
  Shape shape_;
  std::vector<std::int32_t> orbit_, phase_;
  std::vector<std::vector<Partner>> partners_;
};

// Cells in which orbits are placed: the slots of the host's first `shift` planes along the axis. A cell stands for all
// slots that are multiples of the shift away.
class Cells {
 public:
  Cells(const MappingHost& host, const Translation& translation)
      : host_(&host), axis_(static_cast<std::int32_t>(translation.host_axis)), translation_(translation) {
    for (std::int32_t slot = 0; slot < host.size(); ++slot)
      if (host.metric.coordinate(host.node(slot), axis_) < translation.shift) slots_.push_back(slot);
    const auto axes = static_cast<std::size_t>(host.metric.axes().dimensions());
    distance_.resize(slots_.size() * slots_.size(), 0);
    for (std::size_t a = 0; a < slots_.size(); ++a) {
      offset_.push_back(host.metric.coordinate(host.node(slots_[a]), axis_));
      for (std::size_t b = 0; b < slots_.size(); ++b)
        for (std::size_t axis = 0; axis < axes; ++axis)
          if (static_cast<std::int32_t>(axis) != axis_)
            distance_[a * slots_.size() + b] += static_cast<std::uint16_t>(
                host.metric.along(static_cast<std::int32_t>(axis),
                                  host.metric.coordinate(host.node(slots_[a]), static_cast<std::int32_t>(axis)),
                                  host.metric.coordinate(host.node(slots_[b]), static_cast<std::int32_t>(axis))));
    }
    const std::int32_t length = host.metric.axes().length(axis_);
    const bool wraps = host.metric.axes().axes()[translation.host_axis].wraps;
    for (std::int32_t apart = 0; apart < length; ++apart)
      along_.push_back(wraps ? std::min(apart, length - apart) : apart);
    find_neighbours();
  }

  std::int32_t count() const { return static_cast<std::int32_t>(slots_.size()); }
  // Cells one hop apart, the cell itself where the hop leads to another phase.
  struct Neighbour {
    std::int32_t cell = 0, phase = 0;
  };
  std::span<const Neighbour> neighbours(std::int32_t cell) const { return neighbours_[static_cast<std::size_t>(cell)]; }

  std::int32_t hops(std::int32_t a, std::int32_t b, std::int32_t phases) const {
    const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
    std::int32_t apart = offset_[j] - offset_[i] + phases * translation_.shift;
    const auto length = static_cast<std::int32_t>(along_.size());
    if (translation_.turns) {
      apart %= length;
      if (apart < 0) apart += length;
    } else {
      apart = std::min(std::abs(apart), length - 1);
    }
    return distance_[i * slots_.size() + j] + along_[static_cast<std::size_t>(apart)];
  }

  std::int32_t slot(std::int32_t cell, std::int32_t phase) const {
    const Slot slot = host_->slots.at(slots_[static_cast<std::size_t>(cell)]);
    Coordinates at;
    for (std::int32_t axis = 0; axis < host_->metric.axes().dimensions(); ++axis)
      at.push_back(host_->metric.coordinate(slot.node.value, axis));
    at[static_cast<std::size_t>(axis_)] += phase * translation_.shift;
    return host_->slots.index({NodeId{host_->metric.node_at(at)}, slot.number});
  }

 private:
  void find_neighbours() {
    neighbours_.resize(slots_.size());
    for (std::int32_t a = 0; a < count(); ++a)
      for (std::int32_t b = 0; b < count(); ++b)
        for (const std::int32_t phase : {0, 1, -1})
          if ((phase == 0 || translation_.turns) && (a != b || phase != 0) && hops(a, b, phase) <= 1)
            neighbours_[static_cast<std::size_t>(a)].push_back({b, phase});
  }

  const MappingHost* host_;
  std::int32_t axis_;
  Translation translation_;
  std::vector<std::int32_t> slots_, offset_, along_;
  std::vector<std::uint16_t> distance_; // of all axes but the translation's
  std::vector<std::vector<Neighbour>> neighbours_;
};

// Which cell and phase each orbit has; another orbit or nothing may be in a cell.
struct Arrangement {
  std::vector<std::int32_t> cell, phase, orbit_in;
  std::int64_t hop_bytes = 0; // between different orbits
};

class OrbitAnnealing {
 public:
  OrbitAnnealing(const TranslationOrbits& orbits, const Cells& cells, const Translation& translation)
      : orbits_(orbits), cells_(cells), length_(translation.length), turns_(translation.turns) {
    double bytes = 0, squares = 0;
    for (std::int32_t orbit = 0; orbit < orbits.count(); ++orbit)
      for (const TranslationOrbits::Partner& partner : orbits.of(orbit)) {
        bytes += static_cast<double>(partner.bytes);
        squares += static_cast<double>(partner.bytes) * static_cast<double>(partner.bytes);
        ++partners_;
      }
    typical_ = bytes > 0 ? squares / bytes : 1;
  }

  std::int64_t measured(const Arrangement& now) const {
    std::int64_t sum = 0;
    for (std::int32_t orbit = 0; orbit < orbits_.count(); ++orbit)
      sum += cost(now, orbit, now.cell[static_cast<std::size_t>(orbit)], now.phase[static_cast<std::size_t>(orbit)], -1,
                  0, 0);
    return sum / 2;
  }

  Arrangement run(Arrangement now, std::int64_t terms, std::uint64_t seed, const Tools& tools) const {
    Random random(seed);
    Arrangement best = now;
    const std::int64_t a_step = 4 * partners_ / std::max(1, orbits_.count()) + 1, steps = terms / a_step;
    double temperature = 0;
    for (std::int64_t step = 0; step < steps; ++step) {
      if (step % 256 == 0) {
        if (tools.stop()) break;
        const double left = 1 - static_cast<double>(step) / static_cast<double>(steps);
        temperature = typical_ * (cold + (hot - cold) * left * left);
      }
      propose(now, temperature, random);
      if (now.hop_bytes < best.hop_bytes) best = now;
    }
    return best;
  }

 private:
  // Cost of one orbit at a cell, if `other` were elsewhere.
  std::int64_t cost(const Arrangement& now, std::int32_t orbit, std::int32_t cell, std::int32_t phase,
                    std::int32_t other, std::int32_t other_cell, std::int32_t other_phase) const {
    std::int64_t sum = 0;
    for (const TranslationOrbits::Partner& partner : orbits_.of(orbit)) {
      const bool is_other = partner.orbit == other;
      const std::int32_t to = is_other ? other_cell : now.cell[static_cast<std::size_t>(partner.orbit)];
      const std::int32_t to_phase = is_other ? other_phase : now.phase[static_cast<std::size_t>(partner.orbit)];
      sum += partner.bytes * cells_.hops(cell, to, partner.phase + to_phase - phase);
    }
    return sum;
  }

  void propose(Arrangement& now, double temperature, Random& random) const {
    const auto orbit = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(orbits_.count())));
    const auto o = static_cast<std::size_t>(orbit);
    std::int32_t cell = 0, phase = 0;
    if (const auto partners = orbits_.of(orbit); partners.empty() || random.below(10) == 0) {
      cell = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(cells_.count())));
      phase = now.phase[o];
    } else {
      const TranslationOrbits::Partner& partner = heavy(partners, random);
      const auto p = static_cast<std::size_t>(partner.orbit);
      const auto beside = cells_.neighbours(now.cell[p]);
      if (beside.empty()) return;
      const Cells::Neighbour& next = beside[random.below(beside.size())];
      cell = next.cell;
      phase = turns_ ? now.phase[p] + partner.phase + next.phase : 0;
    }
    phase = turns_ ? ((phase % length_) + length_) % length_ : 0;
    const std::int32_t old_cell = now.cell[o], old_phase = now.phase[o];
    if (cell == old_cell && phase == old_phase) return;
    std::int32_t other = now.orbit_in[static_cast<std::size_t>(cell)];
    if (other == orbit) other = -1;
    std::int64_t added =
        cost(now, orbit, cell, phase, other, old_cell, old_phase) - cost(now, orbit, old_cell, old_phase, -1, 0, 0);
    if (other >= 0) {
      const auto w = static_cast<std::size_t>(other);
      added += cost(now, other, old_cell, old_phase, orbit, cell, phase) -
               cost(now, other, now.cell[w], now.phase[w], -1, 0, 0);
      added -= between(now, orbit, cell, phase, other, old_cell, old_phase) -
               between(now, orbit, old_cell, old_phase, other, now.cell[w], now.phase[w]);
    }
    if (added > 0 && random.unit() >= std::exp(-static_cast<double>(added) / temperature)) return;
    now.hop_bytes += added;
    if (other >= 0) {
      now.cell[static_cast<std::size_t>(other)] = old_cell;
      now.phase[static_cast<std::size_t>(other)] = old_phase;
    }
    now.orbit_in[static_cast<std::size_t>(old_cell)] = other;
    now.orbit_in[static_cast<std::size_t>(cell)] = orbit;
    now.cell[o] = cell, now.phase[o] = phase;
  }

  // Cost that cost() of both counts twice.
  std::int64_t between(const Arrangement&, std::int32_t orbit, std::int32_t cell, std::int32_t phase,
                       std::int32_t other, std::int32_t other_cell, std::int32_t other_phase) const {
    std::int64_t sum = 0;
    for (const TranslationOrbits::Partner& partner : orbits_.of(orbit))
      if (partner.orbit == other)
        sum += partner.bytes * cells_.hops(cell, other_cell, partner.phase + other_phase - phase);
    return sum;
  }

  // The heavier of two partners.
  static const TranslationOrbits::Partner& heavy(std::span<const TranslationOrbits::Partner> partners, Random& random) {
    const TranslationOrbits::Partner* best = nullptr;
    for (int tries = 0; tries < 4; ++tries) {
      const TranslationOrbits::Partner& partner = partners[random.below(partners.size())];
      if (!best || partner.bytes > best->bytes) best = &partner;
    }
    return *best;
  }

  const TranslationOrbits& orbits_;
  const Cells& cells_;
  std::int32_t length_;
  bool turns_;
  std::int64_t partners_ = 0;
  double typical_ = 1;
};

// Orbits on the host's first planes alone, as a problem of its own.
std::optional<Arrangement> first_arrangement(const MappingProblem& problem, const TranslationOrbits& orbits,
                                             const Cells& cells, const Translation& translation, std::int64_t terms,
                                             std::uint64_t seed, const Tools& tools) {
  std::vector<Axis> axes = problem.host.metric.axes().axes();
  axes[translation.host_axis] = {translation.shift, false};
  const auto network = std::make_shared<Torus>(Shape(axes));
  const std::int32_t each = problem.host.size() / problem.host.metric.nodes();
  const Result<MappingHost> host = MappingHost::make(network, Slots(network->nodes(), each));
  if (!host) return {};
  std::vector<std::pair<std::int32_t, TrafficGraph::Edge>> pairs;
  for (std::int32_t orbit = 0; orbit < orbits.count(); ++orbit)
    for (const TranslationOrbits::Partner& partner : orbits.of(orbit))
      if (orbit < partner.orbit) pairs.push_back({orbit, {partner.orbit, partner.bytes}});
  if (pairs.empty()) return {};
  const TrafficGraph graph = TrafficGraph::of_pairs(orbits.count(), pairs);
  std::vector<std::int32_t> places(static_cast<std::size_t>(orbits.count()));
  std::iota(places.begin(), places.end(), 0);
  const std::vector<JaggedMap> maps =
      jagged_maps({problem.traffic, graph, *host, {}}, orbits.shape(), places, terms, seed, 1, tools);
  if (maps.empty()) return {};
  // Cells are numbered as the slots of those planes are: both row-major.
  Arrangement start;
  start.orbit_in.assign(static_cast<std::size_t>(cells.count()), -1);
  for (std::int32_t orbit = 0; orbit < orbits.count(); ++orbit) {
    start.cell.push_back(maps.front().map.slot(orbit));
    start.orbit_in[static_cast<std::size_t>(start.cell.back())] = orbit;
  }
  start.phase.assign(start.cell.size(), 0);
  return start;
}

bool is_plain(const MappingHost& host) {
  if (!host.metric.has_axes() || !host.slots.are_even()) return false;
  return host.metric.axes().places() == host.metric.nodes();
}

} // namespace

std::vector<NamedMap> orbit_maps(const MappingProblem& problem, const Lattice& lattice, std::int64_t terms,
                                 std::uint64_t seed, const Tools& tools) {
  std::vector<NamedMap> maps;
  if (!is_plain(problem.host)) return maps;
  struct Start {
    Translation translation;
    TranslationOrbits orbits;
    Cells cells;
    Arrangement arrangement;
    std::int64_t hop_bytes;
  };
  std::vector<Start> starts;
  const std::vector<Translation> all = translations(lattice, problem.host);
  const auto map_of = [&](const Start& start, const Arrangement& found) {
    std::vector<std::int32_t> slots;
    for (std::size_t rank = 0; rank < lattice.place_of_rank.size(); ++rank) {
      const auto orbit = static_cast<std::size_t>(start.orbits.orbit(rank));
      std::int32_t phase = found.phase[orbit] + start.orbits.phase(rank);
      if (start.translation.turns) phase %= start.translation.length;
      slots.push_back(start.cells.slot(found.cell[orbit], phase));
    }
    return Assignment::of_slots(std::move(slots), problem.host.size());
  };
  for (const Translation& translation : all) {
    if (tools.stop()) break; // what was found counts
    TranslationOrbits orbits(problem, lattice, translation);
    Cells cells(problem.host, translation);
    std::optional<Arrangement> arrangement = first_arrangement(
        problem, orbits, cells, translation, terms / (4 * static_cast<std::int64_t>(all.size())), seed, tools);
    if (!arrangement) continue;
    arrangement->hop_bytes = OrbitAnnealing(orbits, cells, translation).measured(*arrangement);
    starts.push_back({translation, std::move(orbits), std::move(cells), std::move(*arrangement), 0});
    starts.back().hop_bytes = hop_bytes(problem.graph, problem.host, map_of(starts.back(), starts.back().arrangement));
  }
  std::stable_sort(starts.begin(), starts.end(),
                   [](const Start& a, const Start& b) { return a.hop_bytes < b.hop_bytes; });
  if (starts.size() > most_translations) starts.erase(starts.begin() + most_translations, starts.end());
  std::uint64_t first_seed = seed * 77;
  for (const Start& start : starts) {
    const OrbitAnnealing annealing(start.orbits, start.cells, start.translation);
    std::vector<Arrangement> found(orbit_chains);
    const std::int64_t share = terms / (static_cast<std::int64_t>(starts.size()) * orbit_chains * 2);
    tools.parallel(orbit_chains, [&](int chain) {
      found[static_cast<std::size_t>(chain)] =
          annealing.run(start.arrangement, share, first_seed + static_cast<std::uint64_t>(chain), tools);
    });
    first_seed += orbit_chains;
    for (const Arrangement& arrangement : found)
      maps.push_back({fmt::format("{}, axis {} in steps of {}", lattice.name(), start.translation.axis + 1,
                                  start.translation.shift),
                      map_of(start, arrangement)});
  }
  return maps;
}

} // namespace kumihimo::mapping
