// The MPI library's own call for a collective, with the arguments of a program.
#pragma once

#include "mpi/library.hpp"
#include "plan/collective_call.hpp"
#include "schedule/collective.hpp"

#include <optional>
#include <vector>

namespace kumihimo::bench_driver {

// A communicator whose ranks have these neighbours, in this order; returns MPI's code. Collective.
int make_graph(const mpi::Library& library, mpi::Handle world, std::vector<int> sources, std::vector<int> destinations,
               mpi::Handle* made);

class LibraryCollective {
 public:
  // What the call names the elements and the operation by, where these are the user's.
  struct Handles {
    mpi::Handle type, operation;
  };
  // `world`: all ranks. The library must outlive this. Where the collective is one of neighbours, made and
  // ended by all ranks together: it has a communicator of its own.
  LibraryCollective(const mpi::Library& library, mpi::Handle world, const Collective& collective, Rank rank,
                    const std::optional<Handles>& handles = {});
  ~LibraryCollective();
  LibraryCollective(const LibraryCollective&) = delete;
  LibraryCollective& operator=(const LibraryCollective&) = delete;

  // On all ranks, or the ranks' neighbourhood, on buffers as execute::Buffers has them: in place both are the
  // start of one memory.
  Status call(void* input, void* output) const;
  // Begins the non-blocking call, of blocks of one length, which the wait ends.
  Status begin(void* input, void* output);
  Status wait();

 private:
  Status check_callable() const;
  plan::CollectiveCall call_on(void* input, void* output) const;
  Status checked(int code) const; // MPI's
  const mpi::Library& library_;
  // Of blocks of different lengths, one behind the other.
  struct Blocks {
    std::vector<int> counts, displacements;
    plan::CollectiveCall::Blocks arrays() const { return {counts.data(), displacements.data()}; }
  };
  void set_blocks(const Collective& collective, Rank rank);

  mpi::Handle world_;
  plan::CollectiveCall call_; // but for its buffers
  Blocks sent_, received_;
  bool aliased_;
  int made_ = 0; // MPI's code of making its communicator
  mpi::Handle request_ = 0;
};

} // namespace kumihimo::bench_driver
