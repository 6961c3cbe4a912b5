// Compiles the program of a rank: rounds that wait for rounds, memory of scratch buffers, demands on the transport.
#include "execute/compiled_program.hpp"
#include "program/round_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace kumihimo::execute {

Status number_steps(LaneCode& lane, std::int64_t segment, std::int32_t ranks); // engine_resolve.cpp

namespace {

constexpr std::int64_t most_rounds = std::int64_t{1} << 24; // of one lane and segment
constexpr std::int64_t few_steps = 4096; // if all segments together have at most as many, they are resolved once

// fn(step) for every step as written.
template <class F>
void for_each_step(const Body& body, F&& fn) {
  for (const Node& node : body) {
    if (const Loop* loop = std::get_if<Loop>(&node)) {
      for_each_step(loop->body, fn);
      continue;
    }
    for (const Step& step : std::get<Round>(node).steps) fn(step);
  }
}

Status expand(const Lane& written, LaneCode& lane) {
  const std::optional<RoundGraph> graph = round_graph(written, most_rounds);
  if (!graph)
    return failed(fmt::format("lane {} has more than {} rounds a segment", lane.id.value, most_rounds), {},
                  "choose an algorithm with fewer rounds");
  lane.in_order = graph->is_chain;
  lane.round_count = static_cast<std::int32_t>(graph->vertices.size());
  lane.rounds.reserve(graph->vertices.size());
  for (const auto& [round, values] : graph->vertices) {
    lane.rounds.push_back({round, static_cast<std::int32_t>(lane.steps.size()), values});
    if (round) lane.steps.resize(lane.steps.size() + round->steps.size());
  }
  std::vector<RoundGraph::Edge> edges = graph->edges;
  std::sort(edges.begin(), edges.end());
  lane.waits.assign(graph->vertices.size(), 0);
  lane.next_begin.assign(graph->vertices.size() + 1, 0);
  for (const auto& [from, to] : edges) {
    ++lane.waits[static_cast<std::size_t>(to)];
    ++lane.next_begin[static_cast<std::size_t>(from) + 1];
    lane.nexts.push_back(to);
  }
  for (std::size_t r = 0; r < graph->vertices.size(); ++r) lane.next_begin[r + 1] += lane.next_begin[r];
  return Nothing{};
}

std::int64_t round_up(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

} // namespace

class ProgramCompiler {
 public:
  explicit ProgramCompiler(CompiledProgram& program) : p_(program) {}

  Status compile() {
    lay_out_scratch();
    for (const Lane& lane : p_.program_->lanes)
      if (Status s = add(lane); !s) return s;
    auto waits = waits_of(*p_.program_, p_.segments());
    for (std::size_t i = 0; i < p_.lanes_.size(); ++i) {
      p_.lanes_[i].segment_waits = std::move(waits[i]);
      if (Status s = state_demands(p_.lanes_[i]); !s) return s;
    }
    auto& peers = p_.demands_.peers;
    std::sort(peers.begin(), peers.end());
    peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
    std::erase(peers, p_.rank());
    p_.demands_.element_bytes = p_.data().type_bytes;
    p_.demands_.fabric = p_.hints().fabric;
    return resolve_if_few();
  }

  // The lengths of another call.
  Status bind_again() {
    lay_out_scratch();
    p_.demands_.largest_bytes = 0;
    return resolve_if_few();
  }

 private:
  void lay_out_scratch() {
    p_.scratch_.clear();
    p_.scratch_bytes_ = 0;
    for (const Scratch& s : p_.program_->scratch) {
      const std::int64_t window = scratch_window(*p_.program_, s, p_.segments());
      const std::int64_t elements = p_.binding_.scratch_elements(s, window);
      p_.scratch_.push_back({p_.scratch_bytes_, window, elements});
      p_.scratch_bytes_ += round_up(elements * p_.data().type_bytes);
    }
  }

  Status add(const Lane& lane) {
    if (lane.window < 1)
      return failed(fmt::format("the window of lane {} must be at least 1", lane.id.value),
                    std::to_string(lane.window));
    LaneCode& code = p_.lanes_.emplace_back();
    code.id = lane.id;
    code.window = std::min(lane.window, std::max<std::int64_t>(1, p_.segments().count));
    for_each_step(lane.body, [&](const Step& s) { code.peers_vary |= s.peer.depends_on(Variable{0}); });
    if (Status s = expand(lane, code); !s) return s;
    return number_steps(code, 0, p_.data().ranks);
  }

