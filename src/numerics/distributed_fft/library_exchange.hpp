// A transposition by the MPI library: one MPI_Alltoallw from the array of the stage before to that of the stage after.
#pragma once

#include "distributed_fft/exchange_ranks.hpp"
#include "distributed_fft/transposition.hpp"

#include <memory>

namespace kumihimo::distributed_fft {

// Between `ranks`, whose boxes the task has. Collective over all ranks. Errors: floats (not_applicable); those of the
// library; no memory.
Result<std::unique_ptr<Transposition>> exchange_by_library(const TranspositionTask& task, const TransformWay& way,
                                                           ExchangeRanks ranks);

} // namespace kumihimo::distributed_fft
