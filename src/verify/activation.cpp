#include "verify/activation.hpp"

#include "program/cursor.hpp"
#include "verify/iteration_ranges.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

namespace kumihimo::verify {
namespace {

// Numbers the steps towards each peer, in program order.
class Ordinals {
 public:
  std::int32_t next(const StepInstance& s) {
    const std::int64_t key = std::int64_t{s.peer} * 4 + (s.sends() ? 2 : 0) + (s.is_signal() ? 1 : 0);
    return counts_[key]++;
  }

 private:
  std::unordered_map<std::int64_t, std::int32_t> counts_;
};

class Walker {
 public:
  Walker(const Program& program, const Binding& binding, std::int32_t lane, std::int64_t segment)
      : program_(program), binding_(binding) {
    a_.rank = binding.rank().value;
    a_.lane = lane;
    a_.lane_id = program.lanes[lane].id.value;
    a_.segment = segment;
    values_[0] = segment;
    trips_.push_back(binding.segments().count);
    a_.nodes.emplace_back();
  }

  // With an element, only the steps that touch it.
  Activation walk(const SampledElement* element, std::vector<Finding>* findings) {
    element_ = element, findings_ = findings;
    body(program_.lanes[a_.lane].body, 0, 1);
    return std::move(a_);
  }

 private:
  std::int32_t add(std::int32_t parent, std::int64_t iteration) {
    const auto node = static_cast<std::int32_t>(a_.nodes.size());
    TreeNode n;
    n.parent = parent, n.iteration = iteration;
    a_.nodes.push_back(n);
    std::int32_t& last = last_child_[parent];
    (last < 0 ? a_.nodes[parent].first_child : a_.nodes[last].next_sibling) = node;
    last = node;
    last_child_.push_back(-1);
    return node;
  }

  // Takes the node just added away if nothing came into it: who comes after it in its parent waits for the same others.
  void drop_if_empty(std::int32_t node, std::int32_t parent, std::int32_t before) {
    if (a_.nodes[node].first_child >= 0) return;
    a_.nodes.pop_back();
    last_child_.pop_back();
    last_child_[parent] = before;
    (before < 0 ? a_.nodes[parent].first_child : a_.nodes[before].next_sibling) = -1;
  }

  void body(const Body& nodes, std::int32_t parent, std::int32_t depth) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (const Round* r = std::get_if<Round>(&nodes[i]))
        round(*r, parent, static_cast<std::int64_t>(i), depth);
      else
        loop(std::get<Loop>(nodes[i]), parent, static_cast<std::int64_t>(i), depth);
    }
  }

  void loop(const Loop& l, std::int32_t parent, std::int64_t position, std::int32_t depth) {
    const std::int32_t first_round = round_;
    if (l.trip <= 0) {
      round_ += rounds_as_written(l.body);
      return;
    }
    trips_.push_back(l.trip);
    const std::int32_t before = last_child_[parent], node = add(parent, position);
    a_.nodes[node].in_flight =
        static_cast<std::int32_t>(std::min<std::int64_t>(l.in_flight, std::numeric_limits<std::int32_t>::max()));
    a_.nodes[node].is_loop = true;
    const auto iterate = [&](std::int64_t i) {
      values_[depth] = i;
      round_ = first_round;
      const std::int32_t before_it = last_child_[node], iteration = add(node, i);
      if (l.together)
        a_.nodes[iteration].in_flight = static_cast<std::int32_t>(std::max<std::size_t>(1, l.body.size()));
      body(l.body, iteration, depth + 1);
      drop_if_empty(iteration, node, before_it);
    };
    if (element_) {
      std::vector<Range> wanted;
      append_iterations(l.body, depth, depth, wanted);
      unite(wanted);
      for (const Range& r : wanted)
        for (std::int64_t i = r.low; i <= r.high; ++i) iterate(i);
    } else {
      for (std::int64_t i = 0; i < l.trip; ++i) iterate(i);
    }
    trips_.pop_back();
    drop_if_empty(node, parent, before);
    round_ = first_round + rounds_as_written(l.body);
  }

  void round(const Round& r, std::int32_t parent, std::int64_t position, std::int32_t depth) {
    const std::int32_t written = round_++;
    std::int32_t node = -1;
    const Values values(values_.data(), static_cast<std::size_t>(depth));
    for (std::size_t j = 0; j < r.steps.size(); ++j) {
      const Step& step = r.steps[j];
      std::optional<std::int64_t> offset; // of the element, in the step's packed data
      if (element_) {
        if (!step.has_data()) continue;
        offset = offset_in(step.extent(), values);
        if (!offset) continue;
      }
      if (node < 0) {
        node = add(parent, position);
        a_.nodes[node].round = written;
        a_.nodes[node].first_step = static_cast<std::int32_t>(a_.steps.size());
      }
      ++a_.nodes[node].steps;
      instance(step, static_cast<std::int32_t>(j), values, offset);
      if (element_) check_names(step, node, values, *offset);
    }
  }

