// Which alltoall carries the messages of a transform where the user leaves the choice to us.
#pragma once

#include "application/runtime.hpp"
#include "distributed_fft/exchange_choice.hpp"
#include "distributed_fft/transform_way.hpp"
#include "fft3d/problem.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::fft3d {

inline constexpr std::string_view automatic_exchange = "auto";

struct ChosenExchange {
  std::vector<distributed_fft::ExchangeTime> times; // what was measured, the fastest first; of wisdom on rank 0 alone
  bool is_from_wisdom = false;
  Status kept = Nothing{}; // error, on rank 0: the file of wisdom cannot be used
};

// Names it in `way`, if that has "auto": on one node, where all of them copy the same bytes, pairwise; on several the
// fastest of those that are measured within `budget` seconds. What an earlier run has measured in the same case, which
// the folder of wisdom keeps, is not measured again. Collective. Errors: those of measure_exchanges().
Result<ChosenExchange> choose_exchange(const FftProblem& problem, double budget, const std::string& wisdom_folder,
                                       distributed_fft::TransformWay& way, application::Runtime& runtime);

} // namespace kumihimo::fft3d
