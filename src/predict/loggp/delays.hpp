// How noise spreads: when each rank does each piece of its work, compared with a run without noise.
#pragma once

#include "loggp/engine.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::loggp {

struct DelayMap {
  Time bin = 0;                     // of the time without noise
  std::size_t bins = 0, groups = 0; // of ranks side by side, `group` ranks each (the last one may have fewer)
  std::int32_t group = 1;
  // By group and bin, in picoseconds: what a rank has done by the end of the bin without noise it has done so much
  // later with it; of the latest rank of the group.
  std::vector<Time> latest;
};

inline constexpr std::uint64_t most_observed = std::uint64_t{1} << 24; // operations, some 60 bytes each

// Runs the graphs without and with the noise of the options, which must have one. At most `groups` rows and `bins`
// columns, 1 or more. Errors: those of run(); more than `most_observed` operations.
Result<DelayMap> delays(const goal::Graphs& graphs, const LogGopsParameters& parameters, const EngineOptions& options,
                        std::size_t groups, std::size_t bins);

} // namespace kumihimo::loggp
