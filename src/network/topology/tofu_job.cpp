#include "topology/tofu_job.hpp"

#include "base/text_parsing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace kumihimo {
namespace {

constexpr auto x = Tofu::x, y = Tofu::y, z = Tofu::z, a = Tofu::a, b = Tofu::b, c = Tofu::c;
using Axes = std::vector<std::int32_t>; // of one ring, from the outermost in

// Which axes make the rings of a torus of three, two and one dimensions. A shape of fewer dimensions that has no ring
// there may leave axes of the others out.
const std::vector<std::vector<Axes>>& pairings() {
  static const std::vector<std::vector<Axes>> all = {
      {{x, a}, {y, b}, {z, c}}, {{x, a, b}, {y, z, c}}, {{x, y, z, a, c, b}}};
  return all;
}

// How much of the machine something takes: less is better.
struct JobExtent {
  std::int64_t groups = 0;
  std::int32_t longest = 0;
  auto operator<=>(const JobExtent&) const = default;
};

JobExtent size_of(const std::vector<TofuRing>& rings) {
  JobExtent size{1, 1};
  for (const TofuRing& ring : rings)
    for (const auto& level : ring.levels())
      if (level.axis <= z) {
        size.groups *= level.used;
        size.longest = std::max(size.longest, level.used);
      }
  return size;
}

// What a ring may use: a length of each axis, and whether all of it closes.
struct UsableAxes {
  TofuPlace lengths{};
  std::array<bool, 6> wraps{};
};

// The smallest ring over these axes.
class RingSearch {
 public:
  RingSearch(const UsableAxes& usable, const Axes& axes, std::int32_t length)
      : usable_(usable), axes_(axes), length_(length) {}

  std::optional<TofuRing> run() {
    extend({}, 1, 1);
    return best_;
  }

 private:
  void extend(const std::vector<TofuRing::Level>& levels, std::int64_t nodes, std::int64_t groups) {
    if (best_ && groups > size_.groups) return;
    if (levels.size() == axes_.size()) {
      if (nodes >= length_) consider(levels);
      return;
    }
    const std::int32_t axis = axes_[levels.size()];
    for (std::int32_t used = 1; used <= usable_.lengths[axis]; ++used) {
      auto longer = levels;
      longer.push_back({axis, used, usable_.wraps[axis] && used == usable_.lengths[axis]});
      extend(longer, nodes * used, axis <= z ? groups * used : groups);
    }
  }

  void consider(const std::vector<TofuRing::Level>& levels) {
    const auto ring = TofuRing::make(levels, length_);
    if (!ring) return;
    const JobExtent size = size_of({*ring});
    if (best_ && !(size < size_)) return;
    best_ = ring;
    size_ = size;
  }

