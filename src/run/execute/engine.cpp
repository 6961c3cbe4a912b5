#include "execute/engine.hpp"

#include "execute/engine_slot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

namespace kumihimo::execute {
namespace {

// Scratch of small collectives is not worth asking for at each run.
constexpr std::int64_t most_own_bytes = 2 << 10;

// Of one memory: scratch, and what of the input is copied aside behind it.
constexpr std::int64_t line_bytes = 64;
std::int64_t aside_begin(const CompiledProgram& program) {
  return (program.scratch_bytes() + line_bytes - 1) / line_bytes * line_bytes;
}
std::int64_t memory_bytes(const CompiledProgram& program) { return aside_begin(program) + program.aside_bytes(); }

Error no_scratch(const CompiledProgram& program) {
  return failed("out of memory",
                fmt::format("{} bytes of scratch memory", program.scratch_bytes() + program.aside_bytes()),
                "choose a smaller window or smaller segments");
}

} // namespace

// What messages read and write, beside the caller's buffers.
struct Execution::Memory {
  std::vector<LaneState> lanes;
  std::vector<std::byte> own;
  ScratchMemory scratch;
};

Execution::Execution(const CompiledProgram& program, Transport& transport)
    : program_(program), transport_(transport), gathers_(transport.gathers()),
      in_own_(memory_bytes(program) <= most_own_bytes), unfinished_(1) {
  if (in_own_)
    own_.resize(static_cast<std::size_t>(memory_bytes(program) + line_bytes));
  else
    ScratchMemory{memory_bytes(program)}; // whether there is as much
  lanes_.reserve(program.lanes().size());
  for (const LaneCode& code : program.lanes()) {
    LaneState& lane = lanes_.emplace_back();
    lane.code = &code;
    lane.slots.resize(static_cast<std::size_t>(code.window));
  }
  early_ = early_receives(program, transport.early_bytes(program.hints().fabric));
}

// After a run that did not end, the library may still read and write this memory (PointToPoint::abandon), so it is kept
// until the process ends.
Execution::~Execution() {
  if (!running_) return;
  static std::mutex mutex;
  static std::list<Memory>& kept = *new std::list<Memory>; // never destroyed
  unfinished_.front() = {std::move(lanes_), std::move(own_), std::move(scratch_)};
  const std::lock_guard lock(mutex);
  kept.splice(kept.end(), unfinished_);
}

Result<std::unique_ptr<Execution>> Execution::prepare(const CompiledProgram& program, Transport& transport) {
  if (Status s = transport.prepare(program.demands()); !s) return s.error();
  return make(program, transport);
}

Result<std::unique_ptr<Execution>> Execution::make(const CompiledProgram& program, Transport& transport) {
  try {
    return std::unique_ptr<Execution>(new Execution(program, transport));
  } catch (const std::bad_alloc&) {
    return no_scratch(program);
  }
}

Error Execution::unended() const {
  if (transport_.has_failed()) return transport_.error();
  return failed("an earlier run of the same call must have ended", "it did not");
}

Status Execution::fit() {
  if (running_) return unended();
  early_ = early_receives(program_, transport_.early_bytes(program_.hints().fabric));
  in_own_ = memory_bytes(program_) <= most_own_bytes;
  try {
    if (in_own_) own_.resize(static_cast<std::size_t>(memory_bytes(program_) + line_bytes));
  } catch (const std::bad_alloc&) {
    return no_scratch(program_);
  }
  return Nothing{};
}

Status Execution::take_scratch() {
  try {
    scratch_ = ScratchMemory(memory_bytes(program_));
  } catch (const std::bad_alloc&) {
    return no_scratch(program_);
  }
  return Nothing{};
}

void Execution::bind(const Buffers& buffers) {
  auto* input = static_cast<std::byte*>(const_cast<void*>(buffers.input)); // never written where not aliased
  auto* output = static_cast<std::byte*>(buffers.output);
  std::byte* scratch = scratch_.data();
  if (in_own_) scratch = own_.data() + (-reinterpret_cast<std::uintptr_t>(own_.data()) & (line_bytes - 1));
  if (program_.aliased()) {
    std::byte* shared = output ? output : input;
    input = shared + program_.shared_begin_bytes(Area::input);
    output = shared + program_.shared_begin_bytes(Area::output);
    if (program_.aside_bytes() > 0) {
      std::byte* const aside = scratch + aside_begin(program_);
      std::memcpy(aside, input, static_cast<std::size_t>(program_.aside_bytes()));
      input = aside;
    }
  }
  areas_[static_cast<int>(Area::input)] = input;
  areas_[static_cast<int>(Area::output)] = output;
  areas_[static_cast<int>(Area::scratch)] = scratch;
}

void Execution::start(const Buffers& buffers, const Reduction& reduction, Stream stream) {
  bind(buffers);
  reduction_ = reduction;
  running_ = true;
  instance_ = transport_.begin(stream);
  self_sends_.clear();
  self_receives_.clear();
  for (LaneState& lane : lanes_) lane.begun = lane.complete = 0;
  if (!early_.empty()) expect();
}

void Execution::expect() {
  expected_.clear();
  for (const EarlyOp& op : early_) {
    transport::EarlyReceive& each = expected_.emplace_back();
    each.key = {instance_, op.peer, op.lane, op.segment, op.ordinal, false};
    if (op.area != Area::none) each.target = areas_[static_cast<std::size_t>(op.area)] + op.first;
    each.bytes = op.bytes;
    each.element_bytes = program_.data().type_bytes;
    each.over_fabric = program_.hints().fabric;
  }
  transport_.expect(expected_);
}

void Execution::end() {
  running_ = false;
  scratch_.give_back();
}

Status Execution::wait_for_progress() {
  switch (transport_.progress()) {
  case Transport::Progress::failed: return transport_.error();
  case Transport::Progress::nothing: transport_.idle(); break;
  case Transport::Progress::moved: break;
  }
  return Nothing{};
}

Status Execution::run(const Buffers& buffers, const Reduction& reduction) {
  if (Status s = reserve(); !s) return transport_.abandon(s.error()), s;
  start(buffers, reduction, Stream::blocking);
  if (program_.is_straight()) return run_straight();
  for (;;) {
    const Result<bool> done = advance();
    if (!done) return transport_.abandon(done.error()), done.error();
    if (*done) return Nothing{};
    if (Status s = wait_for_progress(); !s) return s;
  }
}

// One lane, one segment, a chain of rounds: nothing to choose from.
Status Execution::run_straight() {
  LaneState& lane = lanes_[0];
  if (Status s = begin(lane); !s) return s;
  SegmentSlot& slot = lane.slots[0];
  const std::int32_t rounds = lane.code->round_count;
  for (std::int32_t round = 0; round < rounds; ++round) {
    if (round > 0) start_round(lane, slot, round); // begin() started the first
    while (slot.open[static_cast<std::size_t>(round)] > 0)
      if (Status s = wait_for_progress(); !s) return s;
    if (trace_) record(TraceEvent::What::round_complete, lane, slot, round);
  }
  lane.complete = 1;
  if (trace_) record(TraceEvent::What::segment_complete, lane, slot, -1);
  end();
  return Nothing{};
}

// --- segments --------------------------------------------------------------------------------------------------------

bool Execution::is_complete(const LaneState& lane, std::int64_t segment) const {
  if (segment < lane.complete) return true;
  return segment < lane.begun && lane.slot(segment).rounds_left == 0;
}

bool Execution::may_begin(const LaneState& lane) const {
  const std::int64_t count = program_.segments().count;
  return may_start(
      {lane.begun, lane.complete, lane.code->window}, count, lane.code->segment_waits,
      [&](std::int32_t other) { return lanes_[static_cast<std::size_t>(other)].complete == count; },
      [&](std::int32_t other, std::int64_t s) { return is_complete(lanes_[static_cast<std::size_t>(other)], s); });
}

Status Execution::begin(LaneState& lane) {
  const std::int64_t segment = lane.begun++;
  SegmentSlot& slot = lane.slot(segment);
  slot.segment = segment;
  if (!lane.code->segments.empty()) {
    slot.code = &lane.code->segments[static_cast<std::size_t>(segment)];
  } else {
    if (Status s = program_.resolve(*lane.code, segment, slot.own); !s) return s;
    slot.code = &slot.own;
  }
  fit(slot);
  const auto rounds = static_cast<std::size_t>(lane.code->round_count);
  slot.open.resize(rounds);
  slot.active.clear();
  slot.rounds_left = static_cast<std::int32_t>(rounds);
  if (trace_) record(TraceEvent::What::segment_begun, lane, slot, -1);
  if (lane.code->in_order) {
    if (rounds > 0) start_round(lane, slot, 0);
    return Nothing{};
  }
  slot.waits = lane.code->waits;
  for (std::size_t round = 0; round < rounds; ++round)
    if (lane.code->waits[round] == 0) start_round(lane, slot, static_cast<std::int32_t>(round));
  return Nothing{};
}

// Room for the segment's messages; grows to the largest segment seen.
void Execution::fit(SegmentSlot& slot) const {
  const auto grow = [](auto& v, std::size_t n) {
    if (v.size() < n) v.resize(n);
  };
  grow(slot.sends, static_cast<std::size_t>(slot.code->sends));
  grow(slot.receives, static_cast<std::size_t>(slot.code->receives));
  grow(slot.offloads, static_cast<std::size_t>(slot.code->offloads));
  if (gathers_) grow(slot.pieces, slot.code->runs.size());
  if (!gathers_) grow(slot.packed, static_cast<std::size_t>(slot.code->packed_bytes)); // else at the first, if any
}

Result<bool> Execution::advance() {
  bool again = true, done = true;
  while (again) {
    again = false;
    done = true;
    for (LaneState& lane : lanes_) {
      for (std::int64_t s = lane.complete; s < lane.begun; ++s) again |= advance(lane, lane.slot(s));
      while (lane.complete < lane.begun && lane.slot(lane.complete).rounds_left == 0) ++lane.complete;
      while (may_begin(lane)) {
        if (Status s = begin(lane); !s) return s.error();
        again = true;
      }
      done &= lane.complete == program_.segments().count;
    }
  }
  if (done) end();
  return done;
}

// Completes the rounds that are closed and starts those that waited for them. True if any was.
bool Execution::advance(LaneState& lane, SegmentSlot& slot) {
  bool any = false;
  for (std::size_t i = 0; i < slot.active.size();) {
    const std::int32_t round = slot.active[i];
    if (slot.open[static_cast<std::size_t>(round)] > 0) {
      ++i;
      continue;
    }
    slot.active[i] = slot.active.back();
    slot.active.pop_back();
    complete_round(lane, slot, round);
    any = true;
  }
  return any;
}

void Execution::complete_round(LaneState& lane, SegmentSlot& slot, std::int32_t round) {
  const LaneCode& code = *lane.code;
  --slot.rounds_left;
  if (trace_) record(TraceEvent::What::round_complete, lane, slot, round);
  if (slot.rounds_left == 0) {
    if (trace_) record(TraceEvent::What::segment_complete, lane, slot, -1);
    return;
  }
  if (code.in_order) return start_round(lane, slot, round + 1);
  for (std::int32_t e = code.next_begin[static_cast<std::size_t>(round)];
       e < code.next_begin[static_cast<std::size_t>(round) + 1]; ++e) {
    const std::int32_t next = code.nexts[static_cast<std::size_t>(e)];
    if (--slot.waits[static_cast<std::size_t>(next)] == 0) start_round(lane, slot, next);
  }
}

void Execution::record(TraceEvent::What what, const LaneState& lane, const SegmentSlot& slot, std::int32_t round,
                       const Op* op) {
  TraceEvent event{what, lane.code->id, slot.segment, round, StepKind::copy, Rank{-1}, 0};
  if (op) event.kind = op->kind, event.peer = op->peer, event.bytes = op->bytes;
  trace_->push_back(event);
}

Result<transport::Reduction> find_reduction(DataType type, std::optional<Operation> operation) {
  if (!operation) return transport::Reduction{};
  if (const kernels::ReducePlan kernel = kernels::reduce_plan(type, *operation))
    return transport::Reduction{kernel, nullptr, nullptr};
  return wrong_value(fmt::format("{} is not defined for {}", name_of(*operation), name_of(type)), {},
                     "give the user's function");
}

} // namespace kumihimo::execute
