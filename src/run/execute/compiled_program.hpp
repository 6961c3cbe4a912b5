// A rank's program made ready to be run many times: loops expanded into a graph of rounds, peers, ordinals and byte
// offsets resolved, segments still symbols where there are many. Pure: no buffer, clock, thread or transport; one value
// for each (schedule, rank, counts), shared by all calls.
//
// Memory: O(rounds of one segment at this rank), plus the resolved steps where all segments together have few.
#pragma once

#include "program/binding.hpp"
#include "program/computing.hpp"
#include "program/hints.hpp"
#include "program/program_set.hpp"
#include "program/segment_start.hpp"
#include "transport/transport.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace kumihimo::execute {

using transport::ByteRun, transport::Demands;

// The memory that a rank's steps touch: its input, its output, and one area for all scratch.
enum class Area : std::int8_t { none = -1, input, output, scratch };

// Where the data of a step lies: `first` bytes into its area, or the runs from `run` on.
struct DataLocation {
  Area area = Area::none;
  std::int32_t run = -1; // into ResolvedSegment::runs; -1: contiguous
  std::int32_t run_count = 1;
  std::int64_t first = 0;
};

struct Op {
  StepKind kind = StepKind::copy;
  bool arriving_left = false;
  std::int32_t index = 0; // among the segment's ops that send, or receive, or offload
  Rank peer{-1};
  std::int64_t ordinal = 0;
  std::int64_t bytes = 0;
  std::int64_t nanoseconds = 0; // compute
  std::int64_t packed = -1;     // send of several runs: where its packed form lies in the slot's packing space
  DataLocation source, right, target;
};

// The steps of one segment of a lane, empty data steps left out; those of a round with messages first.
struct ResolvedSegment {
  std::vector<Op> ops;
  std::vector<std::int32_t> round_begin; // ops of round r: [round_begin[r], round_begin[r + 1])
  std::vector<ByteRun> runs;
  std::int32_t sends = 0, receives = 0, offloads = 0;
  std::int64_t packed_bytes = 0;
};

// A lane with its loops expanded. A round starts when the rounds that it waits for are complete: one, its predecessor,
// except at the seams of loops with iterations in flight, where `round` may be null (nothing but a meeting point).
struct LaneCode {
  struct ExpandedRound {
    const Round* round = nullptr;
    std::int32_t first_step = 0; // into steps
    LoopValues values{};
  };
  struct ExpandedStep {
    Rank peer{-1};
    std::int64_t ordinal = 0;
  };

  LaneId id;
  std::int64_t window = 1;
  std::int32_t round_count = 0;
  std::vector<ExpandedRound> rounds; // in program order; none, and no steps, once all segments are resolved for good
  std::vector<ExpandedStep> steps;
  bool peers_vary = false;                     // with the segment: then `steps` holds those of segment 0
  bool in_order = true;                        // no loop has iterations in flight: the rounds are a chain
  std::vector<std::int32_t> waits;             // for how many rounds a round waits
  std::vector<std::int32_t> next_begin, nexts; // who waits for round r: nexts[next_begin[r] .. next_begin[r + 1])
  std::vector<SegmentWait> segment_waits;      // for other lanes, before a segment may start
  std::vector<ResolvedSegment> segments;       // all of them, or none: resolved when a segment begins
};

struct CompileOptions {
  Hints hints;
  // Programs of ranks whose input and output are one memory never read input after output was written at the same
  // bytes; for others the input is copied aside first.
  bool in_place_safe = true;
  bool skip_compute = false; // leave compute steps out
  ComputeRates rates;        // of compute steps that say how much they do
};

class CompiledProgram {
 public:
  const std::vector<LaneCode>& lanes() const { return lanes_; }
  const Demands& demands() const { return demands_; }
  Segments segments() const { return binding_.segments(); }
  Rank rank() const { return binding_.rank(); }
  const DataLayout& data() const { return binding_.data(); }

  // One lane whose rounds follow one another, one segment: run without any bookkeeping.
  bool is_straight() const { return lanes_.size() == 1 && lanes_[0].in_order && segments().count == 1; }

  const Hints& hints() const { return options_.hints; }
  // Input and output are one memory; and where each of them begins in it.
  bool aliased() const { return aliased_; }
  std::int64_t shared_begin_bytes(Area area) const { return shared_begin_bytes_[static_cast<std::size_t>(area)]; }
  std::int64_t aside_bytes() const { return aside_bytes_; } // of input to be copied aside first; 0: none
  std::int64_t scratch_bytes() const { return scratch_bytes_; }
  std::int64_t buffer_bytes() const { // the longer one of this rank's
    return std::max(area_elements_[0], area_elements_[1]) * data().type_bytes;
  }

  // Exchanges the rank's own blocks (DataLayout::own) for the same number of other ones. Not while the program runs.
  // Error: that of compile() for lengths that differ in a local step.
  Status bind(std::shared_ptr<const OwnBlocks> blocks);

  // The steps of one segment, into `code` (whose memory is reused). Error: an extent outside its buffer, a peer that is
  // no rank, lengths that differ. O(steps of a segment).
  Status resolve(const LaneCode& lane, std::int64_t segment, ResolvedSegment& code) const;

 private:
  friend Result<CompiledProgram> compile(const ProgramSet& set, Rank rank, const CompileOptions& options);
  friend class ProgramCompiler;
  friend class SegmentResolver;
  CompiledProgram(const ProgramSet& set, Rank rank, const CompileOptions& options);
  void measure_buffers();

  std::shared_ptr<const Program> program_;
  Binding binding_;
  std::vector<LaneCode> lanes_;
  Demands demands_;
  CompileOptions options_;
  bool aliased_ = false;
  std::int64_t aside_bytes_ = 0, scratch_bytes_ = 0;
  std::array<std::int64_t, 2> area_elements_{};      // of input and output
  std::array<std::int64_t, 2> shared_begin_bytes_{}; // of input and output
  struct ScratchArea {
    std::int64_t first_byte = 0, window = 1, elements = 0;
  };
  std::vector<ScratchArea> scratch_;
};

// Error: what resolve() finds in any segment that is resolved now, windows or trips below 1, too many rounds.
Result<CompiledProgram> compile(const ProgramSet& set, Rank rank, const CompileOptions& options = {});

} // namespace kumihimo::execute