  const UsableAxes& usable_;
  const Axes& axes_;
  std::int32_t length_;
  std::optional<TofuRing> best_;
  JobExtent size_;
};

std::optional<TofuRing> find_ring(const UsableAxes& usable, const Axes& axes, const Axis& wanted) {
  auto ring = RingSearch(usable, axes, wanted.length).run();
  // Off a ring of one more node a mesh takes all but one.
  if (!ring && !wanted.wraps) ring = RingSearch(usable, axes, wanted.length + 1).run();
  return ring;
}

// Rings for all axes of the job in the fewest groups, whichever of its axes is laid into which of the machine's; in the
// order given where that is as good.
std::optional<std::vector<TofuRing>> find_rings(const UsableAxes& usable, const Shape& job) {
  std::optional<std::vector<TofuRing>> best;
  for (std::size_t dimensions = static_cast<std::size_t>(job.dimensions()); dimensions <= 3; ++dimensions) {
    const auto& groups = pairings()[3 - dimensions];
    std::vector<std::size_t> order(groups.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      std::vector<TofuRing> rings;
      for (std::int32_t axis = 0; axis < job.dimensions(); ++axis)
        if (auto ring = find_ring(usable, groups[order[axis]], job.axes()[axis])) rings.push_back(std::move(*ring));
      if (rings.size() == static_cast<std::size_t>(job.dimensions()) &&
          (!best || size_of(rings).groups < size_of(*best).groups))
        best = std::move(rings);
    } while (std::next_permutation(order.begin(), order.end()));
  }
  return best;
}

TofuPlace lengths_of(const Tofu& tofu) {
  TofuPlace lengths;
  for (std::int32_t axis = 0; axis < Tofu::axes; ++axis) lengths[axis] = tofu.shape().length(axis);
  return lengths;
}

UsableAxes usable_axes(const TofuMachine& machine, const TofuPlace& lengths) {
  UsableAxes usable{lengths, {}};
  for (std::int32_t axis = 0; axis < Tofu::axes; ++axis) {
    const Axis& kind = machine.network.shape().axes()[axis];
    usable.wraps[axis] = kind.wraps && kind.length == lengths[axis];
  }
  return usable;
}

// Where along an axis a box of this length may begin.
std::vector<std::int32_t> beginnings(const TofuMachine& machine, std::int32_t axis, std::int32_t length) {
  const Axis& kind = machine.network.shape().axes()[axis];
  const bool beside_relays = machine.relays && axis == z;
  const std::int32_t first = beside_relays ? 1 : 0;
  if (length == kind.length - first) return {first};
  const bool round = kind.wraps && !beside_relays;
  std::vector<std::int32_t> all(static_cast<std::size_t>(round ? kind.length : kind.length - first - length + 1));
  std::iota(all.begin(), all.end(), first);
  return all;
}

// The network of a box, with the relays where it has all of Z.
Tofu network_of(const TofuMachine& machine, TofuBox box) {
  if (machine.relays && box.lengths[z] == machine.job_lengths()[z]) {
    box.first[z] = 0;
    ++box.lengths[z];
  }
  return machine.network.part(box);
}

// Where boxes of these lengths may be: the first place where nothing is dead, or else those with the fewest dead parts,
// the best first.
std::vector<TofuBox> places_for(const TofuMachine& machine, const TofuPlace& lengths) {
  constexpr std::size_t most_tried = 64; // each is proven to reach all its nodes, which takes up to seconds
  std::vector<std::pair<std::size_t, TofuBox>> found;
  for (const std::int32_t i : beginnings(machine, x, lengths[x]))
    for (const std::int32_t j : beginnings(machine, y, lengths[y]))
      for (const std::int32_t k : beginnings(machine, z, lengths[z])) {
        const TofuBox box{{i, j, k, 0, 0, 0}, lengths};
        if (machine.network.whole()) return {box};
        const Tofu part = network_of(machine, box);
        const std::size_t dead = part.dead_nodes().size() + part.dead_links().size();
        if (dead == 0) return {box};
        found.emplace_back(dead, box);
      }
  std::stable_sort(found.begin(), found.end(), [](const auto& s, const auto& t) { return s.first < t.first; });
  std::vector<TofuBox> best;
  for (const auto& [dead, box] : found)
    if (best.size() < most_tried) best.push_back(box);
  return best;
}

Result<VirtualTorus> lay_cut_or_not(const TofuMachine& machine, const TofuBox& box, const Shape& job,
                                    std::vector<TofuRing> rings) {
  Tofu network = network_of(machine, box);
  TofuPlace first{};
  first[z] = network.shape().length(z) - box.lengths[z]; // past the relays
  const std::vector<NodeId> dead = network.dead_nodes();
  return VirtualTorus(std::move(network), first, job, std::move(rings)).shortened(dead, {});
}

Result<VirtualTorus> lay(const TofuMachine& machine, const TofuBox& box, const Shape& job,
                         const std::vector<TofuRing>& rings) {
  auto torus = lay_cut_or_not(machine, box, job, rings);
  if (!torus) return torus;
  if (const Status reached = torus->connected(); !reached) return reached.error();
  return torus;
}

// At the first of these places that dead parts do not cut; else why not at the first of all.
Result<VirtualTorus> lay(const TofuMachine& machine, const std::vector<TofuBox>& places, const Shape& job,
                         const std::vector<TofuRing>& rings) {
  auto best = lay(machine, places.front(), job, rings);
  for (std::size_t i = 1; !best && i < places.size(); ++i)
    if (auto other = lay(machine, places[i], job, rings)) return other;
  return best;
}

// Where one length alone is odd, it is that one if the shape fits as soon as the length may have a place to spare.
std::optional<std::int32_t> odd_without_a_ring(const TofuMachine& machine, const TofuPlace& usable, const Shape& job) {
  std::vector<Axis> axes = job.axes();
  const auto is_odd = [](const Axis& axis) { return axis.wraps && axis.length > 1 && axis.length % 2 != 0; };
  if (axes.size() > 3 || std::count_if(axes.begin(), axes.end(), is_odd) != 1) return std::nullopt;
  const auto odd = std::find_if(axes.begin(), axes.end(), is_odd);
  odd->wraps = false;
  const std::int32_t length = odd->length;
  return find_rings(usable_axes(machine, usable), Shape(std::move(axes))) ? std::optional(length) : std::nullopt;
}

std::string how_to_fit(const TofuMachine& machine, const TofuPlace& usable, const Shape& job) {
  if (const auto odd = odd_without_a_ring(machine, usable, job))
    return fmt::format("no ring of odd length {1} fits: use length {0} or a mesh axis ({1}m)", *odd + 1, *odd);
  return lengths_of(machine.network)[b] == 3 ? "take even lengths (one may be odd), or mesh axes such as 5m"
                                             : "take even lengths";
}

Error fits_nowhere(const TofuMachine& machine, const TofuPlace& usable, const Shape& job) {
  const auto whole = [&](const TofuPlace& l) { return fmt::format("{}x{}x{}", l[x] * l[a], l[y] * l[b], l[z] * l[c]); };
  return wrong_value(fmt::format("no virtual torus of this shape fits the Tofu box {}, whose own torus is {}",
                                 text_of(usable, "x"), whole(usable)),
                     job.text(), how_to_fit(machine, usable, job));
}

Error too_large(const TofuMachine& machine, std::string got) {
  return wrong_value(fmt::format("a Tofu box must lie in {} and have whole groups, at least 1x1x1x{}x{}x{}",
                                 text_of(machine.job_lengths(), "x"), machine.job_lengths()[a],
                                 machine.job_lengths()[b], machine.job_lengths()[c]),
                     std::move(got), "give six lengths x, y, z, a, b, c within the machine, such as 4x3x8x2x3x2");
}

std::optional<TofuPlace> parse_numbers(std::string_view text, char separator, std::size_t least, std::int32_t lowest) {
  TofuPlace numbers{};
  std::size_t n = 0;
  for (; n < numbers.size() && (n == 0 || take(text, {&separator, 1})); ++n) {
    const auto number = take_number<std::int32_t>(text);
    if (!number || *number < lowest) return std::nullopt;
    numbers[n] = *number;
  }
  return text.empty() && n >= least ? std::optional(numbers) : std::nullopt;
}

} // namespace

