// Exchange of ghosts for any partition of a matrix: each rank sends elements of its rows to its neighbours and receives
// theirs behind its own rows. A vector of a rank is its rows, then its ghosts, neighbour by neighbour.
//
// The elements to be sent are packed by the threads of this rank into one buffer, in order of the neighbours; messages
// go from there straight into the ghosts of the vector. So a message is one piece, whatever the partition.
#pragma once

#include "application/program_run.hpp"
#include "threads/array.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace kumihimo::application {

// Of one rank. Each neighbour is named once; ranks name each other, and a's `sent` to b is as long as b's `received`
// from a and in the same order.
struct Ghosts {
  struct Neighbour {
    std::int32_t rank = 0;
    std::vector<std::int32_t> sent; // rows of this rank, in the order of the neighbour's ghosts
    std::int64_t received = 0;      // ghosts of this rank that the neighbour owns
  };
  std::int64_t rows = 0;
  std::vector<Neighbour> neighbours; // ascending by rank

  std::int64_t sent() const;
  std::int64_t received() const;
  std::int64_t length() const { return rows + received(); } // of a vector
};

// Error: a neighbour that is no other rank or comes twice or out of order, a row out of range, a negative length.
Status check(const Ghosts& ghosts, Rank rank, std::int32_t ranks);

// The exchange as programs. Input: the packed elements; output: the ghosts. `of_rank` is asked for the ranks whose
// programs are made: an executor needs its own rank's only, a simulation all.
ProgramSet programs_of(std::int32_t ranks, std::function<std::shared_ptr<const Ghosts>(Rank)> of_rank);

class GhostExchange {
 public:
  // Collective. Error: those of check(), of memory and of the transport.
  static Result<std::unique_ptr<GhostExchange>> make(Ghosts ghosts, Rank rank, std::int32_t ranks, UnderWay& under_way);

  // Of one rank: does nothing.
  static Result<std::unique_ptr<GhostExchange>> without_neighbours(Ghosts ghosts);

  const Ghosts& ghosts() const { return *ghosts_; }
  // Sends rows of `vector` and receives its ghosts. Between start() and wait() rows may be read and written, ghosts may
  // not.
  Status start(double* vector);
  Status wait() { return run_ ? run_->wait() : Status(Nothing{}); }
  Status run(double* vector);

 private:
  std::shared_ptr<const Ghosts> ghosts_;
  std::vector<std::int32_t> rows_; // of all messages
  threads::ThreadedArray<double> packed_;
  std::unique_ptr<ProgramRun> run_; // null: no neighbours
};

} // namespace kumihimo::application
