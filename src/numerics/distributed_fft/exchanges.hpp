// Every kind of exchange of blocks.
#pragma once

#include "distributed_fft/block_exchange.hpp"
#include "distributed_fft/block_table.hpp"
#include "distributed_fft/exchange_ranks.hpp"

#include <memory>

namespace kumihimo::distributed_fft {

// By the messages, the window or the leaders of a way, between `ranks`, of which the table is: of a window and leaders
// all. On one rank it copies nothing. Collective over all ranks, whose rows and columns each have as many. Errors:
// there is no such alltoall, or it does not fit; ranks of a window on several nodes; floats without messages, derived
// datatypes (not_applicable); no memory.
Result<std::unique_ptr<BlockExchange>> make_exchange(const BlockTable& table, const TransformWay& way,
                                                     ExchangeRanks ranks);

} // namespace kumihimo::distributed_fft
