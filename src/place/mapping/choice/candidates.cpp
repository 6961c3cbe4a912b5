#include "mapping/choice/candidates.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace kumihimo::mapping {

void Candidates::add(MapOrigin origin, std::vector<NamedMap> maps) {
  std::erase_if(maps, [&](const NamedMap& map) {
    const auto same = std::find_if(all_.begin(), all_.end(), [&](const CandidateMap& c) { return c.map == map.map; });
    if (same == all_.end()) return false;
    if (origin == MapOrigin::library) lower_cap(same->measures);
    return true;
  });
  std::vector<Measures> measures(maps.size());
  tools_.parallel(static_cast<int>(maps.size()), [&](int at) {
    const auto map = static_cast<std::size_t>(at);
    measures[map] = measure(request_.traffic, request_.host, maps[map].map);
  });
  for (std::size_t at = 0; at < maps.size(); ++at) {
    if (all_.empty()) link_cap_ = measures[at].link_bytes_max;
    all_.push_back({std::move(maps[at].name), origin, std::move(maps[at].map), measures[at], {}, true});
    if (origin == MapOrigin::library) lower_cap(measures[at]);
  }
  keep_links_to(link_cap_);
  keep_usual();
}

void Candidates::keep_usual() {
  if (is_better_alone(all_.front(), all_[best()])) keep_links_to(all_.front().measures.link_bytes_max);
}

void Candidates::lower_cap(const Measures& library) {
  if (request_.objective == Objective::off_node) return; // its maps are for hop-bytes
  if (library_hop_bytes_ >= 0 && library.hop_bytes >= library_hop_bytes_) return;
  library_hop_bytes_ = library.hop_bytes;
  link_cap_ = std::min(all_.front().measures.link_bytes_max, library.link_bytes_max);
}

void Candidates::keep_links_to(std::int64_t cap) {
  for (CandidateMap& candidate : all_)
    candidate.is_within_cap = !request_.caps_links || candidate.measures.link_bytes_max <= cap;
}

bool Candidates::is_better(const CandidateMap& a, const CandidateMap& b) const {
  return a.is_within_cap != b.is_within_cap ? a.is_within_cap : is_better_alone(a, b);
}

bool Candidates::is_better_alone(const CandidateMap& a, const CandidateMap& b) const {
  const Measures &x = a.measures, &y = b.measures;
  switch (request_.objective) {
  case Objective::links:
    if (x.link_bytes_max != y.link_bytes_max) return x.link_bytes_max < y.link_bytes_max;
    break;
  case Objective::off_node:
    if (x.off_node_bytes != y.off_node_bytes) return x.off_node_bytes < y.off_node_bytes;
    break;
  case Objective::time: {
    constexpr double never = std::numeric_limits<double>::infinity();
    if (a.seconds.value_or(never) != b.seconds.value_or(never))
      return a.seconds.value_or(never) < b.seconds.value_or(never);
    break;
  }
  case Objective::hop_bytes: break;
  }
  if (x.hop_bytes != y.hop_bytes) return x.hop_bytes < y.hop_bytes;
  return x.link_bytes_max < y.link_bytes_max;
}

std::vector<std::size_t> Candidates::ranking() const {
  std::vector<std::size_t> order(all_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return is_better(all_[a], all_[b]); });
  return order;
}

std::vector<std::size_t> Candidates::best_of_origins(std::size_t most) const {
  std::vector<std::size_t> best;
  for (std::size_t at = 0; at < all_.size(); ++at) {
    const auto same =
        std::find_if(best.begin(), best.end(), [&](auto other) { return all_[other].origin == all_[at].origin; });
    if (same == best.end())
      best.push_back(at);
    else if (all_[at].measures.hop_bytes < all_[*same].measures.hop_bytes)
      *same = at;
  }
  std::stable_sort(best.begin(), best.end(), [&](std::size_t a, std::size_t b) {
    return all_[a].measures.hop_bytes < all_[b].measures.hop_bytes;
  });
  best.resize(std::min(most, best.size()));
  return best;
}

std::size_t Candidates::best() const { return ranking().front(); }

} // namespace kumihimo::mapping
