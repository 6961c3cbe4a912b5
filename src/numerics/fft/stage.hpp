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

// What a stage reads or writes: bricks of points, or reals.
struct StageMemory {
  std::span<const Brick> bricks;
  const RealBrick* reals = nullptr; // in place of bricks
};

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
  // Between lines of `reals` reals along z and half of their spectrum, of which `box` is. `axes`: {2} or {1, 2}.
  static Result<LineStage> make_real(LineLibrary& library, const PointBox& box, std::int64_t reals,
                                     std::vector<std::size_t> axes, TransformDirection direction,
                                     std::int64_t block_bytes);

  // Blocks [first, last) of a band, shared by the threads of the team. Each side covers them; both sides may be the
  // same memory. Of a stage of reals one side is reals: forward what it reads, backward what it writes. `times`:
  // measures each block and adds to them.
  void run(const StageMemory& from, const StageMemory& to, std::int64_t band, std::int64_t first, std::int64_t last,
           StageTimes* times = nullptr) const;

  const PointBox& box() const { return box_; } // of the spectrum
  bool is_real() const { return reals_ > 0; }
  PointBox real_box() const { return of_reals(box_); }
  double bytes() const; // that a band reads and writes
  std::int64_t blocks() const { return outer_ * tiles_; }
  PointBox block(std::int64_t number) const;
  // Blocks are numbered along this axis first: those of a piece of the box along it follow each other.
  std::size_t outer_axis() const { return outer_axis_; }
  double flops() const; // of a band, by 5 n log2(n) a line, and half of it for reals

 private:
  LineStage() = default;
  Result<std::unique_ptr<BlockPlan>> plan_of(LineLibrary& library, std::int64_t tile,
                                             TransformDirection direction) const;
  PointBox of_reals(PointBox box) const;

  PointBox box_;
  std::int64_t reals_ = 0; // along z; 0: none
  std::vector<std::size_t> axes_;
  std::size_t outer_axis_ = 0, tile_axis_ = 2; // the same: blocks are cut along it alone
  std::int64_t outer_ = 0, tiles_ = 0, tile_ = 1;
  std::unique_ptr<BlockPlan> plan_, last_plan_; // of whole tiles, and of the last one where it is shorter
  mutable std::vector<threads::ThreadedArray<Complex>> buffers_; // one for each thread
};

} // namespace kumihimo::fft
