// The variants: how a transform goes through stages and exchanges.
#pragma once

#include "base/parameter.hpp"
#include "distributed_fft/distributed_fft.hpp"
#include "fft3d/problem.hpp"

#include <span>

namespace kumihimo::fft3d {

struct FftVariant : VariantDescription {
  bool is_golden = false;
  bool packs = false, overlaps = false;
  distributed_fft::ExchangeKind kind = distributed_fft::ExchangeKind::messages;
};

std::span<const FftVariant> variants();
// Errors (not_applicable): an exchange was asked for, and the variant has no messages of an alltoall of the registry;
// `throttle` beside both windows.
Status check_exchange(const FftVariant& variant, const ParameterValues& parameters, const FftProblem& problem);
// With the candidate's parameters, and what the user asked for.
distributed_fft::TransformWay way_of(const FftVariant& variant, const ParameterValues& parameters,
                                     const FftProblem& problem);

} // namespace kumihimo::fft3d
