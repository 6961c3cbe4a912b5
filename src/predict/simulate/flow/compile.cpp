#include "simulate/flow/compiled.hpp"
#include "simulate/offload.hpp"
#include "simulate/program_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_set>
#include <utility>

namespace kumihimo::simulation {
namespace {

bool varies(const Expression& e, std::int32_t depth) { return e.depends_on(Variable{depth}); }

bool of_unequal_blocks(const Extent& extent, const DataLayout& data) {
  return extent.layout != kumihimo::Layout::vector && !data.layout(extent.layout).uniform();
}

// Whether the extent names another number of blocks in each iteration, or others of unequal blocks.
bool lengths_vary(const Extent& extent, std::int32_t depth, const DataLayout& data) {
  const bool unequal = of_unequal_blocks(extent, data);
  return std::any_of(extent.runs.begin(), extent.runs.end(), [&](const RunList& list) {
    return varies(list.count, depth) || (unequal && varies(list.first, depth));
  });
}

bool constant_in(const Body& body, std::int32_t depth, const DataLayout& data) {
  return std::all_of(body.begin(), body.end(), [&](const Node& node) {
    if (const Loop* loop = std::get_if<Loop>(&node)) return constant_in(loop->body, depth, data);
    const auto& [steps, gap] = std::get<Round>(node);
    return !varies(gap, depth) && std::none_of(steps.begin(), steps.end(), [&](const Step& s) {
      return varies(s.peer, depth) || (!s.is_signal() && lengths_vary(s.extent(), depth, data));
    });
  });
}

// Steps that are held of a long lane, if all ranks have so many: about 300 MB for all together (a step and its node
// have 72 bytes), but enough of each to read it in few pieces.
std::int64_t steps_held(std::int32_t ranks, std::size_t lanes = 1) {
  constexpr std::int64_t least = 32, most = 4096, of_all = std::int64_t{1} << 22;
  return std::clamp(of_all / ranks / static_cast<std::int64_t>(lanes), least, most);
}

class Compiler {
 public:
  explicit Compiler(const ProgramSet& schedule, const NetworkPaths* network)
      : schedule_(schedule), lengths_(*schedule.data, schedule.segments.count), network_(network) {}
  Result<Compiled> run();
  // The next rounds of a lane without loops: so many steps, or a round more.
  LanePiece read(const Instance& instance, std::int64_t position, std::int64_t steps);

 private:
  // Of a program without rounds they are read a piece at a time, so many steps in each.
  void add(std::int32_t rank, const Program& program, std::optional<std::int64_t> piece);
  void add_body(const Body& body, FlatNode& parent);
  void add_round(const Round& round, FlatNode& node);
  void count(const FlatNode& node);
  void add_lane_by_pieces(Instance& instance, std::int64_t piece);
  FlatStep flat(const Step& step, const Expression& gap);
  bool iterated(const Expression& e) const; // depends on a loop that is iterated
  bool has_one_length(const Extent& extent) const;
  bool is_exact(const Extent& extent) const;
  Expression kept_once(const Expression& e);

  struct HashOfExpression {
    std::size_t operator()(const Expression& e) const { return static_cast<std::size_t>(e.hash()); }
  };

