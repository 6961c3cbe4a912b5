// How noise spreads: when each rank does each piece of its work, compared with a run without noise.
#pragma once

#include "loggp/engine.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::loggp {

struct DelayMap {
  Time bin = 0;                    // of the time without noise
  std::size_t bins = 0, groups = 0; // of ranks side by side, `group` ranks each (the last one may have fewer)
  std::int32_t group = 1;
  // By group and bin, in picoseconds: how much later the latest rank of the group is than it would be without noise, at
  // the end of the last piece of work that it has by then without noise.
  std::vector<Time> latest;
};

inline constexpr std::uint64_t most_observed = std::uint64_t{1} << 26; // pieces of work, 8 bytes each

// Runs the graphs without and with the noise of the options, which must have one. At most `groups` rows and `bins`
// columns, 1 or more. A rank's n-th piece of work is compared with its n-th: of pieces that another order of messages
// exchanges, the ends are compared, not the pieces. Errors: those of run(); more than `most_observed` pieces of work.
Result<DelayMap> delays(const goal::Graphs& graphs, const Parameters& parameters, const EngineOptions& options,
                        std::size_t groups, std::size_t bins);

} // namespace kumihimo::loggp
