// The engine's bookkeeping of the segments in flight: for the engine's own files.
#pragma once

#include "execute/compiled_program.hpp"
#include "transport/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kumihimo::execute {

// One segment of a lane in flight: what its rounds wait for, and the memory of its messages.
struct SegmentSlot {
  std::int64_t segment = 0;
  const ResolvedSegment* code = nullptr;
  ResolvedSegment own;              // where segments are resolved as they begin
  std::vector<std::int32_t> open;   // by round: steps that are not complete
  std::vector<std::int32_t> waits;  // by round: rounds that it still waits for; unused in chains
  std::vector<std::int32_t> active; // rounds started and not yet found complete
  std::int32_t rounds_left = 0;
  std::vector<transport::SendRequest> sends;
  std::vector<transport::ReceiveRequest> receives;
  std::vector<transport::OffloadRequest> offloads;
  std::vector<transport::Piece> pieces; // of sends of several runs, as the runs of `code`
  std::vector<std::byte> packed;
};

struct LaneState {
  const LaneCode* code = nullptr;
  std::int64_t begun = 0;         // segments begun
  std::int64_t complete = 0;      // all segments below this are complete
  std::vector<SegmentSlot> slots; // segment s in slot s mod window

  const SegmentSlot& slot(std::int64_t s) const { return slots[static_cast<std::size_t>(s % code->window)]; }
  SegmentSlot& slot(std::int64_t s) { return slots[static_cast<std::size_t>(s % code->window)]; }
};

} // namespace kumihimo::execute
