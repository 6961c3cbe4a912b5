// The fastest alltoall for the exchanges of a transform, by running each with the blocks that it will carry.
#pragma once

#include "application/runtime.hpp"
#include "distributed_fft/block_table.hpp"
#include "distributed_fft/exchange_ranks.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::distributed_fft {

struct PlannedExchange {
  BlockTable table;
  ExchangeRanks ranks; // of which the table is
};

struct ExchangeTime {
  std::string exchange;
  double seconds = 0; // of all planned exchanges, one after the other; of the slowest rank
};

struct MeasuredExchanges {
  std::vector<ExchangeTime> times; // the fastest first
  bool was_cut_short = false;      // time was up before all were measured
};

// Of the exchanges named. The first one named is always measured; the others while they may begin
// within `budget` seconds. One that does not fit these ranks is left out. The same on all ranks. Collective. Errors:
// none fits; those of the transport.
Result<MeasuredExchanges> measure_exchanges(const std::vector<PlannedExchange>& planned, const TransformWay& way,
                                            std::span<const std::string_view> names, double budget,
                                            application::Runtime& runtime);

} // namespace kumihimo::distributed_fft
