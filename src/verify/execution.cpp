#include "verify/execution.hpp"

#include "base/hash.hpp"
#include "verify/happens_before.hpp"
#include "verify/local_order.hpp"
#include "verify/memory.hpp"
#include "verify/memory_checks.hpp"
#include "verify/post_condition.hpp"
#include "verify/rank_state.hpp"
#include "verify/waiting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

namespace kumihimo::verify {
namespace {

class SymbolicExecution {
 public:
  SymbolicExecution(const Subject& schedule, const ExecutionScope& scope, std::size_t most)
      : schedule_(schedule), scope_(scope), most_(most), happens_before_(schedule, scope.entries_from) {}

  ExecutionOutcome run() {
    if (scope_.sampled_elements.empty()) {
      prepare({});
      go();
      return std::move(out_);
    }
    const std::size_t most = elements_at_once();
    for (std::span<const SampledElement> left = scope_.sampled_elements; !left.empty() && out_.findings.empty();) {
      const auto some = left.first(std::min(most, left.size()));
      left = left.subspan(some.size());
      prepare(some);
      for (std::size_t f = 0; f < some.size() && out_.findings.empty(); ++f) follow(f, some[f]);
    }
    return std::move(out_);
  }

 private:
  bool full() const { return out_.findings.size() >= most_; }
  void find(Check check, StepLocation place, std::string what) {
    out_.findings.push_back({check, std::move(place), std::move(what)});
  }

  // --- set-up

  void prepare(std::span<const SampledElement> sampled_elements) {
    OrderCache orders;
    ranks_.clear();
    participants_.clear();
    ranks_.resize(static_cast<std::size_t>(schedule_.ranks()));
    for (std::int32_t r = 0; r < schedule_.ranks(); ++r) {
      if (!executes(r)) continue;
      ranks_[r] = std::make_unique<RankState>(schedule_, Rank{r}, scope_, orders);
      RankState& state = *ranks_[r];
      for (const SymbolicLaneState& lane : state.lanes) participants_[lane.id].push_back(r);
      if (!sampled_elements.empty())
        state.expand(sampled_elements, out_.findings);
      else if (scope_.memory)
        fill(state);
      else if (scope_.segments == 1)
        state.expand_only_segment();
    }
  }

  // The number of elements whose steps fit in memory together, by the steps of some ranks.
  std::size_t elements_at_once() const {
    constexpr std::size_t most_bytes = std::size_t{1} << 30;
    constexpr std::int32_t some_ranks = 32;
    OrderCache orders;
    std::vector<Finding> ignored;
    std::size_t bytes = 0, tried = 0;
    for (std::int32_t r = 0; r < schedule_.ranks(); r += std::max(1, schedule_.ranks() / some_ranks), ++tried) {
      RankState state(schedule_, Rank{r}, scope_, orders);
      state.expand(scope_.sampled_elements, ignored);
      bytes += state.expanded_bytes();
    }
    const std::size_t each =
        bytes / tried * static_cast<std::size_t>(schedule_.ranks()) / scope_.sampled_elements.size();
    return std::max<std::size_t>(1, most_bytes / std::max<std::size_t>(1, each));
  }

  void follow(std::size_t f, const SampledElement& element) {
    element_ = element;
    store_ = {};
    happens_before_ = HappensBefore(schedule_, scope_.entries_from);
    store_.reserve(2 * ranks_.size());
    reference_.clear();
    for (auto& state : ranks_) {
      if (!state) continue;
      state->follow(f);
      fill(*state);
    }
    go();
  }

  void go() {
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      if (ranks_[r]) pump(static_cast<std::int32_t>(r));
    while (!full() && (finish_one() || complete_one())) {
    }
    if (!full() && !all_over()) report_stuck();
    if (out_.findings.empty()) check_result();
  }

