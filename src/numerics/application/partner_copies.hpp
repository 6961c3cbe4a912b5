// Copies of a rank's state in memory: its own, and one at a partner, from which a lost state comes back without the
// file system (saved_state/partners.hpp says who is whose partner).
#pragma once

#include "application/processes.hpp"
#include "application/program_run.hpp"
#include "base/state_list.hpp"
#include "saved_state/partners.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace kumihimo::application {

class PartnerCopies {
 public:
  // Both outlive it; `under_way` is null for one rank. Error: one rank has no partner.
  static Result<std::unique_ptr<PartnerCopies>> make(Processes& processes, UnderWay* under_way);

  // Of the state before an iteration. Collective. The bytes of this rank's copy. Errors: memory; those of the
  // transport.
  Result<std::int64_t> copy(std::int64_t iteration, const StateList& list);
  bool has_copies() const { return iteration_.has_value(); }
  // All ranks go back to the last copy, this one by `list`. The rank `lost` has neither its state nor its own copy, and
  // gets that of its partner. Collective. Errors: a copy is damaged, of another rank or of another iteration; the
  // transport's.
  Status restore(const StateList& list, std::int32_t lost);
  std::vector<double>& held() { return held_; } // the copy of another rank; tests damage it
  const std::vector<double>& own() const { return own_; }
  std::int32_t on_other_nodes() const; // ranks whose partner is on another node

 private:
  PartnerCopies(Processes& processes, UnderWay& under_way)
      : processes_(processes), under_way_(under_way), partner_(saved_state::partners_of(processes.node_of_rank())) {}
  Status make_room(std::size_t bytes);
  Status check_own() const;
  Result<std::unique_ptr<ProgramRun>> transfer(bool back, std::int32_t lost) const;

  Processes& processes_;
  UnderWay& under_way_;
  std::vector<std::int32_t> partner_;     // of each rank
  std::vector<double> own_, held_;        // as long on all ranks; held_: the copy of the rank whose partner this one is
  std::unique_ptr<ProgramRun> copy_;      // of so many numbers
  std::optional<std::int64_t> iteration_; // of the last copy
};

} // namespace kumihimo::application
