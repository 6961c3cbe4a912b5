#include "mapping/structured/jagged_maps.hpp"

#include "mapping/objective/hop_bytes.hpp"
#include "mapping/structured/digit_search.hpp"
#include "mapping/structured/folds.hpp"
#include "mapping/structured/jagged.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kumihimo::mapping {
namespace {

constexpr std::size_t most_forms = 8, most_shapes = 3, most_folded = 3, most_layered = 6;
constexpr std::int64_t terms_of_slot = 16; // what cutting takes for each slot, all levels together
constexpr std::int32_t stretch_scale = 16; // of hops in a box that is longer or shorter than the host

using Lengths = std::vector<std::int32_t>;

// All ways to write the number as a product of so many factors.
void factor(std::int32_t rest, std::size_t count, Lengths& now, std::vector<Lengths>& all) {
  if (count == 1) {
    now.push_back(rest);
    all.push_back(now);
    now.pop_back();
    return;
  }
  for (std::int32_t length = 1; length <= rest; ++length) {
    if (rest % length != 0) continue;
    now.push_back(length);
    factor(rest / length, count - 1, now, all);
    now.pop_back();
  }
}

// Lengths that a box may have, whose product is the number of ranks, most like those of the form.
std::vector<Lengths> shapes_like(const Lengths& form, std::int32_t ranks) {
  std::vector<Lengths> all;
  Lengths now;
  factor(ranks, form.size(), now, all);
  const auto unlikeness = [&](const Lengths& lengths) {
    double sum = 0;
    for (std::size_t at = 0; at < form.size(); ++at)
      sum += std::pow(std::log(static_cast<double>(lengths[at]) / form[at]), 2);
    return sum;
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Lengths& a, const Lengths& b) { return unlikeness(a) < unlikeness(b); });
  std::erase_if(all, [&](const Lengths& lengths) {
    return unlikeness(lengths) > 4 || *std::max_element(lengths.begin(), lengths.end()) > longest_axis;
  });
  if (all.size() > most_shapes) all.resize(most_shapes);
  return all;
}

// A torus of these lengths, stretched to the form.
Box stretched_box(const Lengths& lengths, const Lengths& form) {
  Box box;
  std::int32_t places = 1;
  for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
    const std::int32_t length = lengths[axis];
    const std::int32_t step = std::max(1, stretch_scale * form[axis] / length);
    places *= length;
    box.axes.push_back({length, true});
    std::vector<std::int32_t>& hops = box.hops.emplace_back();
    for (std::int32_t from = 0; from < length; ++from)
      for (std::int32_t to = 0; to < length; ++to) {
        const std::int32_t straight = std::abs(from - to);
        hops.push_back(step * std::min(straight, length - straight));
      }
  }
  box.slot_of_place.resize(static_cast<std::size_t>(places));
  std::iota(box.slot_of_place.begin(), box.slot_of_place.end(), 0);
  return box;
}

class JaggedSearch {
 public:
  JaggedSearch(const MappingProblem& problem, std::size_t most) : problem_(problem), most_(most) {}

  std::int64_t add_halved(const HostForm& form, const CoordinatesOfRanks& at) {
    return add(slots_by_halving(form, at));
  }

  void add_layered(const HostForm& form, const CoordinatesOfRanks& at) {
    std::vector<std::size_t> axes(form.lengths.size());
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    if (axes.size() <= 3) {
      do add(slots_by_layers(form, at, axes));
      while (std::next_permutation(axes.begin(), axes.end()));
    }
  }

  std::vector<JaggedMap> best() { return std::move(found_); }
  std::int64_t terms() const { return terms_; } // used so far

 private:
  std::int64_t add(std::vector<std::int32_t> slots) {
    Assignment map = Assignment::of_slots(std::move(slots), problem_.host.size());
    const std::int64_t hops = hop_bytes(problem_.graph, problem_.host, map);
    terms_ += terms_of_slot * problem_.host.size() + static_cast<std::int64_t>(problem_.graph.edges.size());
    const auto at = std::find_if(found_.begin(), found_.end(), [&](const JaggedMap& f) { return hops < f.hop_bytes; });
    if (at == found_.end() && found_.size() >= most_) return hops;
    if (std::any_of(found_.begin(), found_.end(), [&](const JaggedMap& f) { return f.map == map; })) return hops;
    found_.insert(at, {hops, std::move(map)});
    if (found_.size() > most_) found_.pop_back();
    return hops;
  }

  const MappingProblem& problem_;
  std::size_t most_;
  std::int64_t terms_ = 0;
  std::vector<JaggedMap> found_;
};

} // namespace

std::vector<JaggedMap> jagged_maps(const MappingProblem& problem, const Shape& shape,
                                   std::span<const std::int32_t> place_of_rank, std::int64_t terms, std::uint64_t seed,
                                   std::size_t most, const Tools& tools) {
  if (!problem.host.metric.has_axes() || problem.graph.ranks() > problem.host.size()) return {};
  const std::vector<WeighedPair> pairs = heavy_pairs(problem.graph, 0.9);
  JaggedSearch search(problem, most);
  std::int32_t host_axes = 0;
  for (const Axis& axis : problem.host.metric.axes().axes()) host_axes += axis.length > 1;
  Lengths lengths;
  for (const Axis& axis : shape.axes()) lengths.push_back(axis.length);
  std::sort(lengths.begin(), lengths.end(), std::greater<>());
  // A long row of digits has no form of its own: the host's longest axes give it one.
  if (lengths.size() == 1 || lengths.size() > 4 || static_cast<std::int32_t>(lengths.size()) > host_axes) {
    const auto axes = static_cast<std::size_t>(std::min(host_axes, 3));
    lengths.assign(axes, std::max(2, static_cast<std::int32_t>(std::lround(
                                         std::pow(problem.graph.ranks(), 1.0 / static_cast<double>(axes))))));
  }
  const std::vector<HostForm> forms = forms_of(problem.host, lengths, most_forms);
  struct Halved {
    std::int64_t hop_bytes = 0;
    const HostForm* form = nullptr;
    CoordinatesOfRanks at;
  };
  std::vector<Halved> halved;
  for (const HostForm& form : forms)
    for (const Lengths& like : shapes_like(form.lengths, problem.graph.ranks())) {
      if (tools.stop()) return search.best();
      if (search.terms() > terms) break; // the best forms come first
      const Box box = stretched_box(like, form.lengths);
      const std::int64_t share = terms / static_cast<std::int64_t>(forms.size() * most_shapes);
      std::vector<CoordinatesOfRanks> starts =
          folds(box, shape, place_of_rank, pairs, most_folded, share / 2, seed, tools);
      if (starts.empty()) starts.push_back(coordinates_in(box, place_of_rank));
      const std::vector<DigitMove> moves = digit_moves(box);
      const DigitSearch digits(problem, box, moves, pairs);
      for (const FoundMap& map : digits.search(starts, share / 2, seed, most_folded, tools))
        halved.push_back({search.add_halved(form, map.at), &form, map.at});
    }
  std::stable_sort(halved.begin(), halved.end(),
                   [](const Halved& a, const Halved& b) { return a.hop_bytes < b.hop_bytes; });
  for (std::size_t at = 0; at < std::min(halved.size(), most_layered) && search.terms() < 2 * terms && !tools.stop();
       ++at)
    search.add_layered(*halved[at].form, halved[at].at);
  return search.best();
}

} // namespace kumihimo::mapping