  void instance(const Step& step, std::int32_t index, Values values, std::optional<std::int64_t> offset) {
    StepInstance s;
    s.kind = step.kind;
    s.arriving_left = step.arriving_left;
    s.step = index;
    if (step.sends() || step.receives()) s.peer = static_cast<std::int32_t>(step.peer.evaluate(values));
    s.source = locate(step.source, values, offset);
    s.right = locate(step.right, values, offset);
    s.target = locate(step.target, values, offset);
    const Located& measured = s.kind == StepKind::send ? s.source : s.target;
    if (measured.exists())
      for (std::int32_t i = 0; i < measured.runs; ++i) s.length += a_.runs[measured.first_run + i].count;
    if (s.sends() || s.receives()) s.ordinal = ordinals_.next(s);
    if (s.kind == StepKind::offload) s.ordinal = offloads_++;
    a_.steps.push_back(s);
  }

  Located locate(const Chunk& chunk, Values values, std::optional<std::int64_t> offset) {
    if (!chunk.exists()) return {};
    Located l;
    l.buffer = chunk.buffer.kind == Buffer::Kind::input    ? 0
               : chunk.buffer.kind == Buffer::Kind::output ? 1
                                                           : 2 + chunk.buffer.index;
    l.first_run = static_cast<std::int32_t>(a_.runs.size());
    binding_.append_chunk(program_, chunk, values, a_.runs);
    if (offset) keep_one(l.first_run, *offset);
    l.runs = static_cast<std::int32_t>(a_.runs.size()) - l.first_run;
    return l;
  }

  void keep_one(std::int32_t first_run, std::int64_t offset) {
    for (std::size_t i = first_run; i < a_.runs.size(); ++i) {
      const ElementRun run = a_.runs[i];
      if (offset >= run.count) {
        offset -= run.count;
        continue;
      }
      a_.runs.resize(static_cast<std::size_t>(first_run) + 1);
      a_.runs[first_run] = {run.first + offset, 1};
      return;
    }
    a_.runs.resize(first_run);
  }

  // --- one element alone

  // The part of the segment that holds the element, where the segment is cut in m.
  std::int64_t unit(std::int64_t m) const {
    const std::int64_t n = binding_.data().elements, all = m * binding_.segments().count;
    // The last i with floor(i n / all) <= element.
    const auto i = static_cast<std::int64_t>(((static_cast<Wide>(element_->element) + 1) * all - 1) / n);
    return i - element_->segment * m;
  }

  std::optional<std::int64_t> offset_in(const Extent& extent, Values values) {
    scratch_runs_.clear();
    if (!may_hold(extent, values)) return std::nullopt;
    binding_.append_runs(extent, values, scratch_runs_);
    std::int64_t before = 0;
    for (const ElementRun& run : scratch_runs_) {
      if (element_->element >= run.first && element_->element < run.first + run.count)
        return before + element_->element - run.first;
      before += run.count;
    }
    return std::nullopt;
  }

  // A quick test of the units, so that long lists of parts are not resolved in vain.
  bool may_hold(const Extent& extent, Values values) const {
    if (extent.runs.size() != 1) return true;
    const RunList& list = extent.runs[0];
    if (list.inner.runs != 1 || list.outer.runs != 1) return true;
    const std::int64_t u = unit(extent.parts), first = list.first.evaluate(values);
    return u >= first && u < first + list.count.evaluate(values);
  }

  // Iterations of the loop at `depth` in which a step inside may touch the element; `at` is the depth of `nodes`.
  void append_iterations(const Body& nodes, std::int32_t depth, std::int32_t at, std::vector<Range>& out) {
    for (const Node& node : nodes) {
      if (const Loop* inner = std::get_if<Loop>(&node)) {
        if (inner->trip <= 0) continue;
        trips_.push_back(inner->trip);
        append_iterations(inner->body, depth, at + 1, out);
        trips_.pop_back();
        continue;
      }
      for (const Step& step : std::get<Round>(node).steps)
        if (!step.is_signal()) append_iterations(step.extent(), depth, out);
    }
  }

