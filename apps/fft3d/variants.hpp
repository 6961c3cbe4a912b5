// The variants: how a transform goes through stages and exchanges.
#pragma once

#include "base/parameter.hpp"
#include "distributed_fft/distributed_fft.hpp"

#include <span>

namespace kumihimo::fft3d {

struct FftVariant : VariantDescription {
  bool is_golden = false;
  bool packs = false, through_window = false, overlaps = false;
};

std::span<const FftVariant> variants();
// With the candidate's parameters, and the alltoall that the user asked for.
distributed_fft::TransformWay way_of(const FftVariant& variant, const ParameterValues& parameters,
                                     const std::string& exchange);

} // namespace kumihimo::fft3d
