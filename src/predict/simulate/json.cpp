#include "simulate/prediction.hpp"

#include <nlohmann/json.hpp>

namespace kumihimo {

std::string to_json(const SchedulePrediction& p) {
  using nlohmann::ordered_json;
  ordered_json phases = ordered_json::array(), bounds = ordered_json::array();
  for (const Phase& phase : p.phases)
    phases.push_back({{"name", phase.name},
                      {"seconds", phase.seconds.value},
                      {"compute_seconds", phase.compute.value},
                      {"compute_share", phase.compute_share()},
                      {"communication_seconds", phase.communication().value},
                      {"period_seconds", phase.period.value},
                      {"limiting", phase.limiting}});
  for (const LowerBound& b : p.bounds) bounds.push_back({{"name", b.name}, {"seconds", b.seconds.value}});
  ordered_json j{{"model", name_of(p.model)},
                 {"seconds", p.seconds.value},
                 {"compute_seconds", p.compute.value},
                 {"compute_share", p.compute_share()},
                 {"communication_seconds", p.communication().value},
                 {"latency_seconds", p.latency.value},
                 {"transfer_seconds", p.transfer.value},
                 {"reduction_seconds", p.reduction.value},
                 {"steady_seconds", p.steady.value},
                 {"phases", phases},
                 {"links", p.links},
                 {"link_bytes_sum", p.link_bytes_sum},
                 {"link_bytes_max", p.link_bytes_max},
                 {"links_waiting_share", p.links_waiting_share},
                 {"bound_seconds", p.bound().value},
                 {"bounds", bounds},
                 {"limiting", p.limiting},
                 {"accuracy", p.accuracy},
                 {"doubtful_sharing", p.doubtful_sharing}};
  j["ranks_alike"] = p.ranks_alike;
  if (p.sampled) j["links_waiting_share"] = nullptr;
  j["sampled"] = nullptr;
  if (p.sampled)
    j["sampled"] = {{"samples", p.sampled->samples},
                    {"rounds", p.sampled->rounds},
                    {"of", p.sampled->of},
                    {"seed", p.sampled->seed},
                    {"seconds_low", p.sampled->low.value},
                    {"seconds_high", p.sampled->high.value},
                    {"leaves_out", p.sampled->leaves_out}};
  if (!p.link_bytes.empty()) j["link_bytes"] = p.link_bytes;
  return j.dump();
}

} // namespace kumihimo
