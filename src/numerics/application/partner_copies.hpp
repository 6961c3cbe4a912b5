// Copies of a rank's state in memory: its own, and one at a partner, from which a lost state comes back without the
// file system (saved_state/partners.hpp says who is whose partner).
#pragma once

#include "application/processes.hpp"
#include "application/program_run.hpp"
#include "base/state_list.hpp"
#include "saved_state/partners.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace kumihimo::application {

// The copies of one iteration.
struct CopyGeneration {
  std::vector<double> own, held; // as long on all ranks; held: the copy of the rank whose partner this one is
  std::int64_t iteration = -1;   // -1: not whole
};

// What a rank keeps in memory. Of a run that may lose ranks it outlives the rank's communicators: two generations, as a
// death may come during a copy.
struct KeptCopies {
  std::vector<CopyGeneration> generations{1};
  std::size_t next = 0;              // the one that the next copy writes over
  std::vector<std::int32_t> partner; // of each rank, when the copies were made
  bool is_replacement = false;       // this process has taken the place of a rank that died, and has no state yet
  std::int64_t begun_again = 0;      // how often; the same on all ranks
  std::int64_t deaths = 0;           // so far, as far as this rank knows
  std::int64_t noticed_ns = 0;       // the last one
  std::int64_t reached = 0;          // iteration
  std::int64_t repeated = 0;         // iterations, because of deaths

  CopyGeneration& newest() { return *std::ranges::max_element(generations, {}, &CopyGeneration::iteration); }
};

class PartnerCopies {
 public:
  // All outlive it; `under_way` is null for one rank. Error: one rank has no partner.
  static Result<std::unique_ptr<PartnerCopies>> make(Processes& processes, UnderWay* under_way,
                                                     KeptCopies* kept = nullptr);

  // Of the state before an iteration. Collective; no rank writes over a generation before all have the next one. The
  // bytes of this rank's copy. Errors: memory; those of the transport.
  Result<std::int64_t> copy(std::int64_t iteration, const StateList& list);
  bool has_copies() const { return kept_.newest().iteration >= 0; }
  // All ranks go back to the last copy, this one by `list`. The rank `lost` has neither its state nor its own copy, and
  // gets that of its partner. Collective. Errors: a copy is damaged, of another rank or of another iteration; the
  // transport's.
  Status restore(const StateList& list, std::int32_t lost);
  // The same after deaths: back to the last generation that all ranks have but the replacements, which get the copies
  // of the ranks that died. The iteration; none: no generation is whole everywhere. Collective. Errors: as of
  // restore(); two ranks that were partners died.
  Result<std::optional<std::int64_t>> recover(const StateList& list);
  KeptCopies& kept() { return kept_; }
  std::vector<double>& held() { return kept_.generations[0].held; } // tests damage it
  const std::vector<double>& own() const { return kept_.generations[0].own; }
  std::int32_t on_other_nodes() const; // ranks whose partner is on another node

 private:
  PartnerCopies(Processes& processes, UnderWay& under_way, KeptCopies* kept)
      : processes_(processes), under_way_(under_way), partner_(saved_state::partners_of(processes.node_of_rank())),
        kept_(kept ? *kept : alone_) {}
  Status check_memory(std::size_t bytes) const;
  Status make_room(CopyGeneration& generation, std::size_t bytes) const;
  Status check_own(const CopyGeneration& generation, std::int64_t iteration) const;
  Status bring_back(CopyGeneration& generation, std::int64_t iteration, const StateList& list,
                    const std::vector<std::int32_t>& to);
  Result<std::unique_ptr<ProgramRun>> transfer(const std::vector<std::int32_t>& to, std::size_t numbers) const;

  Processes& processes_;
  UnderWay& under_way_;
  std::vector<std::int32_t> partner_; // of each rank
  KeptCopies alone_;                  // of a run that a death ends
  KeptCopies& kept_;
  std::unique_ptr<ProgramRun> copy_; // of so many numbers
  std::size_t copied_numbers_ = 0;
};

} // namespace kumihimo::application
