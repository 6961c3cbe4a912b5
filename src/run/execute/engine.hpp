// Runs a compiled program over a transport: lanes at the same time, segments in their windows, rounds when those they
// wait for are complete. One thread, the caller's. An Execution is made once and run any number of times, with any
// buffers; after its first run it allocates nothing but the scratch memory of a run, which it has while that lasts.
//
// Freedom from deadlock does not depend on buffering: every round that may start is started before the engine waits.
#pragma once

#include "base/result.hpp"
#include "execute/compiled_program.hpp"
#include "execute/early_receives.hpp"
#include "execute/scratch.hpp"
#include "transport/sink.hpp"
#include "transport/transport.hpp"

#include <list>
#include <memory>
#include <vector>

namespace kumihimo::execute {

using transport::ByteCursor, transport::TransferRequest, transport::MessageKey, transport::OffloadRequest,
    transport::Piece, transport::ReceiveRequest, transport::Reduction, transport::SendRequest, transport::Sink,
    transport::Stream, transport::Transport;

struct SegmentSlot; // execute/engine_slot.hpp
struct LaneState;

// The caller's memory. Where the collective is aliased at this rank (in place; bcast always), both are one memory: the
// start of its output (of scatter at the root: of its input), as either of the two.
struct Buffers {
  const void* input = nullptr;
  void* output = nullptr;
};

// What was started, since the Execution was made.
struct StartedTotals {
  std::int64_t steps = 0, messages = 0;
  std::int64_t bytes_sent = 0, bytes_received = 0;
};

// What happened when, for tests: the order of events is that of time at this rank.
struct TraceEvent {
  enum class What : std::uint8_t { segment_begun, step_started, round_complete, segment_complete };
  What what = What::step_started;
  LaneId lane;
  std::int64_t segment = 0;
  std::int32_t round = -1; // expanded, in program order
  StepKind kind = StepKind::copy;
  Rank peer{-1};
  std::int64_t bytes = 0;
};

class Execution {
 public:
  // Error: the transport cannot meet the program's demands, or not enough memory. The program and the transport must
  // outlive the execution.
  static Result<std::unique_ptr<Execution>> prepare(const CompiledProgram& program, Transport& transport);
  // One more of a program that the transport has accepted, or that it needs not be asked about: this rank's alone.
  static Result<std::unique_ptr<Execution>> make(const CompiledProgram& program, Transport& transport);
  ~Execution();

  // After the program was bound to other blocks, and before the next run. Errors: no memory; an earlier run did not
  // end.
  Status fit();

  // One whole run. Errors: those of the transport, and of segments that could not be resolved. After one that did not
  // end there is no other: the library may still use its memory.
  Status run(const Buffers& buffers, const Reduction& reduction);

  // The same in parts, for non-blocking collectives: reserve() the memory, start, then advance() and
  // Transport::progress() by turns until advance() answers true. A run whose advance() failed cannot be resumed.
  Status reserve() {
    if (running_) [[unlikely]]
      return unended();
    return in_own_ || scratch_.exists() ? Status(Nothing{}) : take_scratch();
  }
  void start(const Buffers& buffers, const Reduction& reduction, Stream stream);
  Result<bool> advance();

  const StartedTotals& totals() const { return totals_; }
  void set_trace(std::vector<TraceEvent>* trace) { trace_ = trace; } // null: none, as at first

 private:
  struct Memory;
  Execution(const CompiledProgram& program, Transport& transport);

  Error unended() const;
  Status take_scratch();
  Status run_straight();
  Status wait_for_progress();
  void bind(const Buffers& buffers);
  void expect();
  void end();

  bool may_begin(const LaneState& lane) const;
  bool is_complete(const LaneState& lane, std::int64_t segment) const;
  Status begin(LaneState& lane);
  void fit(SegmentSlot& slot) const;
  bool advance(LaneState& lane, SegmentSlot& slot);
  void complete_round(LaneState& lane, SegmentSlot& slot, std::int32_t round);

  void start_round(LaneState& lane, SegmentSlot& slot, std::int32_t round);
  void start_op(SegmentSlot& slot, const Op& op, TransferRequest& common);
  void start_send(SegmentSlot& slot, const Op& op, TransferRequest& common);
  void start_receive(SegmentSlot& slot, const Op& op, TransferRequest& common);
  void start_offload(SegmentSlot& slot, const Op& op, TransferRequest& common);
  void do_local(SegmentSlot& slot, const Op& op) const;
  void send_to_self(SendRequest& message);
  void receive_from_self(ReceiveRequest& message);
  void bind_sink(Sink& sink, const SegmentSlot& slot, const Op& op) const;
  void feed(Sink& sink, const SegmentSlot& slot, const DataLocation& place, std::int64_t bytes) const;
  const std::byte* pack(SegmentSlot& slot, const Op& op) const;
  ByteCursor walk(const SegmentSlot& slot, const DataLocation& place) const;
  void record(TraceEvent::What what, const LaneState& lane, const SegmentSlot& slot, std::int32_t round,
              const Op* op = nullptr);

  const CompiledProgram& program_;
  Transport& transport_;
  bool gathers_;
  Reduction reduction_;
  std::byte* areas_[3] = {}; // by Area
  std::uint64_t instance_ = 0;
  bool running_ = false; // a run has started and has not ended
  std::vector<LaneState> lanes_;
  std::vector<EarlyOp> early_;
  std::vector<transport::EarlyReceive> expected_; // those of this run
  bool in_own_;                                   // so little scratch that it is the execution's own
  std::vector<std::byte> own_;                    // that
  ScratchMemory scratch_;                         // else, during a run
  std::list<Memory> unfinished_; // one, empty: what passes the memory of a run that did not end on without allocating
  std::vector<SendRequest*> self_sends_; // messages to oneself whose other half has not started
  std::vector<ReceiveRequest*> self_receives_;
  StartedTotals totals_;
  std::vector<TraceEvent>* trace_ = nullptr;
};

// The built-in loop for a type and an operation; none for programs that do not reduce. Error: the
// operation is the user's, whose function the caller must bring.
Result<transport::Reduction> find_reduction(DataType type, std::optional<Operation> operation);

} // namespace kumihimo::execute