  const ProgramSet& schedule_;
  Compiled* out_ = nullptr;
  Compiled piece_;               // of a long lane, while it is read
  std::vector<LaneId> lane_ids_; // by number
  MeanLengths lengths_;
  const NetworkPaths* network_;
  std::unordered_set<Expression, HashOfExpression> known_; // without their constants
  std::vector<bool> iterated_{false};                      // by depth: a loop whose iterations are walked one by one
  std::vector<LoopRange> collapsed_;                       // the others
  std::int32_t rank_ = 0;
  std::int64_t times_ = 1;          // trips of the enclosing loops, multiplied
  std::int64_t iterated_times_ = 1; // of those that are iterated
  bool in_order_ = true;            // see starts_in_order, of the current lane
  bool sums_ = false;               // any rank
  double reduced_ = 0;              // bytes reduced by the current lane
  std::int64_t sends_ = 0;          // its rounds that send
  std::string wrong_;
  std::optional<Error> refused_; // a compute step
};

bool Compiler::iterated(const Expression& e) const {
  for (std::size_t d = 1; d < iterated_.size(); ++d)
    if (iterated_[d] && varies(e, static_cast<std::int32_t>(d))) return true;
  return false;
}

// Whether blocks are equal and their number is the same in every iteration.
bool Compiler::has_one_length(const Extent& extent) const {
  return extent.layout != kumihimo::Layout::vector && out_->schedule->data->layout(extent.layout).uniform() &&
         std::none_of(extent.runs.begin(), extent.runs.end(),
                      [&](const RunList& list) { return iterated(list.count); });
}

// Whether its mean length is that of each message, and the k-th message of the lane is the k-th of its other end.
bool Compiler::is_exact(const Extent& extent) const {
  if (!in_order_) return false;
  const bool divided = extent.layout != kumihimo::Layout::vector && extent.parts > 1;
  if (out_->segments == 1 && collapsed_.empty() && !divided) return true;
  return same_in_all_segments(extent, *out_->schedule->data, out_->segments);
}

// Peers of many ranks differ by a number alone.
Expression Compiler::kept_once(const Expression& e) { return *known_.insert(e - e.constant()).first + e.constant(); }

FlatStep Compiler::flat(const Step& step, const Expression& gap) {
  FlatStep f;
  f.kind = step.kind;
  if (step.kind == StepKind::compute) {
    if (!network_) return f;
    if (Status can = network_->can_compute(step.work); !can) return refused_ = can.error(), f;
    // The bytes that the same processor reduces in this time
    f.bytes = network_->seconds_of(step.work, rank_) * network_->reduction_rate(rank_);
    return f;
  }
  const bool has_peer = step.sends() || step.receives();
  if (has_peer && varies(step.peer, 0)) wrong_ = "a peer that changes from segment to segment";
  if (has_peer && varies(gap, 0)) wrong_ = "a gap that changes from segment to segment";
  f.exact = has_peer && step.has_data() && is_exact(step.extent());
  bool dynamic = has_peer && (iterated(step.peer) || iterated(gap));
  if (step.has_data())
    for (const RunList& list : step.extent().runs)
      dynamic = dynamic || iterated(list.count) ||
                (iterated(list.first) && of_unequal_blocks(step.extent(), *out_->schedule->data));
  const LoopValues zeros{};
  if (dynamic) {
    f.dynamic = static_cast<std::int32_t>(out_->dynamic.size());
    out_->dynamic.push_back({kept_once(step.peer), kept_once(gap), nullptr});
    if (step.is_signal()) return f;
    if (has_one_length(step.extent()))
      f.bytes = lengths_.mean_bytes(step.extent(), rank_, zeros, collapsed_);
    else
      out_->dynamic.back().length =
          std::make_unique<DynamicStep::Length>(DynamicStep::Length{step.extent(), collapsed_});
    return f;
  }
  if (has_peer) {
    f.gap = static_cast<double>(gap.evaluate(zeros));
    const std::int64_t peer = step.peer.evaluate(zeros);
    f.peer = static_cast<std::int32_t>(peer);
    const bool rank = peer >= 0 && peer < out_->schedule->ranks();
    if (!rank && wrong_.empty()) wrong_ = fmt::format("peer {}", peer);
  }
  if (step.has_data()) {
    f.bytes = lengths_.mean_bytes(step.extent(), rank_, zeros, collapsed_);
    if (out_->segments > 1) f.part = first_part(step.extent(), zeros);
  }
  return f;
}

void Compiler::add_round(const Round& round, FlatNode& node) {
  if (std::any_of(round.steps.begin(), round.steps.end(), [](const Step& s) { return s.sends(); })) sends_ += times_;
  node.first = static_cast<std::uint32_t>(out_->steps.size());
  for (const Step& step : round.steps) {
    const FlatStep f = flat(step, round.gap);
    sums_ = sums_ || step.reduces();
    if (step.reduces() || step.kind == StepKind::compute) reduced_ += f.bytes * static_cast<double>(times_);
    if (f.dynamic >= 0 || (!step.has_data() && step.kind != StepKind::compute) || f.bytes > 0) out_->steps.push_back(f);
  }
  node.count = static_cast<std::uint32_t>(out_->steps.size()) - node.first;
}

void Compiler::count(const FlatNode& node) {
  out_->all_steps += static_cast<double>(times_) * node.count;
  (iterated_times_ > 1 ? out_->iterated_steps : out_->straight_steps) +=
      static_cast<double>(iterated_times_) * node.count;
  out_->widest_round = std::max(out_->widest_round, node.count);
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
      node.together = loop->together;
      node.collapsed = !node.together && constant_in(loop->body, depth, *out_->schedule->data);
      iterated_.push_back(!node.collapsed);
      if (node.collapsed) collapsed_.push_back({depth, loop->trip});
      const std::int64_t iterations = node.collapsed ? 1 : loop->trip;
      times_ *= loop->trip, iterated_times_ *= iterations;
      add_body(loop->body, node);
      times_ /= loop->trip, iterated_times_ /= iterations;
      iterated_.pop_back();
      if (node.collapsed) collapsed_.pop_back();
      if (node.together) node.trip = node.in_flight = node.count;
    } else {
      add_round(std::get<Round>(item), node);
      count(node);
    }
    if (node.count > 0) children.push_back(node);
  }
  parent.first = static_cast<std::uint32_t>(out_->nodes.size());
  parent.count = static_cast<std::uint32_t>(children.size());
  out_->nodes.insert(out_->nodes.end(), children.begin(), children.end());
}

