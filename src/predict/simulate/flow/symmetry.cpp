#include "simulate/flow/symmetry.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace kumihimo::simulation {
namespace {

constexpr double most_compared = 1e8; // steps: some seconds

// Values of peers with the loop's variable at depth 1, one after another, without the constant part: the same for many
// ranks.
class PeerValues {
 public:
  // Before two lists are asked for: where every rank has peers of its own there is no use in keeping them.
  void make_room() {
    if (kept_ > most_kept) known_.clear(), kept_ = 0;
  }
  // The terms live as long as the compiled schedule does.
  const std::vector<std::int64_t>& of(const Expression& e, std::int64_t trip) {
    const auto [at, fresh] = known_.try_emplace({e.terms().data(), trip});
    if (!fresh) return at->second;
    kept_ += trip;
    LoopValues values{};
    for (values[1] = 0; values[1] < trip; ++values[1]) at->second.push_back(e.evaluate(values) - e.constant());
    return at->second;
  }

 private:
  static constexpr std::int64_t most_kept = 1'000'000;
  std::map<std::pair<const Expression::Term*, std::int64_t>, std::vector<std::int64_t>> known_;
  std::int64_t kept_ = 0;
};

// Whether one rank's program is another's, peers moved.
class RankComparison {
 public:
  RankComparison(const Compiled& compiled, const Symmetry& symmetry) : c_(compiled), symmetry_(symmetry) {}

  bool same(std::int32_t rank) {
    rank_ = rank;
    const std::uint32_t mine = c_.first_instance[rank], others = c_.first_instance[symmetry_.first(rank)];
    const std::uint32_t count = c_.first_instance[rank + 1] - mine;
    if (c_.first_instance[symmetry_.first(rank) + 1] - others != count) return false;
    for (std::uint32_t i = 0; i < count; ++i)
      if (!same(c_.instances[mine + i], c_.instances[others + i])) return false;
    return true;
  }

 private:
  bool same(const Instance& a, const Instance& b) {
    const auto afters_a = c_.after(a), afters_b = c_.after(b);
    return a.lane == b.lane && a.window == b.window && a.nodes == b.nodes && a.reduced == b.reduced &&
           a.sends == b.sends &&
           std::equal(afters_a.begin(), afters_a.end(), afters_b.begin(), afters_b.end(),
                      [](const FlatAfter& s, const FlatAfter& t) { return s.nth == t.nth && s.scope == t.scope; }) &&
           same_nodes(a.first_node, b.first_node, a.nodes, 1, 1);
  }

  // `trip`: of the iterated loop around, whose variable has depth 1; `depth` that of a loop here.
  bool same_nodes(std::uint32_t a, std::uint32_t b, std::uint32_t count, std::int64_t trip, std::int32_t depth) {
    for (std::uint32_t n = 0; n < count; ++n) {
      const FlatNode &x = c_.nodes[a + n], &y = c_.nodes[b + n];
      if (x.loop != y.loop || x.collapsed != y.collapsed || x.count != y.count || x.trip != y.trip ||
          x.in_flight != y.in_flight)
        return false;
      if (!x.loop && !same_steps(x, y, trip)) return false;
      if (!x.loop) continue;
      if (x.together || y.together) return false;  // its loops are not looked at here
      if (!x.collapsed && depth > 1) return false; // its variable is not looked at here
      if (!same_nodes(x.first, y.first, x.count, x.collapsed ? trip : x.trip, depth + 1)) return false;
    }
    return true;
  }

  bool same_steps(const FlatNode& a, const FlatNode& b, std::int64_t trip) {
    for (std::uint32_t s = 0; s < a.count; ++s) {
      const FlatStep &x = c_.steps[a.first + s], &y = c_.steps[b.first + s];
      if (x.kind != y.kind || x.bytes != y.bytes || x.gap != y.gap || (x.dynamic < 0) != (y.dynamic < 0)) return false;
      if (x.dynamic >= 0 ? !same_dynamic(c_.dynamic[x.dynamic], c_.dynamic[y.dynamic], trip)
                         : !same_peer(x.peer, y.peer))
        return false;
    }
    return true;
  }

