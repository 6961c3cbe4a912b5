// Every kind of transposition.
#pragma once

#include "application/runtime.hpp"
#include "distributed_fft/transposition.hpp"

#include <cstdint>
#include <memory>

namespace kumihimo::distributed_fft {

// The boxes are the same: one array.
Result<std::unique_ptr<Transposition>> make_local(const TranspositionTask& task, std::int32_t rank);
// By what a way names. Collective. Errors: those of make_exchange() and of the MPI library.
Result<std::unique_ptr<Transposition>> make_transposition(const TranspositionTask& task, const TransformWay& way,
                                                          application::Runtime& runtime);
// The same in pieces of the boxes before, which are cut along `axis`, as threads::part() cuts them: each is exchanged
// as soon as it is written.
Result<std::unique_ptr<Transposition>> make_pieces(const TranspositionTask& task, std::size_t axis,
                                                   const TransformWay& way, application::Runtime& runtime);
// In a window each plane of a box is longer than its points: planes of a power of two would share a few sets of the
// caches.
double padded_points(const fft::PointBox& box); // of one band

} // namespace kumihimo::distributed_fft