LanePiece Compiler::read(const Instance& instance, std::int64_t position, std::int64_t steps) {
  Compiled* const into = std::exchange(out_, &piece_);
  rank_ = instance.rank, in_order_ = true;
  piece_.schedule = &schedule_, piece_.segments = schedule_.segments.count;
  const RoundPiece read = schedule_.reader->piece(Rank{instance.rank}, lane_ids_[instance.lane], position, steps);
  LanePiece piece;
  for (const Round& round : read.rounds) {
    FlatNode node;
    add_round(round, node);
    if (node.count > 0) piece.nodes.push_back(node);
  }
  piece.steps = std::move(piece_.steps), piece_.steps.clear();
  piece.next = read.next;
  out_ = into;
  return piece;
}

// Counts all rounds. The lane is held if they are one piece.
void Compiler::add_lane_by_pieces(Instance& instance, std::int64_t steps) {
  LongLane lane;
  lane.piece = steps;
  for (std::optional<std::int64_t> position = 0; position;) {
    LanePiece piece = read(instance, *position, steps);
    for (const FlatNode& node : piece.nodes) {
      count(node);
      lane.widest_round = std::max(lane.widest_round, node.count);
    }
    lane.rounds += std::ssize(piece.nodes);
    if (*position == 0 && !piece.next) {
      instance.first_node = static_cast<std::uint32_t>(out_->nodes.size());
      instance.nodes = static_cast<std::uint32_t>(piece.nodes.size());
      for (FlatNode& node : piece.nodes) node.first += static_cast<std::uint32_t>(out_->steps.size());
      out_->nodes.insert(out_->nodes.end(), piece.nodes.begin(), piece.nodes.end());
      out_->steps.insert(out_->steps.end(), piece.steps.begin(), piece.steps.end());
      return;
    }
    position = piece.next;
  }
  instance.long_lane = static_cast<std::int32_t>(out_->long_lanes.size());
  out_->long_lanes.push_back(lane);
}

