// A measured number with all that is needed to judge it: its unit, its spread, how many samples, and where it comes
// from. The record that the reports show, and that plans and wisdom files keep.
#pragma once

#include "base/result.hpp"
#include "measure/order_statistics.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace kumihimo::measure {

// How the samples came to be. Empty and zero mean "not recorded", never a default.
struct Provenance {
  std::string machine;  // as `kumihimo machine show` names it
  std::string software; // libraries and versions
  std::string command;  // what to type to measure it again
  std::string clock;    // source, resolution and overhead
  std::string pinning;  // what was bound to what
  std::string over;     // how the ranks' times became one sample, such as "maximum over ranks"
  std::string when;     // ISO 8601, UTC
  std::int64_t ranks = 0;
  std::int64_t launches = 0;
  std::int64_t warmup_excluded = 0; // samples left out at the start of each launch
  bool operator==(const Provenance&) const = default;
};

struct Measurement {
  double value = 0.0; // the median
  std::string unit;   // such as "seconds" or "bytes_per_second"
  double interval_low = 0.0, interval_high = 0.0;
  double interval_coverage = 0.0; // below 0.95 with fewer than 6 samples
  std::int64_t samples = 0;
  double p10 = 0.0, p90 = 0.0, p99 = 0.0;
  double smallest = 0.0, largest = 0.0;
  std::int64_t outliers = 0; // counted, kept
  Provenance provenance;
  bool operator==(const Measurement&) const = default;
};

// At least one sample, all finite, warm-up already left out.
Measurement measurement_of(std::span<const double> samples, std::string unit, Provenance provenance);

// One JSON object; measurement_from_json(to_json(m)) is m.
nlohmann::json to_json(const Measurement& measurement);
Result<Measurement> measurement_from_json(const nlohmann::json& json);

} // namespace kumihimo::measure
