// The collectives whose calls may be taken over, in their irregular forms, too.
#pragma once

#include "schedule/collective.hpp"

#include <array>
#include <cstddef>

namespace kumihimo::interpose {

inline constexpr std::array taken_over = {
    CollectiveKind::barrier,          CollectiveKind::bcast,    CollectiveKind::reduce,
    CollectiveKind::allreduce,        CollectiveKind::scan,     CollectiveKind::exscan,
    CollectiveKind::gather,           CollectiveKind::scatter,  CollectiveKind::allgather,
    CollectiveKind::reduce_scatter,   CollectiveKind::alltoall, CollectiveKind::neighbor_allgather,
    CollectiveKind::neighbor_alltoall};

constexpr std::size_t index_of(CollectiveKind kind) { return static_cast<std::size_t>(kind); } // in taken_over

} // namespace kumihimo::interpose
