// Which alltoall carries the messages of a transform where the user leaves the choice to us.
#pragma once

#include "application/runtime.hpp"
#include "distributed_fft/exchange_choice.hpp"
#include "distributed_fft/transform_way.hpp"
#include "fft3d/problem.hpp"

#include <string_view>
#include <vector>

namespace kumihimo::fft3d {

inline constexpr std::string_view automatic_exchange = "auto";

// Names it in `way`, if that has "auto": on one node, where all of them copy the same bytes, pairwise; on several the
// fastest of those that are measured within `budget` seconds, which are returned. Collective. Errors: those of
// measure_exchanges().
Result<std::vector<distributed_fft::ExchangeTime>> choose_exchange(const FftProblem& problem, double budget,
                                                                   distributed_fft::TransformWay& way,
                                                                   application::Runtime& runtime);

} // namespace kumihimo::fft3d
