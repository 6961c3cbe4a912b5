// A stage of a transform: the lines of a box along one axis, or along y and z, in blocks that fit the cache. A block is
// gathered from bricks, transformed in place, and scattered to bricks: each point is read from memory once and written
// once, whatever pieces the messages before and after it have. Band blocking lost what it won by separate loops that
// packed and unpacked (CASTEP, HECToR dCSE report: L2 misses 3 to 6 times as many); these loops are not there.
#pragma once

#include "base/result.hpp"
#include "fft/line_library.hpp"
#include "threads/array.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kumihimo::fft {

// Nanoseconds of all threads together.
struct StageTimes {
  std::int64_t copies = 0, lines = 0;
};

class LineStage {
 public:
  // `box`: this rank's points, whole along `axes`, which are {0}, {1}, {2} or {1, 2}. `block_bytes`: about, at least a
  // line. Errors: those of the library; no memory.
  static Result<LineStage> make(LineLibrary& library, const PointBox& box, std::vector<std::size_t> axes,
                                TransformDirection direction, std::int64_t block_bytes);

  // Blocks [first, last) of a band, shared by the threads of the team. The bricks of each side cover them; both sides
  // may be the same memory. `times`: measures each block and adds to them.
  void run(std::span<const Brick> from, std::span<const Brick> to, std::int64_t band, std::int64_t first,
           std::int64_t last, StageTimes* times = nullptr) const;

  const PointBox& box() const { return box_; }
  std::int64_t blocks() const { return outer_ * tiles_; }
  PointBox block(std::int64_t number) const;
  // Blocks are numbered along this axis first: those of a piece of the box along it follow each other.
  std::size_t outer_axis() const { return outer_axis_; }
  double flops() const; // of a band, by 5 n log2(n) a line

 private:
  LineStage() = default;

  PointBox box_;
  std::vector<std::size_t> axes_;
  std::size_t outer_axis_ = 0, tile_axis_ = 2; // the same: blocks are cut along it alone
  std::int64_t outer_ = 0, tiles_ = 0, tile_ = 1;
  std::unique_ptr<BlockPlan> plan_, last_plan_; // of whole tiles, and of the last one where it is shorter
  mutable std::vector<threads::ThreadedArray<Complex>> buffers_; // one for each thread
};

} // namespace kumihimo::fft