  void fill(RankState& state) {
    const bool aliased = state.binding.one_memory();
    const bool together = state.one_memory();
    if (together) state.memory.alias(state.binding.input_within_output());
    const std::int64_t n = schedule_.post_condition.contributed(state.rank),
                       shift = state.binding.input_within_output();
    if (element_) {
      if (n == 0) return;
      const ValueId one = store_.leaf(state.rank.value, element_->element, 1);
      state.memory.put(0, element_->element, one, store_);
      if (aliased && !together) state.memory.put(1, element_->element + shift, one, store_);
      return;
    }
    if (n == 0) return;
    const ValueId all = store_.leaf(state.rank.value, 0, n);
    state.memory.put(0, 0, all, store_);
    // One that is not safe in place gets a copy of its input; the output still holds what it held.
    if (aliased && !together && shift >= 0) state.memory.put(1, shift, all, store_);
  }

  // --- control

  void pump(std::int32_t rank) {
    RankState& state = *ranks_[rank];
    for (bool moved = true; moved && !full();) {
      moved = false;
      for (std::size_t l = 0; l < state.lanes.size(); ++l) {
        if (!state.may_begin(static_cast<std::int32_t>(l))) continue;
        moved = true;
        begin(state, static_cast<std::int32_t>(l));
      }
    }
  }

  void begin(RankState& state, std::int32_t lane) {
    Activation* a = state.begin(lane);
    if (!a) return;
    a->states.resize(a->nodes.size());
    a->states[0].start = happens_before_.begin(state, lane);
    start_node(*a, 0);
  }

  void start_node(Activation& a, std::int32_t node) {
    if (a.nodes[node].round >= 0) return start_round(a, node);
    NodeState& n = a.states[node];
    n.next = n.oldest = a.nodes[node].first_child;
    happens_before_.enter(a, node);
    if (n.next < 0) return complete_node(a, node);
    start_children(a, node);
  }

  // Completions within are handled by loops.
  void start_children(Activation& a, std::int32_t node) {
    NodeState& n = a.states[node];
    while (n.next >= 0) {
      const std::int32_t child = n.next;
      if (a.nodes[n.oldest].iteration + a.nodes[node].in_flight <= a.nodes[child].iteration) return;
      n.next = a.nodes[child].next_sibling;
      happens_before_.start_child(a, node, child);
      start_node(a, child);
    }
  }

  void complete_node(Activation& a, std::int32_t node) {
    a.states[node].complete = true;
    const std::int32_t parent = a.nodes[node].parent;
    if (parent < 0) {
      RankState& state = *ranks_[a.rank];
      happens_before_.complete(state, a);
      finished_.push_back({&state, a.lane, a.segment});
      return;
    }
    NodeState& p = a.states[parent];
    happens_before_.leave(a, node);
    while (p.oldest >= 0 && a.states[p.oldest].complete) p.oldest = a.nodes[p.oldest].next_sibling;
    if (p.oldest < 0) return complete_node(a, parent);
    start_children(a, parent);
  }

  void start_round(Activation& a, std::int32_t node) {
    const TreeNode& n = a.nodes[node];
    a.states[node].pending = n.steps;
    happens_before_.enter(a, node);
    if (n.steps == 0) return complete_node(a, node);
    for (std::int32_t s = n.first_step; s < n.first_step + n.steps; ++s) start_step(a, node, s);
  }

  void start_step(Activation& a, std::int32_t node, std::int32_t index) {
    const StepInstance& s = a.steps[index];
    const End end{&a, node, index};
    if (s.has_data() && s.length == 0 && !scope_.none_empty) {
      out_.some_empty = true;
      return completed_.push_back(end);
    }
    if (scope_.memory && s.has_data()) use(end);
    if (s.kind == StepKind::copy || s.kind == StepKind::reduce) {
      if (scope_.memory) compute(end);
      return completed_.push_back(end);
    }
    if (s.kind == StepKind::compute) return completed_.push_back(end);
    if (s.kind == StepKind::offload) return offload(end);
    post(end);
  }

  bool complete_one() {
    if (completed_.empty()) return false;
    const End end = completed_.back();
    completed_.pop_back();
    ++out_.executed;
    Activation& a = *end.activation;
    if (--a.states[end.node].pending == 0) complete_node(a, end.node);
    return true;
  }