  Status state_demands(const LaneCode& lane) {
    Demands& d = p_.demands_;
    d.lanes = std::max(d.lanes, lane.id.value + 1);
    d.window = std::max(d.window, lane.window);
    LaneCode numbered = lane;
    for (std::int64_t segment = 0; segment < (lane.peers_vary ? p_.segments().count : 1); ++segment) {
      if (Status s = number_steps(numbered, segment, p_.data().ranks); !s) return s;
      for (const LaneCode::ExpandedStep& s : numbered.steps) {
        if (!lane.in_order) d.spread = std::max(d.spread, s.ordinal);
        if (s.peer.value >= 0) d.peers.push_back(s.peer);
      }
    }
    return Nothing{};
  }

  // All segments now, if they are few steps; else the first and the last, to find errors early (lengths are those of
  // one of the two up to one element).
  Status resolve_if_few() {
    std::int64_t steps = 0;
    for (const LaneCode& lane : p_.lanes_) steps += static_cast<std::int64_t>(lane.steps.size());
    const std::int64_t count = p_.segments().count;
    const bool all = steps <= few_steps && count <= few_steps && steps * count <= few_steps;
    for (LaneCode& lane : p_.lanes_) {
      std::vector<ResolvedSegment> resolved(static_cast<std::size_t>(all ? count : std::min<std::int64_t>(count, 2)));
      for (std::size_t k = 0; k < resolved.size(); ++k) {
        const std::int64_t segment = all || k == 0 ? static_cast<std::int64_t>(k) : count - 1;
        if (Status s = p_.resolve(lane, segment, resolved[k]); !s) return s;
        for (const Op& op : resolved[k].ops) {
          // A run of another segment may be longer by an element.
          const std::int64_t more = std::max(op.source.run_count, op.target.run_count) * p_.data().type_bytes;
          p_.demands_.largest_bytes = std::max(p_.demands_.largest_bytes, op.bytes + (all ? 0 : more));
          p_.demands_.offloads |= op.kind == StepKind::offload;
        }
      }
      if (all) lane.segments = std::move(resolved);
    }
    if (all && !p_.data().own) forget_source();
    return Nothing{};
  }

  // No step is resolved again. The source takes about half of the memory of a plan, and a program has hundreds of
  // plans.
  void forget_source() {
    for (LaneCode& lane : p_.lanes_) {
      lane.rounds = {};
      lane.steps = {};
      for (ResolvedSegment& segment : lane.segments) {
        segment.ops.shrink_to_fit();
        segment.runs.shrink_to_fit();
      }
    }
    p_.program_.reset();
  }

  CompiledProgram& p_;
};

CompiledProgram::CompiledProgram(const ProgramSet& set, Rank rank, const CompileOptions& options)
    : program_(std::make_shared<const Program>(set.program(rank))), binding_(set, rank), options_(options) {
  measure_buffers();
}

void CompiledProgram::measure_buffers() {
  area_elements_ = {binding_.input_elements(), binding_.output_elements()};
  aliased_ = binding_.one_memory();
  if (!aliased_) return;
  const std::int64_t shift = binding_.input_within_output(), type_bytes = data().type_bytes;
  // One memory, which the larger of the two fills; as one name the other may be used for what both have.
  if (shift == 0) area_elements_.fill(std::max(area_elements_[0], area_elements_[1]));
  shared_begin_bytes_ = {std::max<std::int64_t>(shift, 0) * type_bytes, std::max<std::int64_t>(-shift, 0) * type_bytes};
  if (!options_.in_place_safe) aside_bytes_ = area_elements_[0] * type_bytes;
}

Status CompiledProgram::bind(std::shared_ptr<const OwnBlocks> blocks) {
  binding_.bind(std::move(blocks));
  measure_buffers();
  return ProgramCompiler(*this).bind_again();
}

Result<CompiledProgram> compile(const ProgramSet& set, Rank rank, const CompileOptions& options) {
  if (rank.value < 0 || rank.value >= set.ranks())
    return wrong_value(fmt::format("the rank must be 0 to {}", set.ranks() - 1), rank.value);
  CompiledProgram program(set, rank, options);
  if (Status s = ProgramCompiler(program).compile(); !s) return s.error();
  return program;
}

} // namespace kumihimo::execute
