// The collectives whose calls may be taken over: of the irregular forms those of which every rank knows all counts
// (allgatherv, reduce_scatter); the others, and those of neighbourhoods, are handed on.
#pragma once

#include "schedule/collective.hpp"

#include <array>
#include <cstddef>

namespace kumihimo::interpose {

inline constexpr std::array taken_over = {
    CollectiveKind::barrier,   CollectiveKind::bcast,          CollectiveKind::reduce,  CollectiveKind::allreduce,
    CollectiveKind::scan,      CollectiveKind::exscan,         CollectiveKind::gather,  CollectiveKind::scatter,
    CollectiveKind::allgather, CollectiveKind::reduce_scatter, CollectiveKind::alltoall};

constexpr std::size_t index_of(CollectiveKind kind) { return static_cast<std::size_t>(kind); } // in taken_over

} // namespace kumihimo::interpose
