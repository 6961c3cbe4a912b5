// Every kind of exchange of blocks.
#pragma once

#include "application/runtime.hpp"
#include "distributed_fft/block_exchange.hpp"
#include "distributed_fft/block_table.hpp"

#include <memory>

namespace kumihimo::distributed_fft {

// By the messages, the window or the leaders of a way. On one rank it copies nothing. Collective. Errors: there is no
// such alltoall, or it does not fit; ranks of a window on several nodes; floats without messages, derived datatypes
// (not_applicable); no memory.
Result<std::unique_ptr<BlockExchange>> make_exchange(const BlockTable& table, const TransformWay& way,
                                                     application::Runtime& runtime);

} // namespace kumihimo::distributed_fft
