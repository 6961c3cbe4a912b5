#include "mapping/structured/jagged.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kumihimo::mapping {
namespace {

using Axes = std::vector<std::size_t>;
using Numbers = std::span<std::int32_t>; // of ranks, or of slots

// All ways to put the axes into so many groups, none empty. Groups are numbered by their first axis.
void group(std::size_t axes, std::size_t groups, std::vector<Axes>& now, std::size_t axis,
           std::vector<std::vector<Axes>>& all) {
  if (axis == axes) {
    if (now.size() == groups) all.push_back(now);
    return;
  }
  for (std::size_t at = 0; at < now.size(); ++at) {
    now[at].push_back(axis);
    group(axes, groups, now, axis + 1, all);
    now[at].pop_back();
  }
  if (now.size() == groups) return;
  now.push_back({axis});
  group(axes, groups, now, axis + 1, all);
  now.pop_back();
}

HostForm form_of(const MappingHost& host, const std::vector<Axes>& groups) {
  HostForm form;
  for (const Axes& axes : groups) {
    std::int32_t length = 1;
    std::vector<Coordinate> coordinates(static_cast<std::size_t>(host.size()), 0);
    for (const std::size_t axis : axes) {
      const std::int32_t along = host.metric.axes().length(static_cast<std::int32_t>(axis));
      length *= along;
      for (std::int32_t slot = 0; slot < host.size(); ++slot) {
        Coordinate& joined = coordinates[static_cast<std::size_t>(slot)];
        const Coordinate c = host.metric.coordinate(host.node(slot), static_cast<std::int32_t>(axis));
        joined = joined * along + (joined % 2 == 0 ? c : along - 1 - c);
      }
    }
    form.lengths.push_back(length);
    form.coordinates_of_slot.push_back(std::move(coordinates));
  }
  return form;
}

double unlikeness(std::vector<double> lengths, std::vector<double> wanted) {
  std::sort(lengths.begin(), lengths.end());
  std::sort(wanted.begin(), wanted.end());
  double sum = 0;
  for (std::size_t at = 0; at < lengths.size(); ++at) sum += std::pow(std::log(lengths[at] / wanted[at]), 2);
  return sum;
}

class Cutter {
 public:
  Cutter(const HostForm& form, const CoordinatesOfRanks& at)
      : form_(form), places_(places_along_axes(at)), ranks_(at.front().size()),
        slots_(form.coordinates_of_slot.front().size()), slot_of_rank_(at.front().size()) {
    std::iota(ranks_.begin(), ranks_.end(), 0);
    std::iota(slots_.begin(), slots_.end(), 0);
  }

  std::vector<std::int32_t> halve() {
    halve(ranks_, slots_);
    return std::move(slot_of_rank_);
  }
  std::vector<std::int32_t> layers(std::span<const std::size_t> axes) {
    layers(ranks_, slots_, axes);
    return std::move(slot_of_rank_);
  }