  void append_iterations(const Extent& extent, std::int32_t depth, std::vector<Range>& out) {
    const std::int64_t u = unit(extent.parts);
    for (const RunList& list : extent.runs)
      for (std::int64_t o = 0; o < list.outer.runs; ++o)
        for (std::int64_t i = 0; i < list.inner.runs; ++i) {
          // first + shift <= u < first + shift + count
          const std::int64_t shift = o * list.outer.stride + i * list.inner.stride;
          if (list.count.is_constant()) {
            append_iteration_ranges(list.first, depth, {u - shift - list.count.constant() + 1, u - shift}, values_,
                                    trips_, out);
            continue;
          }
          std::vector<Range> begins, ends;
          append_iteration_ranges(list.first, depth, {std::int64_t{-1} << 60, u - shift}, values_, trips_, begins);
          append_iteration_ranges(list.first + list.count, depth, {u - shift + 1, std::int64_t{1} << 60}, values_,
                                  trips_, ends);
          for (const Range& a : begins)
            for (const Range& b : ends)
              if (std::max(a.low, b.low) <= std::min(a.high, b.high))
                out.push_back({std::max(a.low, b.low), std::min(a.high, b.high)});
        }
  }

  // The element stands at the same place of every operand, or data moves under another name.
  void check_names(const Step& step, std::int32_t node, Values values, std::int64_t offset) {
    for (const Chunk* chunk : {&step.source, &step.right, &step.target}) {
      if (!chunk->exists() || chunk->extent == step.extent()) continue;
      if (offset_in(chunk->extent, values) == offset) continue;
      findings_->push_back({Check::dataflow, a_.place(node, static_cast<std::int32_t>(a_.steps.size()) - 1),
                            "combines or moves elements of different positions"});
      return;
    }
  }

  const Program& program_;
  const Binding& binding_;
  const SampledElement* element_ = nullptr;
  std::vector<Finding>* findings_ = nullptr;
  Activation a_;
  std::vector<std::int32_t> last_child_{-1}; // of each node
  LoopValues values_{};
  std::vector<std::int64_t> trips_;
  std::vector<ElementRun> scratch_runs_;
  std::int32_t round_ = 0, offloads_ = 0;
  Ordinals ordinals_;
};

} // namespace

StepLocation Activation::place(std::int32_t node, std::int32_t step) const {
  StepLocation p;
  p.rank = rank, p.lane = lane_id, p.segment = segment, p.round = nodes[node].round;
  for (std::int32_t n = node; nodes[n].parent >= 0; n = nodes[n].parent)
    if (nodes[nodes[n].parent].is_loop) p.loops.push_back(nodes[n].iteration);
  std::reverse(p.loops.begin(), p.loops.end());
  if (step >= 0) p.step = steps[step].step, p.kind = steps[step].kind, p.peer = steps[step].peer;
  return p;
}

bool Activation::ordered(std::int32_t a, std::int32_t b) const {
  const auto depth = [&](std::int32_t n) {
    int d = 0;
    for (; nodes[n].parent >= 0; n = nodes[n].parent) ++d;
    return d;
  };
  int da = depth(a), db = depth(b);
  std::int32_t x = a, y = b;
  for (; da > db; --da) x = nodes[x].parent;
  for (; db > da; --db) y = nodes[y].parent;
  if (x == y) return false; // the same round
  while (nodes[x].parent != nodes[y].parent) x = nodes[x].parent, y = nodes[y].parent;
  return nodes[x].iteration + nodes[nodes[x].parent].in_flight <= nodes[y].iteration;
}

Activation ActivationExpander::full(std::int32_t lane, std::int64_t segment) const {
  return Walker(program_, binding_, lane, segment).walk(nullptr, nullptr);
}

Activation ActivationExpander::of_element(std::int32_t lane, const SampledElement& element,
                                          std::vector<Finding>& findings) const {
  return Walker(program_, binding_, lane, element.segment).walk(&element, &findings);
}

ElementRun ActivationExpander::reach(std::int32_t lane, std::int64_t segment) const {
  const std::int64_t n = binding_.data().elements, all = binding_.segments().count;
  const std::int64_t begin = part_begin(segment, all, n), end = part_begin(segment + 1, all, n);
  std::int64_t low = end, high = begin;
  for_each_round_as_written(program_.lanes[lane], binding_.segments(), [&](const Round& round, Values trips) {
    if (std::count(trips.begin(), trips.end(), 0) > 0) return;
    for (const Step& step : round.steps) {
      if (!step.has_data()) continue;
      const Extent& e = step.extent();
      for (const RunList& list : e.runs) {
        const auto [first, last] = list.hull(trips);
        const std::int64_t m = all * e.parts, base = segment * e.parts;
        low = std::min(low, part_begin(base + std::clamp<std::int64_t>(first, 0, e.parts), m, n));
        high = std::max(high, part_begin(base + std::clamp<std::int64_t>(last, 0, e.parts), m, n));
      }
    }
  });
  return {low, std::max<std::int64_t>(0, high - low)};
}

} // namespace kumihimo::verify
