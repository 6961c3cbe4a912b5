// A transposition by the MPI library: one MPI_Alltoallw from the array of the stage before to that of the stage after.
#pragma once

#include "application/runtime.hpp"
#include "distributed_fft/transposition.hpp"

#include <memory>

namespace kumihimo::distributed_fft {

// Collective. Errors: floats (not_applicable); those of the library; no memory.
Result<std::unique_ptr<Transposition>> exchange_by_library(const TranspositionTask& task, const TransformWay& way,
                                                           application::Runtime& runtime);

} // namespace kumihimo::distributed_fft
