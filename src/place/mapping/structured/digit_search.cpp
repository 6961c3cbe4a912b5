#include "mapping/structured/digit_search.hpp"

#include <algorithm>
#include <numeric>

namespace kumihimo::mapping {
namespace {

constexpr int chains = 8;
constexpr std::size_t most_equal_in_chain = 3;

} // namespace

struct DigitSearch::Chain {
  explicit Chain(std::uint64_t seed) : random(seed) {}
  Random random;
  std::int64_t terms = 0; // that are left
  std::vector<FoundMap> best;
  std::vector<std::int32_t> order; // of moves
  std::vector<Coordinate> first, second;
};

void keep_best(std::vector<FoundMap>& maps, std::size_t most, std::size_t most_equal) {
  std::stable_sort(maps.begin(), maps.end(),
                   [](const FoundMap& a, const FoundMap& b) { return a.hop_bytes < b.hop_bytes; });
  std::vector<FoundMap> kept;
  for (FoundMap& map : maps) {
    std::size_t equal = 0;
    bool is_known = false;
    for (std::size_t at = kept.size(); at-- > 0 && kept[at].hop_bytes == map.hop_bytes; ++equal)
      is_known |= kept[at].at == map.at;
    if (!is_known && equal < most_equal) kept.push_back(std::move(map));
    if (kept.size() == most) break;
  }
  maps = std::move(kept);
}

void DigitSearch::climb(FoundMap& map, Chain& chain, const Tools& tools) const {
  const auto cost_of_axis = static_cast<std::int64_t>((pairs_.size() + map.at.front().size()) / box_.axes.size() + 1);
  std::vector<std::int64_t> along(box_.axes.size());
  for (std::size_t axis = 0; axis < along.size(); ++axis)
    along[axis] = hop_bytes_along(host_, box_, axis, pairs_, map.at[axis]);
  map.hop_bytes = std::accumulate(along.begin(), along.end(), std::int64_t{0});
  for (std::size_t at = chain.order.size(); at > 1; --at)
    std::swap(chain.order[at - 1], chain.order[chain.random.below(at)]);
  std::size_t since_gain = 0;
  for (std::size_t at = 0; since_gain < chain.order.size() && chain.terms > 0;
       at = at + 1 < chain.order.size() ? at + 1 : 0) {
    if (since_gain % 32 == 0 && tools.stop()) return;
    ++since_gain;
    const DigitMove& move = moves_[static_cast<std::size_t>(chain.order[at])];
    const std::size_t a = move.first(), b = move.second();
    move.apply_first(map.at, chain.first);
    chain.terms -= cost_of_axis;
    const std::int64_t along_a = hop_bytes_along(host_, box_, a, pairs_, chain.first);
    std::int64_t gain = along[a] - along_a, along_b = 0;
    if (move.changes_two()) {
      move.apply_second(map.at, chain.second);
      chain.terms -= cost_of_axis;
      along_b = hop_bytes_along(host_, box_, b, pairs_, chain.second);
      gain += along[b] - along_b;
    }
    if (gain <= 0) continue;
    map.at[a].swap(chain.first);
    along[a] = along_a;
    if (move.changes_two()) map.at[b].swap(chain.second), along[b] = along_b;
    map.hop_bytes -= gain;
    since_gain = 0;
  }
}

void DigitSearch::disturb(FoundMap& map, int moves, Chain& chain) const {
  for (int done = 0; done < moves; ++done) {
    const DigitMove& move = moves_[chain.random.below(moves_.size())];
    move.apply_first(map.at, chain.first);
    if (move.changes_two()) {
      move.apply_second(map.at, chain.second);
      map.at[move.second()].swap(chain.second);
    }
    map.at[move.first()].swap(chain.first);
  }
}

void DigitSearch::run(Chain& chain, std::span<const CoordinatesOfRanks> starts, std::size_t first,
                      const Tools& tools) const {
  chain.order.resize(moves_.size());
  std::iota(chain.order.begin(), chain.order.end(), 0);
  for (std::size_t start = first; chain.terms > 0 && !tools.stop(); start += chains) {
    FoundMap map;
    if (start < starts.size()) {
      map.at = starts[start];
    } else if (chain.best.empty() || chain.random.below(10) < 3) {
      map.at = starts[chain.random.below(starts.size())];
      disturb(map, 3 * static_cast<int>(std::min<std::size_t>(moves_.size(), 10)), chain);
    } else {
      map.at = chain.best[chain.random.below(2) == 0 ? 0 : chain.random.below(chain.best.size())].at;
      disturb(map, 2 + static_cast<int>(chain.random.below(4)), chain);
    }
    climb(map, chain, tools);
    chain.best.push_back(std::move(map));
    keep_best(chain.best, 8, most_equal_in_chain);
  }
}

std::vector<FoundMap> DigitSearch::search(std::span<const CoordinatesOfRanks> starts, std::int64_t terms,
                                          std::uint64_t seed, std::size_t most, const Tools& tools) const {
  std::vector<FoundMap> found;
  if (starts.empty()) return found;
  if (!moves_.empty()) {
    std::vector<Chain> all;
    for (int chain = 0; chain < chains; ++chain) {
      all.emplace_back(seed * 1000 + static_cast<std::uint64_t>(chain));
      all.back().terms = terms / chains;
    }
    tools.parallel(
        chains, [&](int at) { run(all[static_cast<std::size_t>(at)], starts, static_cast<std::size_t>(at), tools); });
    for (Chain& chain : all)
      for (FoundMap& map : chain.best) found.push_back(std::move(map));
  }
  if (found.empty())
    for (const CoordinatesOfRanks& start : starts) found.push_back(measured(start));
  keep_best(found, most, most);
  return found;
}

} // namespace kumihimo::mapping
