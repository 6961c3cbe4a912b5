// Names to bytes: the steps of one segment of a lane.
#include "execute/compiled_program.hpp"
#include "program/computing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace kumihimo::execute {

// Peers of all steps, and for each message how many of its kind went before it between this pair in this segment.
// Empty data steps count: both ends skip them alike.
Status number_steps(LaneCode& lane, std::int64_t segment, std::int32_t ranks) {
  std::unordered_map<std::uint64_t, std::int64_t> seen;
  for (LaneCode::ExpandedRound& expanded : lane.rounds) {
    if (!expanded.round) continue;
    LoopValues values = expanded.values;
    values[0] = segment;
    auto* step_code = &lane.steps[static_cast<std::size_t>(expanded.first_step)];
    for (const Step& step : expanded.round->steps) {
      std::uint64_t who = ~std::uint64_t{0};
      if (step.sends() || step.receives()) {
        const std::int64_t peer = step.peer.evaluate(values);
        if (peer < 0 || peer >= ranks)
          return failed(fmt::format("the peer of a {} on lane {} must be a rank from 0 to {}", name_of(step.kind),
                                    lane.id.value, ranks - 1),
                        fmt::format("{} ({})", peer, step.peer.text()));
        step_code->peer = Rank{static_cast<std::int32_t>(peer)};
        who = static_cast<std::uint64_t>(peer) << 2 | step.sends() << 1 | step.is_signal();
      }
      if (who != ~std::uint64_t{0} || step.kind == StepKind::offload) step_code->ordinal = seen[who]++;
      ++step_code;
    }
  }
  return Nothing{};
}

class SegmentResolver {
 public:
  SegmentResolver(const CompiledProgram& program, const LaneCode& lane, ResolvedSegment& code)
      : program_(program), lane_(lane), code_(code), type_bytes_(program.data().type_bytes) {}

  Status segment(std::int64_t segment);

 private:
  Status round(const LaneCode::ExpandedRound& expanded, std::int64_t segment);
  Status step(const Step& step, LaneCode::ExpandedStep numbers, Values values, Op& op);
  // Error: outside its buffer, or of another length than `bytes` (-1: any, which is then set).
  Status place(const Chunk& chunk, Values values, std::int64_t& bytes, DataLocation& place);
  Status place_in_scratch(const Chunk& chunk, Values values, std::int64_t& bytes, DataLocation& place);
  Status time(const Work& work, Op& op) const;
  Error misplaced(const Chunk& chunk, std::int64_t segment, std::string found) const;
  void count(Op& op);

  const CompiledProgram& program_;
  const LaneCode& lane_;
  ResolvedSegment& code_;
  std::int64_t type_bytes_;
  std::vector<ElementRun> runs_;
};

Status CompiledProgram::resolve(const LaneCode& lane, std::int64_t segment, ResolvedSegment& code) const {
  if (!lane.peers_vary) return SegmentResolver(*this, lane, code).segment(segment);
  LaneCode numbered = lane;
  if (Status s = number_steps(numbered, segment, data().ranks); !s) return s;
  return SegmentResolver(*this, numbered, code).segment(segment);
}

Status SegmentResolver::segment(std::int64_t segment) {
  code_.ops.clear();
  code_.round_begin.assign(1, 0);
  code_.runs.clear();
  code_.sends = code_.receives = code_.offloads = 0;
  code_.packed_bytes = 0;
  for (const LaneCode::ExpandedRound& expanded : lane_.rounds) {
    if (expanded.round)
      if (Status s = round(expanded, segment); !s) return s;
    code_.round_begin.push_back(static_cast<std::int32_t>(code_.ops.size()));
  }
  return Nothing{};
}

Status SegmentResolver::round(const LaneCode::ExpandedRound& expanded, std::int64_t segment) {
  LoopValues values = expanded.values;
  values[0] = segment;
  const std::size_t begin = code_.ops.size();
  for (std::size_t i = 0; i < expanded.round->steps.size(); ++i) {
    Op op;
    const Step& written = expanded.round->steps[i];
    if (Status s = step(written, lane_.steps[static_cast<std::size_t>(expanded.first_step) + i], values, op); !s)
      return s;
    if (op.kind == StepKind::compute && op.nanoseconds == 0) continue;
    if (op.bytes > 0 || !written.has_data()) code_.ops.push_back(op);
  }
  const auto first = code_.ops.begin() + static_cast<std::ptrdiff_t>(begin);
  std::stable_partition(first, code_.ops.end(), [](const Op& op) {
    return op.kind != StepKind::copy && op.kind != StepKind::reduce && op.kind != StepKind::compute;
  });
  for (auto op = first; op != code_.ops.end(); ++op) count(*op);
  return Nothing{};
}

void SegmentResolver::count(Op& op) {
  if (op.kind == StepKind::send || op.kind == StepKind::signal) op.index = code_.sends++;
  if (op.kind == StepKind::receive || op.kind == StepKind::receive_reduce || op.kind == StepKind::wait_signal)
    op.index = code_.receives++;
  if (op.kind == StepKind::offload) op.index = code_.offloads++;
  const bool sends_data = op.kind == StepKind::send || op.kind == StepKind::offload;
  if (sends_data && op.source.run >= 0) {
    op.packed = code_.packed_bytes;
    code_.packed_bytes += (op.bytes + 63) / 64 * 64;
  }
}

