// Every kind of transposition.
#pragma once

#include "distributed_fft/exchange_ranks.hpp"
#include "distributed_fft/transposition.hpp"

#include <cstdint>
#include <memory>

namespace kumihimo::distributed_fft {

// Ranks have the same boxes before and after: one array, of this rank's box.
Result<std::unique_ptr<Transposition>> make_local(const fft::PointBox& box, std::int64_t bands);
// By what a way names, between `ranks`, whose boxes the task has: of a window and leaders all. Collective over all
// ranks. Errors: those of make_exchange() and of the MPI library.
Result<std::unique_ptr<Transposition>> make_transposition(const TranspositionTask& task, const TransformWay& way,
                                                          ExchangeRanks ranks);
// The same in pieces of the boxes before, which are cut along `axis`, as threads::part() cuts them: each is exchanged
// as soon as it is written.
Result<std::unique_ptr<Transposition>> make_pieces(const TranspositionTask& task, std::size_t axis,
                                                   const TransformWay& way, ExchangeRanks ranks);
// In a window each plane of a box is longer than its points: planes of a power of two would share a few sets of the
// caches.
double padded_points(const fft::PointBox& box); // of one band

} // namespace kumihimo::distributed_fft
