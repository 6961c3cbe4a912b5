// What a user asks for with --checkpoint and --restart.
#pragma once

#include "base/result.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace kumihimo::application {

struct CheckpointOptions {
  std::int64_t every = 0;   // iterations between two saved states; 0: none, or by time
  double every_seconds = 0; // about so many between two; 0: none, or by iterations
  std::string folder;       // of the saved states
  std::int64_t partner = 0; // iterations between two copies in the memory of a partner rank; 0: none
  std::int32_t spares = 0;  // further ranks, which wait until one dies (spare_ranks.hpp)
  // A simulated loss: in this iteration all memory of the state of this rank is overwritten. -1: none.
  std::int64_t lost_rank = -1, lost_at = 0;
  std::string restart; // folder whose newest state the run goes on from; empty: from the beginning

  bool saves() const { return every > 0 || every_seconds > 0; }
  bool any() const { return saves() || partner > 0 || !restart.empty(); }
};

// {"every": 10, "every_seconds": 60, "folder": "...", "partner": 5, "spares": 1, "lost_rank": 1, "lost_at": 12,
// "restart": "..."}, all optional. Errors: a negative number, states without a folder, a loss or spare ranks without a
// partner.
Result<CheckpointOptions> parse_checkpoint_options(const nlohmann::json& given);

} // namespace kumihimo::application
