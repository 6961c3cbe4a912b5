#include "base/json_text.hpp"
#include "machine/numbers.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kumihimo {
namespace {

using Json = nlohmann::ordered_json;

std::string with_unit(std::string_view key, Bytes) {
  return key.ends_with("_bytes") ? std::string(key) : fmt::format("{}_bytes", key);
}
std::string with_unit(std::string_view key, Seconds) { return fmt::format("{}_seconds", key); }
std::string with_unit(std::string_view key, FlopsPerSecond) { return fmt::format("{}_flops_per_second", key); }
std::string with_unit(std::string_view key, BytesPerSecond) { return fmt::format("{}_bytes_per_second", key); }
std::string with_unit(std::string_view key, std::int64_t) { return std::string(key); }
std::string with_unit(std::string_view key, OperationSet) { return std::string(key); }

template <class T>
Json bare(T number) {
  if constexpr (std::is_integral_v<T>)
    return number;
  else if constexpr (std::is_same_v<T, OperationSet>)
    return text_of(number);
  else
    return number.value;
}

struct JsonWriter {
  Json& json;
  template <class T>
  void operator()(std::string_view section, std::string_view key, const Quantity<T>& number) {
    json[section][with_unit(key, number.value)] = {
        {"value", bare(number.value)}, {"provenance", name_of(number.provenance)}, {"source", number.source}};
  }
  template <class T>
  void operator()(std::string_view section, std::string_view key, const std::optional<Quantity<T>>& number) {
    if (number) (*this)(section, key, *number);
  }
};

// How nodes hang on switches.
void add_switches(const Switched& network, Json& json) {
  json["name"] = network.name();
  json["switches"] = network.switches();
  json["routing"] = network.routing();
  json["levels"] = Json::array();
  for (const Level& level : network.levels()) json["levels"].push_back({{"name", level.name}, {"nodes", level.size}});
}

// The physical machine, the job's box in it, and what is lost.
void add_tofu(const Machine& machine, Json& json) {
  const auto& torus = static_cast<const VirtualTorus&>(*machine.topology);
  const TofuMachine& tofu = *machine.tofu;
  json["axes"] = text_of(tofu.job_lengths(), "x");
  json["relays"] = tofu.relays ? "z=0" : "";
  TofuPlace lengths;
  for (std::int32_t axis = 0; axis < Tofu::axes; ++axis) lengths[axis] = torus.tofu().shape().length(axis);
  json["box"] = text_of(lengths, "x");
  json["box_first"] = torus.tofu().place_in_machine({});
  const auto far = torus.tofu().whole() ? VirtualTorus::DistantNeighbours{} : torus.far_neighbours();
  json["far_neighbours"] = {{"pairs", far.pairs / 2}, {"fewest_hops", far.fewest_hops}, {"most_hops", far.most_hops}};
  json["losses"] = machine.losses();
}

Json collectives_of(const LibraryCollectives& collectives) {
  Json json = {{"source", collectives.source}, {"rows", Json::array()}};
  for (const LibraryCollectives::Row& row : collectives.rows)
    json["rows"].push_back({{"collective", row.collective},
                            {"ranks", row.ranks},
                            {"nodes", row.nodes},
                            {"bytes", row.bytes},
                            {"seconds", row.time.value}});
  return json;
}

Json errors_of(const PredictionErrors& errors) {
  Json json = {{"source", errors.source},
               {"fewest_nodes", errors.fewest_nodes},
               {"most_nodes", errors.most_nodes},
               {"rows", Json::array()}};
  if (errors.day_to_day) json["day_to_day"] = *errors.day_to_day;
  json["correlation"] = errors.correlation, json["correlation_in_class"] = errors.correlation_in_class;
  for (const PredictionErrors::Row& row : errors.rows)
    json["rows"].push_back({{"algorithms", row.algorithms},
                            {"lengths", row.lengths},
                            {"times", row.times},
                            {"low", row.low},
                            {"median", row.median},
                            {"high", row.high}});
  return json;
}

} // namespace

std::string to_json(const Machine& machine) {
  Json json = {{"name", machine.name},
               {"summary", machine.summary},
               {"topology",
                {{"family", name_of(machine.family)},
                 {"shape", machine.shape.text()},
                 {"nodes", machine.topology->nodes()},
                 {"links", machine.topology->links()},
                 {"diameter_hops", machine.topology->diameter()},
                 {"bisection_links", machine.topology->bisection_links()}}}};
  for (const Level& level : machine.levels)
    json["topology"]["levels"].push_back({{"name", level.name}, {"cores", level.size}});
  if (machine.tofu) add_tofu(machine, json["topology"]);
  if (const Switched* network = machine.switched()) add_switches(*network, json["topology"]);
  visit_numbers(machine, JsonWriter{json});
  if (!machine.software_states.empty()) json["software_state"] = machine.software_state;
  for (const SoftwareState& state : machine.software_states)
    json["software_states"].push_back({{"name", state.name},
                                       {"library", state.library},
                                       {"version", state.version},
                                       {"transport", state.transport},
                                       {"rails", state.rails},
                                       {"settings", state.settings}});
  if (machine.prediction_errors) json["prediction_errors"] = errors_of(*machine.prediction_errors);
  if (machine.library_collectives) json["library_collectives"] = collectives_of(*machine.library_collectives);
  json["slow_nodes"] = json["slow_links"] = Json::array();
  for (const SlowNode& slow : machine.slow_nodes)
    json["slow_nodes"].push_back({{"node", slow.node.value}, {"factor", slow.factor}});
  for (const SlowLink& slow : machine.slow_links)
    json["slow_links"].push_back({{"from", slow.from.value}, {"to", slow.to.value}, {"factor", slow.factor}});
  return text_of_json(json, 2);
}

} // namespace kumihimo