 private:
  // The place of each rank among all along each axis; ties by the other axes, the next one first.
  static std::vector<std::vector<std::int32_t>> places_along_axes(const CoordinatesOfRanks& at) {
    const std::size_t axes = at.size();
    std::vector<std::int32_t> order(at.front().size());
    std::vector<std::vector<std::int32_t>> places(axes, order);
    for (std::size_t axis = 0; axis < axes; ++axis) {
      std::iota(order.begin(), order.end(), 0);
      std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        for (std::size_t k = 0; k < axes; ++k) {
          const auto& row = at[(axis + k) % axes];
          if (row[as_index(a)] != row[as_index(b)]) return row[as_index(a)] < row[as_index(b)];
        }
        return a < b;
      });
      for (std::size_t place = 0; place < order.size(); ++place)
        places[axis][as_index(order[place])] = static_cast<std::int32_t>(place);
    }
    return places;
  }

  static std::size_t as_index(std::int32_t number) { return static_cast<std::size_t>(number); }

  auto by_place_along(std::size_t axis) const {
    return
        [&places = places_[axis]](std::int32_t a, std::int32_t b) { return places[as_index(a)] < places[as_index(b)]; };
  }

  Coordinate of_slot(std::size_t axis, std::int32_t slot) const {
    return form_.coordinates_of_slot[axis][static_cast<std::size_t>(slot)];
  }

  // How many ranks go with the first slots: their share, as many as fit on both sides.
  static std::size_t share(std::size_t ranks, std::size_t first, std::size_t slots) {
    const std::size_t wanted = (2 * ranks * first + slots) / (2 * slots);
    return std::clamp(wanted, ranks > slots - first ? ranks - (slots - first) : 0, std::min(first, ranks));
  }

  void halve(Numbers ranks, Numbers slots) {
    if (ranks.empty()) return;
    if (slots.size() == 1) {
      slot_of_rank_[static_cast<std::size_t>(ranks.front())] = slots.front();
      return;
    }
    std::size_t longest = 0;
    Coordinate extent = -1, middle = 0;
    for (std::size_t axis = 0; axis < form_.lengths.size(); ++axis) {
      Coordinate from = of_slot(axis, slots.front()), to = from;
      for (const std::int32_t slot : slots) {
        from = std::min(from, of_slot(axis, slot));
        to = std::max(to, of_slot(axis, slot));
      }
      if (to - from > extent) longest = axis, extent = to - from, middle = from + (to - from + 1) / 2;
    }
    std::size_t first = slots.size() / 2; // of slots at the same coordinates: those of a node
    if (extent > 0) {
      const auto cut = std::stable_partition(slots.begin(), slots.end(),
                                             [&](std::int32_t slot) { return of_slot(longest, slot) < middle; });
      first = static_cast<std::size_t>(cut - slots.begin());
    }
    const std::size_t with_first = share(ranks.size(), first, slots.size());
    std::nth_element(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(with_first), ranks.end(),
                     by_place_along(longest));
    halve(ranks.subspan(0, with_first), slots.subspan(0, first));
    halve(ranks.subspan(with_first), slots.subspan(first));
  }

  void layers(Numbers ranks, Numbers slots, std::span<const std::size_t> axes) {
    if (ranks.empty()) return;
    if (axes.empty()) {
      for (std::size_t at = 0; at < ranks.size(); ++at) slot_of_rank_[static_cast<std::size_t>(ranks[at])] = slots[at];
      return;
    }
    std::sort(ranks.begin(), ranks.end(), by_place_along(axes.front()));
    std::stable_sort(slots.begin(), slots.end(), [&](std::int32_t a, std::int32_t b) {
      return of_slot(axes.front(), a) < of_slot(axes.front(), b);
    });
    while (!slots.empty()) {
      std::size_t first = 1;
      while (first < slots.size() && of_slot(axes.front(), slots[first]) == of_slot(axes.front(), slots[0])) ++first;
      const std::size_t with_first = share(ranks.size(), first, slots.size());
      layers(ranks.subspan(0, with_first), slots.subspan(0, first), axes.subspan(1));
      ranks = ranks.subspan(with_first);
      slots = slots.subspan(first);
    }
  }

  const HostForm& form_;
  std::vector<std::vector<std::int32_t>> places_; // [axis][rank]
  std::vector<std::int32_t> ranks_, slots_, slot_of_rank_;
};

} // namespace

std::vector<HostForm> forms_of(const MappingHost& host, std::span<const std::int32_t> lengths, std::size_t most) {
  Axes axes;
  for (std::int32_t axis = 0; axis < host.metric.axes().dimensions(); ++axis)
    if (host.metric.axes().length(axis) > 1) axes.push_back(static_cast<std::size_t>(axis));
  if (lengths.empty() || lengths.size() > axes.size()) return {};
  std::vector<std::vector<Axes>> all;
  std::vector<Axes> now;
  group(axes.size(), lengths.size(), now, 0, all);
  std::vector<std::pair<double, std::size_t>> ranking;
  const std::vector<double> wanted(lengths.begin(), lengths.end());
  for (std::size_t at = 0; at < all.size(); ++at) {
    std::vector<double> found;
    for (Axes& of_group : all[at]) {
      double length = 1;
      for (std::size_t& axis : of_group) {
        axis = axes[axis];
        length *= host.metric.axes().length(static_cast<std::int32_t>(axis));
      }
      // Short axes run slowest: the snake turns seldom.
      std::stable_sort(of_group.begin(), of_group.end(), [&](std::size_t a, std::size_t b) {
        return host.metric.axes().length(static_cast<std::int32_t>(a)) <
               host.metric.axes().length(static_cast<std::int32_t>(b));
      });
      found.push_back(length);
    }
    ranking.emplace_back(unlikeness(found, wanted), at);
  }
  std::sort(ranking.begin(), ranking.end());
  std::vector<HostForm> forms;
  for (const auto& [unlike, at] : ranking) {
    if (forms.size() >= most) break;
    forms.push_back(form_of(host, all[at]));
    bool has_joined = false;
    for (Axes& of_group : all[at]) {
      has_joined |= of_group.size() > 1;
      std::reverse(of_group.begin(), of_group.end());
    }
    if (has_joined) forms.push_back(form_of(host, all[at]));
  }
  return forms;
}

std::vector<std::int32_t> slots_by_halving(const HostForm& form, const CoordinatesOfRanks& at) {
  return Cutter(form, at).halve();
}

std::vector<std::int32_t> slots_by_layers(const HostForm& form, const CoordinatesOfRanks& at,
                                          std::span<const std::size_t> axes) {
  return Cutter(form, at).layers(axes);
}

} // namespace kumihimo::mapping