  // Activations are freed here alone, never under a function that still looks at them.
  bool finish_one() {
    if (finished_.empty()) return false;
    const Finished f = finished_.back();
    finished_.pop_back();
    f.state->finish(f.lane, f.segment);
    pump(f.state->rank.value);
    return true;
  }

  // --- messages

  void post(const End& end) {
    const StepInstance& s = end.instance();
    if (!executes(s.peer)) return meet_nobody(end);
    const StepMessageKey key = message_key(end);
    auto [it, alone] = posted_.try_emplace(key);
    End& other = s.sends() ? it->second.receive : it->second.send;
    End& mine = s.sends() ? it->second.send : it->second.receive;
    if (mine.activation) return find(Check::matching, end.place(), "starts twice under one key");
    mine = end;
    if (!other.activation) return;
    const End send = it->second.send, receive = it->second.receive;
    posted_.erase(it);
    transfer(send, receive);
  }

  bool executes(std::int32_t rank) const {
    return scope_.ranks.empty() || std::find(scope_.ranks.begin(), scope_.ranks.end(), rank) != scope_.ranks.end();
  }

  // A message from a rank that is not executed brings data that belong nowhere.
  void meet_nobody(const End& end) {
    const StepInstance& s = end.instance();
    if (s.receives() && s.has_data()) deliver(end, {store_.leaf(s.peer, std::int64_t{1} << 50, s.length)});
    completed_.push_back(end);
  }

  void transfer(const End& send, const End& receive) {
    const StepInstance &s = send.instance(), &r = receive.instance();
    if (!s.is_signal() && s.length != r.length)
      return find(Check::matching, receive.place(),
                  fmt::format("expects {} elements where {} sends {}", r.length, send.place().text(), s.length));
    if (scope_.memory && !s.is_signal()) {
      Sequence data;
      if (read(send, s.source, data)) deliver(receive, std::move(data));
    }
    happens_before_.transfer(*send.activation, send.node, *receive.activation, receive.node);
    out_.height = std::max<std::int64_t>(out_.height, receive.activation->states[receive.node].done.hops);
    completed_.push_back(send);
    completed_.push_back(receive);
  }

  void deliver(const End& end, Sequence data) {
    const StepInstance& s = end.instance();
    if (s.kind == StepKind::receive_reduce) {
      Sequence own;
      if (!read(end, s.source, own)) return;
      data = s.arriving_left ? combined(std::move(data), std::move(own)) : combined(std::move(own), std::move(data));
    }
    write(end, s.target, std::move(data));
  }

  void offload(const End& end) {
    auto& ends = offloads_[offload_key(end)];
    ends.push_back(end);
    if (ends.size() < participants_[end.activation->lane_id].size()) return;
    std::sort(ends.begin(), ends.end(),
              [](const End& a, const End& b) { return a.activation->rank < b.activation->rank; });
    if (scope_.memory && end.instance().has_data()) offload_data(ends);
    for (const End& a : ends) happens_before_.transfer(*a.activation, a.node, *ends[0].activation, ends[0].node);
    for (const End& a : ends) happens_before_.share(*ends[0].activation, ends[0].node, *a.activation, a.node);
    for (const End& a : ends) completed_.push_back(a);
    ends.clear();
  }

  // The engine combines in ascending order of rank, or hands out the root's data.
  void offload_data(const std::vector<End>& ends) {
    Sequence result;
    for (const End& end : ends) {
      if (!schedule_.data->operation && end.activation->rank != schedule_.data->source.value) continue;
      Sequence data;
      if (end.instance().length != ends[0].instance().length)
        return find(Check::matching, end.place(), "offloads a different number of elements than the other ranks");
      if (!read(end, end.instance().source, data)) return;
      result = result.empty() ? std::move(data) : combined(std::move(result), std::move(data));
    }
    for (const End& end : ends) write(end, end.instance().target, result);
  }

  // --- data

  void compute(const End& end) {
    const StepInstance& s = end.instance();
    Sequence left, right;
    if (!read(end, s.source, left)) return;
    if (s.kind == StepKind::reduce) {
      if (!read(end, s.right, right)) return;
      left = combined(std::move(left), std::move(right));
    }
    write(end, s.target, std::move(left));
  }

