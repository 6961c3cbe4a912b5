#include "base/wide.hpp"
#include "simulate/flow/compiled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <unordered_map>

namespace kumihimo::simulation {

namespace {

// sum of floor((a i + b) / m) for 0 <= i < n, by Euclid's algorithm in O(log m).
Wide floor_sum(Wide n, Wide m, Wide a, Wide b) {
  Wide sum = 0;
  while (n > 0) {
    sum += (a / m) * (n * (n - 1) / 2) + (b / m) * n;
    a %= m, b %= m;
    const Wide top = a * n + b;
    if (top < m) break;
    n = top / m;
    b = top % m;
    std::swap(m, a);
  }
  return sum;
}

// Elements of parts [first, first + count) of m of every segment, all segments together.
Wide elements_of_parts(std::int64_t first, std::int64_t count, std::int64_t m, std::int64_t n, std::int64_t segments) {
  const Wide all = static_cast<Wide>(m) * segments;
  if (n % all == 0) return n / all * count * segments;
  const Wide step = static_cast<Wide>(m) * n, begin = static_cast<Wide>(first) * n;
  return floor_sum(segments, all, step, begin + static_cast<Wide>(count) * n) - floor_sum(segments, all, step, begin);
}

std::int64_t elements_of_block(const Collective& c, Layout layout, std::int64_t block, std::int64_t rank) {
  const auto& table = c.counts.table;
  switch (c.counts.known) {
  case Counts::Known::uniform:
    return c.counts.each;
  case Counts::Known::local:
    return layout == Layout::input_blocks ? (*table)[rank * c.ranks + block] : (*table)[block * c.ranks + rank];
  default:
    return (*table)[block];
  }
}

bool varies(const Expression& e, std::int32_t depth) { return e.depends_on(Variable{depth}); }

bool lengths_vary(const Extent& extent, std::int32_t depth) {
  return std::any_of(extent.runs.begin(), extent.runs.end(),
                     [&](const RunList& list) { return varies(list.count, depth); });
}

bool constant_in(const Body& body, std::int32_t depth) {
  return std::all_of(body.begin(), body.end(), [&](const Node& node) {
    if (const Loop* loop = std::get_if<Loop>(&node)) return constant_in(loop->body, depth);
    const auto& steps = std::get<Round>(node).steps;
    return std::none_of(steps.begin(), steps.end(), [&](const Step& s) {
      return varies(s.peer, depth) || (!s.is_signal() && lengths_vary(s.extent(), depth));
    });
  });
}

// Lengths of one extent asked for by all ranks: remembered, for they take a division in 128 bits for every bit.
class PartLengths {
 public:
  PartLengths(const Collective& c, std::int64_t segments) : c_(c), segments_(segments) {}

  double mean(std::int64_t first, std::int64_t count, std::int64_t m) {
    if (segments_ == 1 || c_.counts.each % (static_cast<Wide>(m) * segments_) == 0) return compute(first, count, m);
    const auto [at, fresh] = known_.try_emplace(std::array{first, count, m}, 0.0);
    if (fresh) at->second = compute(first, count, m);
    return at->second;
  }

 private:
  double compute(std::int64_t first, std::int64_t count, std::int64_t m) const {
    return static_cast<double>(elements_of_parts(first, count, m, c_.counts.each, segments_)) * c_.type_bytes /
           static_cast<double>(segments_);
  }
  const Collective& c_;
  std::int64_t segments_;
  std::map<std::array<std::int64_t, 3>, double> known_;
};

class Compiler {
 public:
  explicit Compiler(const Schedule& schedule) : lengths_(schedule.collective, schedule.segments.count) {
    out_.schedule = &schedule;
    out_.segments = schedule.segments.count;
  }
  Result<Compiled> run();

 private:
  void add(std::int32_t rank, const Program& program);
  void add_body(const Body& body, FlatNode& parent);
  void add_round(const Round& round, FlatNode& node);
  FlatStep flat(const Step& step);
  double bytes(const Extent& extent);
  bool iterated(const Expression& e) const; // depends on a loop that is iterated
  bool moves(const Extent& extent) const;   // its position depends on a loop
  std::int32_t lane_index(const Lane& lane);
  void order_lanes();
  void find_phases();

