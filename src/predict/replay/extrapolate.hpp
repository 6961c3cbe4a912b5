// A recording of other numbers of ranks, where its pattern is regular: ranks are a grid, and each sends to the same
// distances along its axes as all others at such a place.
//
// A place along an axis is the first, the last, or between. A rank of the larger grid does what a recorded rank at the
// same place did; those between take turns. Of a periodic axis, messages over its end stay so.
//
//   weak scaling     the same work a rank: computing, messages, vectors and blocks as recorded. Of an alltoall the sum
//                    that a rank sends stays, so that its blocks shrink as the ranks grow.
//   strong scaling   the same work in all: computing and the volume of a rank shrink as the ranks grow. A message to a
//                    neighbour shrinks with the face: by the axes along which it does not go. Vectors stay; blocks of a
//                    rank shrink like the volume, those of a pair by its square.
#pragma once

#include "replay/recording.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace kumihimo::replay {

using Grid = std::vector<std::int32_t>; // lengths; ranks are in row-major order

// The grid on which a recording's messages go the least distance, of up to three axes. Error: on none are they regular.
Result<Grid> grid_of(const Recording& recording);
// A grid of so many ranks with as many axes, whose lengths are as alike in proportion as can be.
Grid scaled_grid(const Grid& grid, std::int32_t ranks);

class Extrapolation : public Source {
 public:
  // Errors say what is not regular: a rank with other distances than another at such a place; a distance of half an
  // axis, whose direction is unknown; an axis too short to have a place between; a communicator that is no line, plane
  // or the like; a root in the middle; blocks of different lengths; more or fewer axes.
  static Result<Extrapolation> make(const Recording& recording, Grid from, Grid to, bool strong);

  std::int32_t ranks() const override { return ranks_; }
  std::unique_ptr<EventStream> stream(std::int32_t rank, const AtOnce& at_once = {}) const override;
  std::uint32_t communicators() const override { return static_cast<std::uint32_t>(of_recording_.size()); }
  std::int32_t size_of(std::uint32_t communicator) const override;
  std::int32_t member(std::uint32_t communicator, std::int32_t rank) const override;
  std::int32_t rank_in(std::uint32_t communicator, std::int32_t rank_of_world) const override;
  const std::vector<RecordedCollective>& calls() const override { return calls_; }
  std::uint32_t call_of(std::uint32_t communicator, std::size_t n) const override;
  std::int64_t count_of(std::uint32_t call) const override { return counts_[call]; }
  // The recorded rank that does the same.
  std::int32_t model_of(std::int32_t rank) const;

 private:
  // Communicators of the recording whose ranks differ along the same axes.
  struct Family {
    std::vector<bool> along; // by axis
    std::int32_t size = 1;
    std::uint32_t first = 0; // of the new communicators: one for each place along the other axes
    std::int32_t count = 1;
  };
  class Copied;
  Extrapolation(const Recording& recording, Grid from, Grid to, bool strong);
  Status check_messages() const;
  Status find_communicators();
  Result<std::uint32_t> family_of(std::uint32_t communicator);
  Status find_calls();
  std::int32_t place_of(const Family& family, std::int32_t rank, bool along) const;
  std::int64_t scaled(std::int64_t bytes, double by) const;

  const Recording* recording_;
  Grid from_, to_;
  bool strong_;
  std::int32_t ranks_;
  double volume_;                // of a rank, as a share of the recorded
  std::vector<Family> families_; // the first one is the world
  static constexpr std::uint32_t none = 0xFFFFFFFFU;
  std::vector<std::uint32_t> family_of_;                    // by recorded communicator; none: it is not used
  std::vector<std::uint32_t> of_recording_, family_of_new_; // by new communicator; none: nothing is like it
  std::vector<RecordedCollective> calls_;
  std::vector<std::int64_t> counts_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>
      numbers_; // of a call, by communicator and recorded call
};

} // namespace kumihimo::replay
