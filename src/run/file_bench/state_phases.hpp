// Phases on the saved state of an application (saved_state/state_store.hpp): each rank saves so many bytes durably, and
// loads them verified.
#pragma once

#include "base/result.hpp"
#include "mpi_job/job.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace kumihimo::file_bench {

struct StateCase {
  std::int64_t bytes = 1 << 20; // of a rank
  std::int64_t generation = 1;  // newer than those that are there
  bool keeps_cache = false;     // before a load; else the files' pages are let go of
  std::uint64_t seed = 1;
};
Result<StateCase> parse_state_case(const nlohmann::json& given);

// All are collective. `what`: save, load (of the same generation), discard (all files), partner (a copy in this rank's
// memory and in a partner's, then the return of all ranks to it as if one of them had lost both; its bytes are
// compared; not on one rank).
Result<nlohmann::json> run_state_phase(const mpi_job::MpiJob& job, const std::string& folder, const StateCase& c,
                                       const std::string& what);

} // namespace kumihimo::file_bench