  Compiled out_;
  PartLengths lengths_;
  std::unordered_map<std::int32_t, std::int32_t> lane_of_id_;
  std::vector<bool> iterated_{false}; // by depth: a loop whose iterations are walked one by one
  std::int32_t rank_ = 0;
  std::int64_t times_ = 1; // trips of the enclosing loops, multiplied
  double reduced_ = 0;     // bytes reduced by the current lane
  std::string wrong_;
};

bool Compiler::iterated(const Expression& e) const {
  for (std::size_t d = 1; d < iterated_.size(); ++d)
    if (iterated_[d] && varies(e, static_cast<std::int32_t>(d))) return true;
  return false;
}

bool Compiler::moves(const Extent& extent) const {
  for (std::size_t d = 1; d < iterated_.size(); ++d)
    for (const RunList& list : extent.runs)
      if (varies(list.first, static_cast<std::int32_t>(d))) return true;
  return false;
}

// Where the position varies over a loop, parts count their mean length.
double Compiler::bytes(const Extent& extent) {
  const std::array<std::int64_t, 8> zeros{};
  const Collective& c = out_.schedule->collective;
  if (extent.layout != Layout::vector || moves(extent)) return mean_bytes(extent, c, out_.segments, rank_, zeros);
  double sum = 0;
  for (const RunList& list : extent.runs) {
    const std::int64_t count = std::max<std::int64_t>(0, list.count.evaluate(zeros)),
                       first = list.first.evaluate(zeros);
    for (std::int64_t o = 0; o < list.outer.runs; ++o)
      for (std::int64_t i = 0; i < list.inner.runs; ++i)
        sum += lengths_.mean(first + o * list.outer.stride + i * list.inner.stride, count, extent.parts);
  }
  return sum;
}

FlatStep Compiler::flat(const Step& step) {
  FlatStep f;
  f.kind = step.kind;
  const bool has_peer = step.sends() || step.receives();
  bool dynamic = has_peer && iterated(step.peer);
  if (!step.is_signal())
    for (const RunList& list : step.extent().runs) dynamic = dynamic || iterated(list.count);
  if (dynamic) {
    f.dynamic = static_cast<std::int32_t>(out_.dynamic.size());
    out_.dynamic.push_back({step.peer, step.is_signal() ? Extent{} : step.extent()});
    return f;
  }
  const std::array<std::int64_t, 8> zeros{};
  if (has_peer) {
    if (varies(step.peer, 0)) wrong_ = "a peer that changes from segment to segment";
    f.peer = static_cast<std::int32_t>(step.peer.evaluate(zeros));
    if (f.peer < 0 || f.peer >= out_.schedule->ranks()) wrong_ = fmt::format("peer {}", f.peer);
  }
  if (!step.is_signal()) f.bytes = bytes(step.extent());
  return f;
}

void Compiler::add_round(const Round& round, FlatNode& node) {
  node.first = static_cast<std::uint32_t>(out_.steps.size());
  for (const Step& step : round.steps) {
    const FlatStep f = flat(step);
    if (step.reduces()) reduced_ += f.bytes * static_cast<double>(times_);
    if (f.dynamic >= 0 || step.is_signal() || step.kind == StepKind::offload || f.bytes > 0) out_.steps.push_back(f);
  }
  node.count = static_cast<std::uint32_t>(out_.steps.size()) - node.first;
}

void Compiler::add_body(const Body& body, FlatNode& parent) {
  std::vector<FlatNode> children;
  children.reserve(body.size());
  const auto depth = static_cast<std::int32_t>(iterated_.size());
  for (const Node& item : body) {
    FlatNode node;
    if (const Loop* loop = std::get_if<Loop>(&item)) {
      if (loop->trip <= 0) continue;
      node.loop = true;
      node.trip = loop->trip;
      node.in_flight = std::clamp<std::int64_t>(loop->in_flight, 1, loop->trip);
      node.collapsed = constant_in(loop->body, depth);
      iterated_.push_back(!node.collapsed);
      times_ *= loop->trip;
      add_body(loop->body, node);
      times_ /= loop->trip;
      iterated_.pop_back();
    } else {
      add_round(std::get<Round>(item), node);
    }
    if (node.count > 0) children.push_back(node);
  }
  parent.first = static_cast<std::uint32_t>(out_.nodes.size());
  parent.count = static_cast<std::uint32_t>(children.size());
  out_.nodes.insert(out_.nodes.end(), children.begin(), children.end());
}

std::int32_t Compiler::lane_index(const Lane& lane) {
  const auto [at, fresh] = lane_of_id_.try_emplace(lane.id.value, static_cast<std::int32_t>(out_.lanes.size()));
  if (fresh) out_.lanes.push_back({lane.id, lane.role});
  return at->second;
}

void Compiler::add(std::int32_t rank, const Program& program) {
  rank_ = rank;
  out_.first_instance.push_back(static_cast<std::uint32_t>(out_.instances.size()));
  for (const Lane& lane : program.lanes) {
    Instance instance;
    instance.rank = rank;
    instance.lane = lane_index(lane);
    instance.window = std::clamp<std::int64_t>(lane.window, 1, out_.segments);
    ++out_.lanes[instance.lane].instances;
    FlatNode top;
    reduced_ = 0;
    add_body(lane.body, top);
    instance.reduced = reduced_;
    instance.first_node = top.first, instance.nodes = top.count;
    instance.first_after = static_cast<std::uint32_t>(out_.afters.size());
    for (const After& after : lane.after)
      for (const LaneId id : after.lanes)
        for (const Lane& other : program.lanes)
          if (other.id == id) out_.afters.push_back({lane_index(other), after.scope});
    instance.afters = static_cast<std::uint32_t>(out_.afters.size()) - instance.first_after;
    out_.instances.push_back(instance);
  }
}

// Phases: the longest chain of `after all`; with one segment both scopes mean the same, and lanes overlap freely.
void Compiler::find_phases() {
  std::vector<std::int32_t> group(out_.lanes.size());
  std::iota(group.begin(), group.end(), 0);
  const auto root = [&](std::int32_t l) {
    while (group[l] != l) l = group[l] = group[group[l]];
    return l;
  };
  bool changed = true;
  for (std::size_t turn = 0; changed && turn <= out_.lanes.size(); ++turn) {
    changed = false;
    for (const Instance& i : out_.instances)
      for (const FlatAfter& a : out_.after(i)) {
        const bool all = a.scope == Scope::all;
        const std::int32_t least = out_.lanes[a.lane].phase + all;
        if (out_.lanes[i.lane].phase < least) out_.lanes[i.lane].phase = least, changed = true;
        if (!all) group[root(i.lane)] = root(a.lane);
      }
  }
  std::map<std::int32_t, std::int32_t> number;
  for (std::size_t l = 0; l < out_.lanes.size(); ++l) {
    FlatLane& lane = out_.lanes[l];
    lane.group =
        number.try_emplace(root(static_cast<std::int32_t>(l)), static_cast<std::int32_t>(number.size())).first->second;
    out_.phases = std::max(out_.phases, lane.phase + 1);
  }
  out_.groups = static_cast<std::int32_t>(number.size());
}

Result<Compiled> Compiler::run() {
  const Schedule& schedule = *out_.schedule;
  for (std::int32_t rank = 0; rank < schedule.ranks() && wrong_.empty(); ++rank)
    add(rank, schedule.program(Rank{rank}));
  out_.first_instance.push_back(static_cast<std::uint32_t>(out_.instances.size()));
  if (!wrong_.empty())
    return failed("expected a schedule whose peers are ranks, the same in all segments",
                  fmt::format("{} at rank {}", wrong_, rank_), "check it with `verify`");
  find_phases();
  return std::move(out_);
}

} // namespace

double mean_bytes(const Extent& extent, const Collective& collective, std::int64_t segments, std::int32_t rank,
                  std::span<const std::int64_t> values) {
  double sum = 0;
  for (const RunList& list : extent.runs) {
    const std::int64_t first = list.first.evaluate(values),
                       count = std::max<std::int64_t>(0, list.count.evaluate(values));
    for (std::int64_t o = 0; o < list.outer.runs; ++o)
      for (std::int64_t i = 0; i < list.inner.runs; ++i) {
        const std::int64_t at = first + o * list.outer.stride + i * list.inner.stride;
        if (extent.layout == Layout::vector || collective.counts.known == Counts::Known::uniform) {
          sum += static_cast<double>(collective.counts.each) * count / extent.parts;
          continue;
        }
        for (std::int64_t b = at; b < at + count; ++b)
          sum += static_cast<double>(elements_of_block(collective, extent.layout, b, rank)) / extent.parts;
      }
  }
  return sum * collective.type_bytes / static_cast<double>(segments);
}

Result<Compiled> compile(const Schedule& schedule) { return Compiler(schedule).run(); }

} // namespace kumihimo::simulation
