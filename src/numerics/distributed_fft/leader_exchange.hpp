// An exchange in which one rank of each group, its leader, sends and receives for all: fewer and longer messages
// between nodes. Members write into the leader's buffer, which they share, sorted by group, rank and source of each
// block; the leaders exchange one message a pair of groups; members read their blocks. The "shm" form of CASTEP (HECToR
// dCSE report, 2011); its form by messages is `hierarchical` of the registry.
#pragma once

#include "application/runtime.hpp"
#include "distributed_fft/block_exchange.hpp"
#include "distributed_fft/block_table.hpp"

#include <memory>
#include <span>
#include <vector>

namespace kumihimo::distributed_fft {

// The group of each rank, numbered by their first ranks: ranks of one node, at most `most` of them (0: all). Ranks of a
// node fill its groups in order.
std::vector<std::int32_t> groups_of_ranks(std::span<const std::int64_t> node_of_rank, std::int64_t most);

// Collective. Errors: those of exchange_by_messages() among leaders, and of the shared memory.
Result<std::unique_ptr<BlockExchange>> exchange_by_leaders(const BlockTable& table, const TransformWay& way,
                                                           application::Runtime& runtime);

} // namespace kumihimo::distributed_fft
