#include "execute/early_receives.hpp"

#include <algorithm>
#include <tuple>

namespace kumihimo::execute {
namespace {

// Bytes of one memory that a step reads or writes: 0 is the input or the memory that it shares with the output, 1 the
// output, 2 scratch, 3 the input that was copied aside.
struct Access {
  std::int32_t memory = 0;
  std::int64_t begin = 0, end = 0;
  std::int32_t lane = 0, round = 0; // of which step
  std::int64_t segment = 0;
  std::int32_t op = 0;
  bool is_alone = true; // no other write overlaps
};

bool is_before(const Access& a, const Access& b) {
  return std::tie(a.memory, a.begin, a.end) < std::tie(b.memory, b.begin, b.end);
}

class EarlyFinder {
 public:
  EarlyFinder(const CompiledProgram& program, std::int64_t least_bytes)
      : program_(program), least_bytes_(least_bytes) {}

  std::vector<EarlyOp> find() {
    collect();
    mark_overlaps();
    std::sort(reads_.begin(), reads_.end(), is_before);
    for (const Access& read : reads_) longest_read_ = std::max(longest_read_, read.end - read.begin);
    std::vector<EarlyOp> found;
    for (const Access& write : writes_) {
      const Op& op = op_of(write);
      if (!is_wanted(op) || op.kind != StepKind::receive || op.target.run >= 0) continue;
      if (write.is_alone && !is_read_before(write)) found.push_back(early(write, op, op.target.area, op.target.first));
    }
    found.insert(found.end(), buffered_.begin(), buffered_.end());
    return found;
  }

 private:
  bool is_wanted(const Op& op) const {
    const bool receives = op.kind == StepKind::receive || op.kind == StepKind::receive_reduce;
    return receives && op.bytes >= least_bytes_ && op.peer != program_.rank();
  }
  const LaneCode& lane_of(const Access& access) const {
    return program_.lanes()[static_cast<std::size_t>(access.lane)];
  }
  const Op& op_of(const Access& access) const {
    return lane_of(access).segments[static_cast<std::size_t>(access.segment)].ops[static_cast<std::size_t>(access.op)];
  }
  EarlyOp early(const Access& at, const Op& op, Area area, std::int64_t first) const {
    return {lane_of(at).id, op.peer, at.segment, op.ordinal, op.bytes, area, first};
  }

  void collect() {
    for (std::size_t l = 0; l < program_.lanes().size(); ++l) {
      const LaneCode& lane = program_.lanes()[l];
      for (std::size_t s = 0; s < lane.segments.size(); ++s) {
        const ResolvedSegment& code = lane.segments[s];
        Access at;
        at.lane = static_cast<std::int32_t>(l);
        at.segment = static_cast<std::int64_t>(s);
        for (at.round = 0; at.round + 1 < static_cast<std::int32_t>(code.round_begin.size()); ++at.round)
          for (at.op = code.round_begin[static_cast<std::size_t>(at.round)];
               at.op < code.round_begin[static_cast<std::size_t>(at.round) + 1]; ++at.op)
            collect(code, code.ops[static_cast<std::size_t>(at.op)], at);
      }
    }
  }
  void collect(const ResolvedSegment& code, const Op& op, const Access& at) {
    if (op.bytes == 0) return;
    add(writes_, code, op.target, op.bytes, at);
    add(reads_, code, op.source, op.bytes, at);
    add(reads_, code, op.right, op.bytes, at);
    if (is_wanted(op) && (op.kind == StepKind::receive_reduce || op.target.run >= 0))
      buffered_.push_back(early(at, op, Area::none, 0));
  }
  void add(std::vector<Access>& to, const ResolvedSegment& code, const DataLocation& place, std::int64_t bytes,
           Access at) const {
    if (place.area == Area::none) return;
    const auto area = static_cast<std::int32_t>(place.area);
    std::int64_t base = 0;
    at.memory = area;
    if (place.area == Area::input && program_.aside_bytes() > 0)
      at.memory = copied_aside;
    else if (program_.aliased() && place.area != Area::scratch)
      at.memory = shared_memory, base = program_.shared_begin_bytes(place.area);
    for (std::int32_t i = 0; i < (place.run < 0 ? 1 : place.run_count); ++i) {
      const ByteRun run =
          place.run < 0 ? ByteRun{place.first, bytes} : code.runs[static_cast<std::size_t>(place.run + i)];
      at.begin = base + run.first;
      at.end = at.begin + run.bytes;
      to.push_back(at);
    }
  }
  // Of each write, whether any other overlaps: with the one so far that ends last, if with any before it.
  void mark_overlaps() {
    std::sort(writes_.begin(), writes_.end(), is_before);
    Access* last = nullptr;
    for (Access& write : writes_) {
      if (last && last->memory == write.memory && write.begin < last->end) last->is_alone = write.is_alone = false;
      if (!last || last->memory != write.memory || write.end > last->end) last = &write;
    }
  }
  // Memory that is no input has no content before it is written, so no step reads it before.
  bool is_read_before(const Access& write) const {
    if (write.memory != shared_memory) return false;
    Access from = write;
    from.begin = write.begin - longest_read_, from.end = 0;
    for (auto read = std::lower_bound(reads_.begin(), reads_.end(), from, is_before);
         read != reads_.end() && read->memory == write.memory && read->begin < write.end; ++read) {
      const bool later = read->lane == write.lane && read->segment == write.segment && lane_of(write).in_order &&
                         read->round > write.round;
      if (read->end > write.begin && !later) return true;
    }
    return false;
  }

  static constexpr std::int32_t shared_memory = static_cast<std::int32_t>(Area::input), copied_aside = 3;

  const CompiledProgram& program_;
  std::int64_t least_bytes_;
  std::vector<Access> writes_, reads_;
  std::vector<EarlyOp> buffered_; // reduced or scattered
  std::int64_t longest_read_ = 0;
};

} // namespace

std::vector<EarlyOp> early_receives(const CompiledProgram& program, std::int64_t least_bytes) {
  if (program.demands().largest_bytes < least_bytes) return {};
  return EarlyFinder(program, least_bytes).find();
}

} // namespace kumihimo::execute