  bool same_dynamic(const DynamicStep& x, const DynamicStep& y, std::int64_t trip) {
    if (x.length || y.length || !(x.gap == y.gap)) return false; // lengths that change are not compared
    values_.make_room();
    const auto &peers_x = values_.of(x.peer, trip), &peers_y = values_.of(y.peer, trip);
    for (std::size_t i = 0; i < peers_x.size(); ++i)
      if (!same_peer(peers_x[i] + x.peer.constant(), peers_y[i] + y.peer.constant())) return false;
    return true;
  }

  bool same_peer(std::int64_t x, std::int64_t y) const {
    if (x < 0 || x >= c_.schedule->ranks()) return x == y && x == -1; // a step without one
    return symmetry_.moved(static_cast<std::int32_t>(x), rank_) == y;
  }

  const Compiled& c_;
  const Symmetry& symmetry_;
  PeerValues values_;
  std::int32_t rank_ = 0;
};

// Sets of numbers that images join: the least of each, and how many it has.
class Orbits {
 public:
  explicit Orbits(std::int64_t size) : up_(static_cast<std::size_t>(size)) { std::iota(up_.begin(), up_.end(), 0); }
  std::int32_t least(std::int32_t a) {
    while (up_[static_cast<std::size_t>(a)] != a) {
      std::int32_t& up = up_[static_cast<std::size_t>(a)];
      a = up = up_[static_cast<std::size_t>(up)];
    }
    return a;
  }
  void join(std::int32_t a, std::int32_t b) {
    a = least(a), b = least(b);
    up_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }

 private:
  std::vector<std::int32_t> up_;
};

} // namespace

Symmetry::Symmetry(Shape shape, std::vector<std::int32_t> periods)
    : shape_(std::move(shape)), periods_(std::move(periods)) {
  for (std::int32_t axis = 0; axis < shape_.dimensions(); ++axis) alike_ *= shape_.length(axis) / periods_[axis];
  for (std::int32_t rank = 0; rank < shape_.places(); ++rank) {
    std::int32_t first = rank;
    for (std::int32_t axis = 0; axis < shape_.dimensions(); ++axis) {
      const std::int32_t c = shape_.coordinate(rank, axis);
      first -= (c - c % periods_[axis]) * shape_.stride(axis);
    }
    first_.push_back(first);
  }
}

std::int32_t Symmetry::moved(std::int32_t rank, std::int32_t from) const {
  std::int32_t to = rank;
  for (std::int32_t axis = 0; axis < shape_.dimensions(); ++axis) {
    const std::int32_t length = shape_.length(axis), period = periods_[axis];
    if (period == length) continue;
    const std::int32_t c = shape_.coordinate(from, axis), here = shape_.coordinate(rank, axis);
    const std::int32_t back = c - c % period, there = here < back ? here - back + length : here - back;
    to += (there - here) * shape_.stride(axis);
  }
  return to;
}

bool Symmetry::holds(const Compiled& compiled) const {
  RankComparison comparison(compiled, *this);
  for (std::int32_t rank = 0; rank < compiled.schedule->ranks(); ++rank)
    if (!is_first(rank) && !comparison.same(rank)) return false;
  return true;
}

