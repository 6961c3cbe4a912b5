// The libraries of one-sided communication that can be measured. One is a file of backends/ and a row of backends.def:
// a class of primitives (one_sided/measurement.hpp says which), and a function that measures them.
#pragma once

#include "mpi/library.hpp"
#include "one_sided/peers.hpp"
#include "one_sided/task.hpp"
#include "transport/transport.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::one_sided {

// What a back end is made from.
struct OneSidedContext {
  const mpi::Library& mpi; // runs
  mpi::Handle world;       // all ranks in their order
  OneSidedPeers& peers;
  transport::Transport* transport = nullptr; // of these ranks, with remote memory; set for `own` alone
};

struct OneSidedBackend {
  std::string_view name;
  // Measures and prints. Collective; an error is known to all ranks.
  Status (*measure)(const OneSidedContext& context, const OneSidedTask& task);
};

// The rows of backends.def.
const std::vector<OneSidedBackend>& backends();
// Error: no row has this name.
Result<OneSidedBackend> find_backend(const std::string& name);

} // namespace kumihimo::one_sided
