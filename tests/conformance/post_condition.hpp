// What each collective gives by its row of collectives.def: who contributes to which elements of whose output. Beside
// the row it shares nothing with schedules.
#pragma once

#include "arithmetic.hpp"

namespace conformance {

inline constexpr std::byte untouched{0xa5}; // what buffers hold before a run, and after where nothing is written

class PostCondition {
 public:
  explicit PostCondition(kumihimo::Collective collective) : c_(std::move(collective)) {}

  // Elements of the rank's buffers; where both are one memory (in place), of that memory.
  std::int64_t input_elements(std::int32_t rank) const;
  std::int64_t output_elements(std::int32_t rank) const;
  // Where the rank's input begins in that memory, in elements.
  std::int64_t input_begin(std::int32_t rank) const;

  // Why `output` (the whole memory of the rank's output) is wrong, given the inputs of all; nothing if it is right or
  // undefined.
  std::optional<std::string> wrong(const Arithmetic& arithmetic, const std::vector<Buffer>& inputs, std::int32_t rank,
                                   const Buffer& output) const;

 private:
  std::int64_t block(std::int32_t b) const;                       // elements of block b
  std::int64_t pair(std::int32_t from, std::int32_t to) const;    // of an alltoall
  std::int64_t edge(std::int32_t from, std::int64_t block) const; // of neighbours: what goes to the destination
  std::int64_t blocks_before(std::int32_t b) const;
  bool has(const kumihimo::CollectiveRow::Side& side, std::int32_t rank) const; // whether it counts there
  bool at_root(std::int32_t rank) const { return rank == c_.root.value; }
  Buffer slice(const Buffer& b, std::int64_t first, std::int64_t count) const;

  std::optional<std::string> wrong_reduction(const Arithmetic& arithmetic, const std::vector<Buffer>& inputs,
                                             std::int32_t rank, const Buffer& output) const;
  // Where each element of the output comes from, one piece after the other from `begin`; rank -1: from nowhere.
  struct Origin {
    std::int32_t rank;
    std::int64_t first, count;
  };
  std::vector<Origin> origins(std::int32_t rank, std::int64_t& begin) const;
  std::vector<Origin> of_neighbours(std::int32_t rank) const;

  kumihimo::Collective c_;
};

} // namespace conformance