// Whether capacities are symmetric too, and every link has the same number of images as a rank.
bool Symmetry::holds(const NetworkPaths& network) {
  const Topology& topology = *network.machine().topology;
  const auto& capacities = network.capacities();
  const std::int32_t links = network.link_bound();
  Orbits orbits(links);
  for (std::int32_t axis = 0; axis < shape_.dimensions(); ++axis)
    for (std::int32_t link = 0; link < links && periods_[axis] < shape_.length(axis); ++link)
      orbits.join(link, static_cast<std::int32_t>(topology.shifted(LinkId{link}, axis).value));
  resource_.resize(capacities.size());
  std::vector<std::int32_t> images(static_cast<std::size_t>(links));
  for (std::int32_t link = 0; link < links; ++link)
    ++images[static_cast<std::size_t>(resource_[link] = orbits.least(link))];
  if (std::any_of(images.begin(), images.end(), [&](std::int32_t n) { return n != 0 && n != alike_; })) return false;
  const std::int32_t ranks = shape_.places(); // the number of nodes
  for (std::int32_t r = links; r < static_cast<std::int32_t>(capacities.size()); ++r)
    resource_[r] = r - (r - links) % ranks + first((r - links) % ranks);
  for (std::size_t r = 0; r < capacities.size(); ++r)
    if (capacities[r] != capacities[resource_[r]]) return false;
  return true;
}

std::shared_ptr<const Symmetry> Symmetry::find(const Compiled& compiled, const NetworkPaths& network,
                                               double most_steps) {
  const Topology::Shifts shifts = network.machine().topology->shifts();
  const std::vector<std::int32_t>& nodes = network.nodes();
  const auto ranks = static_cast<std::size_t>(compiled.schedule->ranks());
  bool one_each = static_cast<std::size_t>(shifts.shape.places()) == ranks && nodes.size() == ranks;
  for (std::size_t rank = 0; rank < nodes.size() && one_each; ++rank)
    one_each = nodes[rank] == static_cast<std::int32_t>(rank);
  // A pipeline's period and the network's own engine look at all ranks.
  if (shifts.periods.empty() || !one_each || compiled.segments > 1 || compiled.offloaded) return nullptr;
  if (network.limits_exchanges() || network.limits_all_links()) return nullptr;
  const auto short_enough = [&](std::int32_t alike) { return compiled.walked_steps() / alike <= most_steps; };
  if (compiled.walked_steps() > most_compared || !short_enough(Symmetry(shifts.shape, shifts.periods).alike()))
    return nullptr;
  std::vector<std::int32_t> none, found;
  for (const Axis& axis : shifts.shape.axes()) none.push_back(axis.length);
  found = none;
  for (std::size_t axis = 0; axis < none.size(); ++axis) {
    if (shifts.periods[axis] == none[axis]) continue;
    std::vector<std::int32_t> alone = none;
    alone[axis] = shifts.periods[axis];
    if (Symmetry(shifts.shape, std::move(alone)).holds(compiled)) found[axis] = shifts.periods[axis];
  }
  if (found == none) return nullptr;
  auto symmetry = std::shared_ptr<Symmetry>(new Symmetry(shifts.shape, std::move(found)));
  if (!short_enough(symmetry->alike()) || !symmetry->holds(network)) return nullptr;
  return symmetry;
}

Compiled fold_symmetry(Compiled compiled, const NetworkPaths& network, double most_steps) {
  auto symmetry = Symmetry::find(compiled, network, most_steps);
  if (!symmetry) return compiled;
  std::vector<Instance> kept;
  std::vector<std::uint32_t> first;
  for (FlatLane& lane : compiled.lanes) lane.instances = 0;
  for (std::int32_t rank = 0; rank < compiled.schedule->ranks(); ++rank) {
    first.push_back(static_cast<std::uint32_t>(kept.size()));
    if (!symmetry->is_first(rank)) continue;
    for (std::uint32_t i = compiled.first_instance[rank]; i < compiled.first_instance[rank + 1]; ++i) {
      kept.push_back(compiled.instances[i]);
      ++compiled.lanes[kept.back().lane].instances;
    }
  }
  first.push_back(static_cast<std::uint32_t>(kept.size()));
  compiled.instances = std::move(kept);
  compiled.first_instance = std::move(first);
  compiled.iterated_steps /= symmetry->alike(), compiled.straight_steps /= symmetry->alike();
  compiled.symmetry = std::move(symmetry);
  return compiled;
}

} // namespace kumihimo::simulation