TofuPlace TofuMachine::job_lengths() const {
  TofuPlace lengths = lengths_of(network);
  lengths[z] -= relays;
  return lengths;
}

std::int64_t TofuMachine::nodes() const {
  const TofuPlace lengths = job_lengths();
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{1}, std::multiplies<>());
}

Result<TofuRequest> TofuRequest::parse(std::string_view text) {
  const std::size_t split = std::min(text.find('@'), text.size());
  const auto lengths = parse_numbers(text.substr(0, split), 'x', 6, 1);
  TofuRequest request;
  if (split < text.size()) request.first = parse_numbers(text.substr(split + 1), ',', 3, 0);
  if (!lengths || (split < text.size() && !request.first))
    return wrong_value(
        "a Tofu box is six lengths such as 4x3x8x2x3x2, optionally with its first group: 4x3x8x2x3x2@0,0,1",
        fmt::format("'{}'", text), "give six lengths x, y, z, a, b, c");
  request.lengths = *lengths;
  return request;
}

Shape whole_torus(const TofuMachine& machine) {
  const TofuPlace l = machine.job_lengths();
  return Shape({Axis{l[x] * l[a]}, Axis{l[y] * l[b]}, Axis{l[z] * l[c]}});
}

Result<VirtualTorus> lay_whole(const TofuMachine& machine) {
  const TofuPlace usable = machine.job_lengths();
  const Shape shape = whole_torus(machine);
  auto rings = find_rings(usable_axes(machine, usable), shape);
  if (!rings) return fits_nowhere(machine, usable, shape);
  TofuBox box{{}, usable};
  box.first[z] = machine.relays;
  return lay_cut_or_not(machine, box, shape, std::move(*rings));
}

Result<VirtualTorus> lay_job(const TofuMachine& machine, const Shape& job) {
  const TofuPlace usable = machine.job_lengths();
  auto rings = job.dimensions() > 3 ? std::nullopt : find_rings(usable_axes(machine, usable), job);
  if (!rings) return fits_nowhere(machine, usable, job);
  TofuPlace lengths{1, 1, 1, usable[a], usable[b], usable[c]};
  for (const TofuRing& ring : *rings)
    for (const auto& level : ring.levels())
      if (level.axis <= z) lengths[level.axis] = level.used;
  return lay(machine, places_for(machine, lengths), job, *rings);
}

Result<VirtualTorus> lay_job(const TofuMachine& machine, const TofuRequest& asked, const std::optional<Shape>& job) {
  const TofuPlace usable = machine.job_lengths();
  for (std::int32_t axis = 0; axis < Tofu::axes; ++axis)
    if (asked.lengths[axis] > usable[axis] || (axis >= a && asked.lengths[axis] != usable[axis]))
      return too_large(machine, text_of(asked.lengths, "x"));
  std::vector<TofuBox> places;
  if (asked.first) {
    const TofuBox box{*asked.first, asked.lengths};
    for (std::int32_t axis = 0; axis < Tofu::axes; ++axis) {
      const auto possible = axis <= z ? beginnings(machine, axis, box.lengths[axis]) : std::vector<std::int32_t>{0};
      if (std::find(possible.begin(), possible.end(), box.first[axis]) == possible.end())
        return too_large(machine,
                         fmt::format("{} from {} on", text_of(asked.lengths, "x"), text_of(*asked.first, ",")));
    }
    places = {box};
  } else {
    places = places_for(machine, asked.lengths);
  }
  const TofuPlace& l = asked.lengths;
  const Shape shape = job.value_or(Shape({Axis{l[x] * l[a]}, Axis{l[y] * l[b]}, Axis{l[z] * l[c]}}));
  auto rings = shape.dimensions() > 3 ? std::nullopt : find_rings(usable_axes(machine, l), shape);
  if (!rings) return fits_nowhere(machine, l, shape);
  return lay(machine, places, shape, *rings);
}

} // namespace kumihimo
