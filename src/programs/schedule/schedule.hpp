// A collective, the programs of its ranks, and what they claim (ADR 0001, ADR 0027). A Schedule stores no rank's
// program: rank r builds its own.
#pragma once

#include "program/program_set.hpp"
#include "schedule/collective.hpp"
#include "schedule/data.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kumihimo {

// Claims of a schedule; `verify` tests every claim, and consumers may rely on those alone.
struct Claims {
  bool in_place_safe = true; // never reads input after output was written at the same bytes
  bool same_on_all_ranks =
      true; // every rank that gets an element of the result combines it in the same tree: same bits
  bool keeps_rank_order = false; // operands stay in rank order: fit for non-commutative operations
  bool neighbours_only = false;  // every message between neighbours of the rank space's shape
  bool link_disjoint = false;    // no directed link of the shape in two lanes of one phase
  bool offloads = false;    // has offload steps, which only a network's own engine can do; without it there are none
  std::int64_t height = -1; // relays on the longest path of one phase from or to the root; -1: not claimed
};

// A collective, and the programs that carry it out.
struct Schedule : ProgramSet {
  // `declared`: layouts of the algorithm's own (program/data_layout.hpp).
  explicit Schedule(Collective asked = {}, std::vector<BlockLayout> declared = {})
      : ProgramSet{data_of(asked, std::move(declared)), {}, {}, 0}, collective_(std::move(asked)) {}

  const Collective& collective() const { return collective_; } // `data` is made from it
  // The same programs for another collective, which they fit too.
  void set_collective(Collective other);

  std::string algorithm;  // "trinaryx3"
  std::string parameters; // as people read them: "trees=3 segments=1024 window=2"
  Claims claims;

 private:
  Collective collective_;
};

} // namespace kumihimo
