// The profile of a run as numbers and as a table.
#pragma once

#include "application/processes.hpp"
#include "distributed_fft/profile.hpp"

#include <nlohmann/json_fwd.hpp>

namespace kumihimo::fft3d {

// [{"name", "mean", "largest": seconds of a rank, "imbalance": (largest - mean) / largest x ranks / (ranks - 1),
// "share": of the mean of all}], the last one for the rest of `own_seconds`. Parts without time are left out.
// Collective.
nlohmann::json profile_of(const distributed_fft::TransformProfile& profile, double own_seconds,
                          application::Processes& processes);
// As docs/applications.md describes tables.
nlohmann::json profile_table(const nlohmann::json& profile);

} // namespace kumihimo::fft3d
