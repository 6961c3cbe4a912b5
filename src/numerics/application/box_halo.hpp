// Halo exchange of fields on a box of cells with layers of ghosts around it: the programs of src/programs/halo, which
// `simulate` predicts too, on an array that an application owns. Boxes may differ in size as those of RankGrid::part
// do: ranks beside each other have the same cells along the other axes.
#pragma once

#include "application/program_run.hpp"
#include "halo/halo.hpp"

#include <memory>

namespace kumihimo::application {

class BoxHalo {
 public:
  // Collective. `halo.ranks` is the grid of all ranks, `halo.cells` are this rank's. Its compute steps are left out:
  // the application computes.
  static Result<std::unique_ptr<BoxHalo>> make(Halo halo, Rank rank, UnderWay& under_way);

  // Periodic axes of one rank are copied, others have no ghosts to fill.
  static Result<std::unique_ptr<BoxHalo>> of_one_rank(Halo halo);

  const Halo& halo() const { return halo_; }
  // `fields`: halo().fields arrays of halo().cells_with_ghosts() elements of halo().type, x fastest. Between start()
  // and wait() cells may be read, not written; ghosts neither.
  Status start(void* fields);
  Status wait() { return run_ ? run_->wait() : Status(Nothing{}); }
  Status run(void* fields);

 private:
  Halo halo_;
  std::unique_ptr<ProgramRun> run_; // null: one rank
};

} // namespace kumihimo::application
