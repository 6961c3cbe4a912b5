// Sums over ranks by the MPI library's own reductions.
#pragma once

#include "krylov/linear_system.hpp"
#include "mpi/library.hpp"

#include <vector>

namespace kumihimo::application {

// MPI_Allreduce or MPI_Iallreduce, then MPI_Bcast of rank 0's result: MPI only recommends that an allreduce gives all
// ranks the same bits, and ranks that differ in the last bit would decide differently whether to go on. `library`
// outlives the sums.
class LibrarySums final : public krylov::Sums {
 public:
  LibrarySums(const mpi::Library& library, mpi::Handle communicator) : library_(library), communicator_(communicator) {}
  Status sum(std::span<double> values) override;
  Status start(std::span<double> values) override;
  Status wait() override;

 private:
  Status take_from_rank_0(std::span<double> values) const;
  const mpi::Library& library_;
  mpi::Handle communicator_;
  std::vector<double> from_;
  std::span<double> under_way_;
  mpi::Handle request_ = 0;
};

} // namespace kumihimo::application