  Sequence combined(Sequence left, Sequence right) {
    align(left, right, store_);
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = store_.combine(left[i], right[i]);
    return left;
  }

  bool read(const End& end, const Located& place, Sequence& out) {
    const Activation& a = *end.activation;
    std::int64_t total = 0;
    for (std::int32_t i = 0; i < place.runs; ++i) {
      const ElementRun run = a.runs[place.first_run + i];
      total += run.count;
      if (const auto bad = ranks_[a.rank]->memory.read(place.buffer, run, out, store_)) {
        find(Check::dataflow, end.place(),
             fmt::format("reads {}, which no step wrote", element_text(place.buffer, *bad)));
        return false;
      }
    }
    if (total == end.instance().length) return true;
    find(Check::structure, end.place(),
         fmt::format("its operands have different lengths, {} and {} elements", total, end.instance().length));
    return false;
  }

  void write(const End& end, const Located& place, Sequence data) {
    const Activation& a = *end.activation;
    std::size_t at = 0;
    for (std::int32_t i = 0; i < place.runs; ++i)
      ranks_[a.rank]->memory.write(place.buffer, a.runs[place.first_run + i], data, at, store_);
  }

  void use(const End& end) {
    RankState& state = *ranks_[end.activation->rank];
    if (auto wrong = use_memory(state, *end.activation, end.node, end.step, store_))
      out_.findings.push_back(std::move(*wrong));
  }

  // --- the end

  bool all_over() const {
    return std::all_of(ranks_.begin(), ranks_.end(), [](const auto& r) { return !r || r->over(); });
  }

  void report_stuck() {
    // An execution of few ranks or of one element is stuck only if a full one is, or if matching is wrong.
    for (Finding& f : stuck_findings(ranks_, posted_, offloads_)) find(f.check, std::move(f.place), std::move(f.what));
  }

  void check_result() {
    if (const auto late = happens_before_.unaware()) {
      StepLocation p;
      p.rank = late->rank;
      find(Check::dataflow, p, fmt::format("may leave the barrier before rank {} has entered it", late->missing));
      return;
    }
    if (!scope_.memory) return;
    std::vector<std::uint64_t> signatures(static_cast<std::size_t>(schedule_.ranks()) + 1, 0);
    for (std::int32_t r = 0; r < schedule_.ranks(); ++r) signatures[r + 1] = signatures[r] + ValueStore::signature(r);
    for (auto& state : ranks_) {
      if (!state || (!scope_.ranks.empty() && state->rank.value != scope_.ranks[0])) continue;
      for (const ExpectedElements& w : schedule_.post_condition.wanted(state->rank)) {
        if (full()) return;
        check_wanted(*state, of_element(w), signatures);
      }
    }
  }

  ExpectedElements of_element(ExpectedElements w) const {
    if (!element_) return w;
    const std::int64_t e = element_->element;
    if (e < w.first || e >= w.first + w.count) return ExpectedElements{};
    w.position += e - w.first;
    w.first = e;
    w.count = 1;
    return w;
  }

  void check_wanted(RankState& state, const ExpectedElements& w, const std::vector<std::uint64_t>& signatures) {
    if (w.count == 0) return;
    StepLocation place;
    place.rank = state.rank.value;
    Sequence have;
    if (const auto missing = state.memory.read(1, {w.first, w.count}, have, store_)) {
      name_missing(state, *missing, w, place);
      return find(Check::dataflow, place, fmt::format("{} of the result was never written", element_text(1, *missing)));
    }
    std::int64_t at = 0;
    for (ValueId v : have) {
      const Facts& f = store_.facts(v);
      const std::string_view wrong = difference(f, w, at, signatures);
      if (!wrong.empty()) {
        name_writer(state, w.first + at, place);
        return find(Check::dataflow, place,
                    fmt::format("{} of the result is {}: {} in place of the contributions of ranks {} to {} at element "
                                "{}",
                                element_text(1, w.first + at), wrong, store_.text(v), w.low, w.high - 1,
                                w.position + at));
      }
      at += store_.count(v);
    }
    if (!element_) note_order(have);
    if (schedule_.post_condition.same_bits) compare_with_first(state, w, std::move(have), place);
  }

