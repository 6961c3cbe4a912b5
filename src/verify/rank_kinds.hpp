// Ranks that use their memory alike: programs that differ in their peers alone, on buffers that are alike. What one of
// them does to its memory all do. A halo exchange has one kind of rank on a torus, and a few dozen on a mesh.
#pragma once

#include "program/program_set.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::verify {

class RankKinds {
 public:
  struct Kind {
    std::int32_t number = 0; // in the order in which they were met
    Program program;         // without peers
    BufferPair buffers;
    Rank first; // of its ranks
    std::int64_t ranks = 0;
  };

  explicit RankKinds(const DataLayout& data);

  static constexpr std::int32_t none = -1;
  // Every rank once. The number of its kind, or none.
  std::int32_t add(Program program, Rank rank);
  // Kinds of all ranks; none where there are more than a few, or where blocks differ from rank to rank.
  const std::vector<Kind>& kinds() const { return kinds_; }

 private:
  static constexpr std::size_t most_kinds = 64;
  const DataLayout& data_;
  bool applies_ = true;
  std::vector<Kind> kinds_;
};

} // namespace kumihimo::verify
