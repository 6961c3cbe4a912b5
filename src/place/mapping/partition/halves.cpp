#include "mapping/partition/halves.hpp"

#include <algorithm>
#include <array>
#include <queue>

namespace kumihimo::mapping {
namespace {

// Loss of the cut when a vertex changes sides.
std::int64_t gain_of_change(const Halving& halving, std::span<const char> part, std::int32_t vertex) {
  const char side = part[static_cast<std::size_t>(vertex)];
  std::int64_t gain = halving.pull[static_cast<std::size_t>(vertex)] * (side == 0 ? -1 : 1);
  for (const TrafficGraph::Edge& edge : halving.graph.of(vertex))
    gain += part[static_cast<std::size_t>(edge.to)] == side ? -edge.bytes : edge.bytes;
  return gain;
}

// The vertices of both sides by gain. Entries go out of date and are skipped.
class Gains {
 public:
  Gains(const Halving& halving, std::vector<char>& part)
      : halving_(halving), part_(part), gain_(part.size()), fixed_(part.size(), 0) {
    std::array<std::vector<Entry>, 2> entries;
    for (std::int32_t vertex = 0; vertex < halving.graph.ranks(); ++vertex) {
      gain_[at(vertex)] = gain_of_change(halving, part, vertex);
      entries[side(vertex)].push_back({gain_[at(vertex)], -vertex});
    }
    for (std::size_t side : {0, 1}) heaps_[side] = Heap({}, std::move(entries[side]));
  }

  // The best vertex of a side that has not changed yet; -1: none.
  std::int32_t best(std::size_t of_side) {
    Heap& heap = heaps_[of_side];
    while (!heap.empty()) {
      const auto [gain, negative] = heap.top();
      if (!fixed_[at(-negative)] && side(-negative) == of_side && gain == gain_[at(-negative)]) return -negative;
      heap.pop();
    }
    return -1;
  }
  std::int64_t gain(std::int32_t vertex) const { return gain_[at(vertex)]; }

  void change(std::int32_t vertex) {
    char& own = part_[at(vertex)];
    for (const TrafficGraph::Edge& edge : halving_.graph.of(vertex)) {
      gain_[at(edge.to)] += part_[at(edge.to)] == own ? 2 * edge.bytes : -2 * edge.bytes;
      if (!fixed_[at(edge.to)]) heaps_[side(edge.to)].push({gain_[at(edge.to)], -edge.to});
    }
    own = static_cast<char>(1 - own);
    gain_[at(vertex)] = -gain_[at(vertex)];
    fixed_[at(vertex)] = 1;
  }

 private:
  using Entry = std::pair<std::int64_t, std::int32_t>; // gain; of equals the lower number first
  using Heap = std::priority_queue<Entry>;
  static std::size_t at(std::int32_t vertex) { return static_cast<std::size_t>(vertex); }
  std::size_t side(std::int32_t vertex) const { return static_cast<std::size_t>(part_[at(vertex)]); }

  const Halving& halving_;
  std::vector<char>& part_;
  std::vector<std::int64_t> gain_;
  std::vector<char> fixed_;
  std::array<Heap, 2> heaps_;
};

// Whether the cut fell. Sides give in turn; the pass ends when many changes brought nothing, and goes back to its best.
bool improve_once(const Halving& halving, std::vector<char>& part) {
  Gains gains(halving, part);
  const std::size_t patience = 100 + part.size() / 20;
  std::vector<std::int32_t> changed;
  std::size_t kept = 0;
  std::int64_t sum = 0, most = 0;
  while (changed.size() - kept < 2 * patience) {
    const std::int32_t zero = gains.best(0), one = gains.best(1);
    if (zero < 0 || one < 0) break;
    const std::size_t from = gains.gain(zero) >= gains.gain(one) ? 0 : 1;
    const std::int32_t vertex = from == 0 ? zero : one;
    sum += gains.gain(vertex);
    gains.change(vertex);
    changed.push_back(vertex);
    const std::int32_t back = gains.best(1 - from);
    if (back < 0) break;
    sum += gains.gain(back);
    gains.change(back);
    changed.push_back(back);
    if (sum > most) most = sum, kept = changed.size();
  }
  for (std::size_t at = kept; at < changed.size(); ++at) {
    char& side = part[static_cast<std::size_t>(changed[at])];
    side = static_cast<char>(1 - side);
  }
  return most > 0;
}

} // namespace

std::int64_t cut_bytes(const Halving& halving, std::span<const char> part) {
  std::int64_t sum = 0;
  for (std::int32_t vertex = 0; vertex < halving.graph.ranks(); ++vertex) {
    const auto at = static_cast<std::size_t>(vertex);
    sum += part[at] == 0 ? std::max<std::int64_t>(0, -halving.pull[at]) : std::max<std::int64_t>(0, halving.pull[at]);
    for (const TrafficGraph::Edge& edge : halving.graph.of(vertex))
      if (edge.to > vertex && part[static_cast<std::size_t>(edge.to)] != part[at]) sum += edge.bytes;
  }
  return sum;
}

void make_exact(const Halving& halving, std::vector<char>& part) {
  auto zeros = static_cast<std::int32_t>(std::count(part.begin(), part.end(), 0));
  if (zeros == halving.first) return;
  Gains gains(halving, part);
  for (; zeros > halving.first; --zeros) gains.change(gains.best(0));
  for (; zeros < halving.first; ++zeros) gains.change(gains.best(1));
}

void refine(const Halving& halving, std::vector<char>& part, int passes) {
  for (int pass = 0; pass < passes && improve_once(halving, part); ++pass) {
  }
}

} // namespace kumihimo::mapping