  // However the result is cut in values: neighbours in one order count as one.
  void note_order(const Sequence& have) {
    for (std::size_t i = 0; i < have.size();) {
      const std::uint64_t order = store_.facts(have[i]).order;
      std::int64_t elements = 0;
      for (; i < have.size() && store_.facts(have[i]).order == order; ++i) elements += store_.count(have[i]);
      out_.order = mixed(mixed(out_.order, order), static_cast<std::uint64_t>(elements));
    }
  }

  std::string_view difference(const Facts& f, const ExpectedElements& w, std::int64_t at,
                              const std::vector<std::uint64_t>& signatures) const {
    if (f.contributions < w.high - w.low) return "incomplete";
    if (f.contributions > w.high - w.low) return "counted twice";
    if (f.ranks != signatures[w.high] - signatures[w.low]) return "made of the wrong ranks";
    if (f.position != w.position + at) return "made of the wrong elements";
    if (schedule_.claims.keeps_rank_order && (!f.in_order || f.low != w.low || f.high != w.high))
      return "not in rank order, as claimed";
    return {};
  }

  // As claimed, all ranks hold the same tree of operations, so the same bits.
  void compare_with_first(RankState& state, const ExpectedElements& w, Sequence have, StepLocation place) {
    if (reference_.empty()) {
      reference_ = std::move(have);
      return;
    }
    align(have, reference_, store_);
    std::int64_t at = 0;
    for (std::size_t i = 0; i < have.size(); ++i) {
      if (have[i] != reference_[i]) {
        name_writer(state, w.first + at, place);
        return find(Check::dataflow, place,
                    fmt::format("{} is combined as {} here and as {} on rank 0, so the bits differ",
                                element_text(1, w.first + at), store_.text(have[i]), store_.text(reference_[i])));
      }
      at += store_.count(have[i]);
    }
  }

  // The step that wrote an element of the result, where one did.
  void name_writer(RankState& state, std::int64_t element, StepLocation& place) const {
    const auto user = state.memory.writer(1, element);
    if (!user) return;
    state.name_step(*user, place);
  }

  // Where an element that was never written had its last chance: the lane that brought it to another rank, or else the
  // last one, and there the last step of its segment that writes anything.
  void name_missing(RankState& state, std::int64_t element, const ExpectedElements& w, StepLocation& place) const {
    const std::int64_t count = schedule_.segments.count;
    place.segment = element_
                        ? element_->segment
                        : static_cast<std::int64_t>(((static_cast<Wide>(element - w.first) + 1) * count - 1) / w.count);
    if (state.lanes.empty()) return;
    std::int32_t lane = static_cast<std::int32_t>(state.lanes.size()) - 1;
    for (const auto& other : ranks_)
      if (const auto user = other ? other->memory.writer(1, element) : std::nullopt;
          user && schedule_.post_condition.by_element) {
        const std::int32_t same = state.lane_index(other->lanes[user->lane].id);
        if (same >= 0) lane = same;
        break;
      }
    state.locate_last_write(lane, place);
  }

  struct Finished {
    RankState* state;
    std::int32_t lane;
    std::int64_t segment;
  };

  const Subject& schedule_;
  const ExecutionScope& scope_;
  std::size_t most_;
  ExecutionOutcome out_;
  std::optional<SampledElement> element_; // followed now
  ValueStore store_;
  HappensBefore happens_before_;
  std::vector<std::unique_ptr<RankState>> ranks_;
  std::unordered_map<std::int32_t, std::vector<std::int32_t>> participants_; // of each lane id
  Posted posted_;
  Offloaded offloads_;
  std::vector<End> completed_;
  std::vector<Finished> finished_;
  Sequence reference_; // rank 0's result
};

} // namespace

ExecutionOutcome execute(const Subject& schedule, const ExecutionScope& scope, std::size_t most_findings) {
  return SymbolicExecution(schedule, scope, most_findings).run();
}

} // namespace kumihimo::verify