void Compiler::add(std::int32_t rank, const Program& program, std::optional<std::int64_t> piece) {
  rank_ = rank;
  out_->first_instance.push_back(static_cast<std::uint32_t>(out_->instances.size()));
  out_->phases.add(program);
  out_->offloaded = std::max(out_->offloaded, largest_offload(*out_->schedule, Rank{rank}, program)); // none is least
  if (network_ && network_->has_many_peers(program)) {
    out_->many_peers.resize(static_cast<std::size_t>(schedule_.ranks()));
    out_->many_peers[static_cast<std::size_t>(rank)] = 1;
  }
  out_->lanes.resize(static_cast<std::size_t>(out_->phases.lanes()));
  for (const Lane& lane : program.lanes) {
    Instance instance;
    instance.rank = rank;
    instance.lane = out_->phases.index_of(lane.id);
    out_->lanes[instance.lane].id = lane.id;
    lane_ids_.resize(out_->lanes.size()), lane_ids_[instance.lane] = lane.id;
    instance.window = std::clamp<std::int64_t>(lane.window, 1, out_->segments);
    ++out_->lanes[instance.lane].instances;
    reduced_ = 0, sends_ = 0, in_order_ = starts_in_order(lane.body);
    if (piece) {
      add_lane_by_pieces(instance, *piece);
    } else {
      FlatNode top;
      add_body(lane.body, top);
      instance.first_node = top.first, instance.nodes = top.count;
    }
    instance.reduced = reduced_, instance.sends = sends_;
    instance.first_after = static_cast<std::uint32_t>(out_->afters.size());
    for (const After& after : lane.after)
      for (const LaneId id : after.lanes)
        for (std::size_t other = 0; other < program.lanes.size(); ++other)
          if (program.lanes[other].id == id) out_->afters.push_back({static_cast<std::int32_t>(other), 0, after.scope});
    instance.afters = static_cast<std::uint32_t>(out_->afters.size()) - instance.first_after;
    out_->instances.push_back(instance);
  }
}

Result<Compiled> Compiler::run() {
  Compiled out;
  out_ = &out;
  out.schedule = &schedule_;
  out.segments = schedule_.segments.count;
  const std::int32_t ranks = schedule_.ranks();
  for (std::int32_t rank = 0; rank < ranks && wrong_.empty(); ++rank) {
    if (schedule_.reader && schedule_.reader->steps(Rank{rank}) > steps_held(ranks)) {
      const Program outline = schedule_.reader->outline(Rank{rank});
      add(rank, outline, steps_held(ranks, outline.lanes.size()));
    } else {
      add(rank, schedule_.program(Rank{rank}), std::nullopt);
    }
  }
  out_->first_instance.push_back(static_cast<std::uint32_t>(out_->instances.size()));
  if (refused_) return *refused_;
  if (!wrong_.empty())
    return failed("all peers must be ranks and all segments must have the same gaps",
                  fmt::format("{} at rank {}", wrong_, rank_), verify_it);
  out_->phases.find();
  if (out_->phases.has_concurrent_lanes()) out_->concurrency = sums_ ? Lanes::summing : Lanes::concurrent;
  constexpr std::int32_t most_pipelines = 16; // beyond, all lanes of a phase keep one pace
  const bool one_pipeline = out_->phases.groups() > most_pipelines;
  for (std::size_t l = 0; l < out_->lanes.size(); ++l) {
    out_->lanes[l].phase = out_->phases.phase(static_cast<std::int32_t>(l));
    if (one_pipeline) continue;
    out_->lanes[l].pipeline = out_->phases.group(static_cast<std::int32_t>(l));
    out_->pipelines = out_->phases.groups();
  }
  return out;
}

} // namespace

double Compiled::steps_at_once(const FlatNode& node) const {
  if (!node.loop) return node.count;
  double most = 0, all = 0;
  for (std::uint32_t n = node.first; n < node.first + node.count; ++n) {
    const double of_item = steps_at_once(nodes[n]);
    most = std::max(most, of_item), all += of_item;
  }
  if (node.together) return all;
  return node.collapsed ? most : most * static_cast<double>(at_once(node));
}

double Compiled::steps_at_once() const {
  std::vector<double> sums(static_cast<std::size_t>(phases.count()));
  for (const Instance& instance : instances) {
    double most = 0;
    for (std::uint32_t n = instance.first_node; n < instance.first_node + instance.nodes; ++n)
      most = std::max(most, steps_at_once(nodes[n]));
    if (instance.long_lane >= 0) most = std::max<double>(most, long_lanes[instance.long_lane].widest_round);
    sums[static_cast<std::size_t>(lanes[instance.lane].phase)] += most;
  }
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

Result<Compiled> compile(const ProgramSet& schedule, const NetworkPaths* network) {
  const auto compiler = std::make_shared<Compiler>(schedule, network);
  auto compiled = TRY(compiler->run());
  if (!compiled.long_lanes.empty())
    compiled.read = [compiler, lanes = compiled.long_lanes](const Instance& instance, std::int64_t position) {
      return compiler->read(instance, position, lanes[static_cast<std::size_t>(instance.long_lane)].piece);
    };
  return compiled;
}

} // namespace kumihimo::simulation
