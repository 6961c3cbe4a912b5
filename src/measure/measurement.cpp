#include "measure/measurement.hpp"

#include "measure/summary.hpp"

#include <nlohmann/json.hpp>

#include <type_traits>
#include <utility>

namespace kumihimo::measure {
namespace {

// The one list of keys, for writing and reading.
template <class Record, class Visit>
void visit_provenance(Record& p, Visit visit) {
  visit("machine", p.machine);
  visit("software", p.software);
  visit("command", p.command);
  visit("clock", p.clock);
  visit("pinning", p.pinning);
  visit("over", p.over);
  visit("when", p.when);
  visit("ranks", p.ranks);
  visit("launches", p.launches);
  visit("warmup_excluded", p.warmup_excluded);
}

template <class Record, class Visit>
void visit_numbers(Record& m, Visit visit) {
  visit("value", m.value);
  visit("unit", m.unit);
  visit("interval_low", m.interval_low);
  visit("interval_high", m.interval_high);
  visit("interval_coverage", m.interval_coverage);
  visit("samples", m.samples);
  visit("p10", m.p10);
  visit("p90", m.p90);
  visit("p99", m.p99);
  visit("smallest", m.smallest);
  visit("largest", m.largest);
  visit("outliers", m.outliers);
}

template <class T>
bool holds(const nlohmann::json& value) {
  if constexpr (std::is_same_v<T, std::string>)
    return value.is_string();
  else if constexpr (std::is_integral_v<T>)
    return value.is_number_integer();
  else
    return value.is_number();
}

// Fills the members that `visit` names from `json`; `problem` is the first key that is absent or of the wrong kind.
struct Reader {
  const nlohmann::json& json;
  std::string& problem;

  template <class T>
  void operator()(const char* key, T& member) const {
    if (!problem.empty()) return;
    const auto at = json.find(key);
    if (at == json.end())
      problem = std::string("no '") + key + "'";
    else if (!holds<T>(*at))
      problem = std::string("'") + key + "' is " + at->dump();
    else
      member = at->template get<T>();
  }
};

} // namespace

Measurement measurement_of(std::span<const double> samples, std::string unit, Provenance provenance) {
  const Summary s = summarise(samples);
  return {.value = s.median,
          .unit = std::move(unit),
          .interval_low = s.median_interval.low,
          .interval_high = s.median_interval.high,
          .interval_coverage = s.coverage,
          .samples = s.samples,
          .p10 = s.p10,
          .p90 = s.p90,
          .p99 = s.p99,
          .smallest = s.smallest,
          .largest = s.largest,
          .outliers = s.outliers,
          .provenance = std::move(provenance)};
}

nlohmann::json to_json(const Measurement& measurement) {
  nlohmann::json json, provenance;
  visit_numbers(measurement, [&](const char* key, const auto& member) { json[key] = member; });
  visit_provenance(measurement.provenance, [&](const char* key, const auto& member) { provenance[key] = member; });
  json["provenance"] = std::move(provenance);
  return json;
}

Result<Measurement> measurement_from_json(const nlohmann::json& json) {
  const std::string expected = "expected a measurement: a JSON object with value, unit, interval and provenance";
  if (!json.is_object()) return bad_input(expected, json.type_name());
  const auto provenance = json.find("provenance");
  if (provenance == json.end() || !provenance->is_object()) return bad_input(expected, "no object 'provenance'");
  Measurement m;
  std::string problem;
  visit_numbers(m, Reader{json, problem});
  visit_provenance(m.provenance, Reader{*provenance, problem});
  if (!problem.empty()) return bad_input(expected, problem);
  return m;
}

} // namespace kumihimo::measure