Status SegmentResolver::step(const Step& step, LaneCode::ExpandedStep numbers, Values values, Op& op) {
  op.kind = step.kind;
  op.arriving_left = step.arriving_left;
  op.peer = numbers.peer;
  op.ordinal = numbers.ordinal;
  if (step.kind == StepKind::compute) return time(step.work, op);
  if (!step.has_data()) return Nothing{};
  op.bytes = -1;
  for (const auto& [chunk, where] :
       {std::pair{&step.target, &op.target}, {&step.source, &op.source}, {&step.right, &op.right}})
    if (chunk->exists())
      if (Status s = place(*chunk, values, op.bytes, *where); !s) return s;
  return Nothing{};
}

Status SegmentResolver::time(const Work& work, Op& op) const {
  const CompileOptions& options = program_.options_;
  if (options.skip_compute) return Nothing{};
  const double seconds = TRY(seconds_of(work, options.rates));
  op.nanoseconds = static_cast<std::int64_t>(1e9 * seconds);
  return Nothing{};
}

Status SegmentResolver::place(const Chunk& chunk, Values values, std::int64_t& bytes, DataLocation& place) {
  std::int64_t elements = 0, first_byte = 0;
  if (chunk.buffer.kind == Buffer::Kind::scratch) {
    const auto index = static_cast<std::size_t>(chunk.buffer.index);
    if (index >= program_.scratch_.size()) return misplaced(chunk, values[0], "it has no such scratch buffer");
    if (!program_.program_->scratch[index].named) return place_in_scratch(chunk, values, bytes, place);
    place.area = Area::scratch;
    elements = program_.scratch_[index].elements;
    first_byte = program_.scratch_[index].first_byte;
  } else if (chunk.buffer.kind == Buffer::Kind::accumulator) {
    return misplaced(chunk, values[0], "the builder left an accumulator unresolved");
  } else {
    place.area = chunk.buffer.kind == Buffer::Kind::input ? Area::input : Area::output;
    elements = program_.area_elements_[static_cast<std::size_t>(place.area)];
  }
  runs_.clear();
  program_.binding_.append_chunk(*program_.program_, chunk, values, runs_);
  std::int64_t sum = 0;
  for (const ElementRun& run : runs_) {
    if (run.first < 0 || run.count < 0 || run.first + run.count > elements)
      return misplaced(chunk, values[0],
                       fmt::format("it has elements {} to {} of {}", run.first, run.first + run.count, elements));
    sum += run.count;
  }
  if (bytes >= 0 && sum * type_bytes_ != bytes)
    return misplaced(chunk, values[0], fmt::format("it has {} bytes, its step {}", sum * type_bytes_, bytes));
  bytes = sum * type_bytes_;
  if (runs_.size() == 1) place.first = first_byte + runs_[0].first * type_bytes_;
  if (runs_.size() <= 1) return Nothing{};
  place.run = static_cast<std::int32_t>(code_.runs.size());
  place.run_count = static_cast<std::int32_t>(runs_.size());
  for (const ElementRun& run : runs_)
    code_.runs.push_back({first_byte + run.first * type_bytes_, run.count * type_bytes_});
  return Nothing{};
}

Status SegmentResolver::place_in_scratch(const Chunk& chunk, Values values, std::int64_t& bytes, DataLocation& place) {
  const auto index = static_cast<std::size_t>(chunk.buffer.index);
  const Scratch& declared = program_.program_->scratch[index];
  const CompiledProgram::ScratchArea& area = program_.scratch_[index];
  const std::int64_t cell = chunk.at.evaluate(values), length = program_.binding_.length(chunk.extent, values);
  if (bytes >= 0 && length * type_bytes_ != bytes)
    return misplaced(chunk, values[0], fmt::format("it has {} bytes, its step {}", length * type_bytes_, bytes));
  bytes = length * type_bytes_;
  if (length == 0) return Nothing{};
  if (cell < 0 || cell >= declared.cells)
    return misplaced(chunk, values[0], fmt::format("it is in cell {} of {}", cell, declared.cells));
  const std::int64_t first = program_.binding_.scratch_first(declared, area.window, cell, values[0]);
  if (first + length > area.elements)
    return misplaced(chunk, values[0],
                     fmt::format("it has elements {} to {} of {}", first, first + length, area.elements));
  place.area = Area::scratch;
  place.first = area.first_byte + first * type_bytes_;
  return Nothing{};
}

Error SegmentResolver::misplaced(const Chunk& chunk, std::int64_t segment, std::string found) const {
  constexpr const char* names[] = {"none", "input", "output", "scratch", "accumulator"};
  return failed(
      fmt::format("rank {}, lane {}, segment {}: a chunk must lie inside its {} buffer and be as long as its step",
                  program_.rank().value, lane_.id.value, segment, names[static_cast<int>(chunk.buffer.kind)]),
      std::move(found), "correct the schedule");
}

} // namespace kumihimo::execute
