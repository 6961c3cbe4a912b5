// kumihimo._predict: how long a subject takes, in a model.
#include "border.hpp"
#include "measure/clock.hpp"
#include "models/model.hpp"
#include "models/rows/loggp.hpp"
#include "program/named_programs.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <utility>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo::models {
namespace {

using DeathRow = std::tuple<std::int32_t, std::optional<double>, double>;

Prediction answer(std::string_view model, Subject subject, const Place& place, const Disturbance& disturbance,
                  const Options& options) {
  const Model* const row = unwrap(find_model(model));
  const Question question{std::move(subject), place, disturbance, options};
  return unwrap(unlocked([&] { return predict(*row, question); }));
}

template <class Given>
Prediction answer_of(std::string_view model, const Given& subject, const Place& place, const Disturbance& disturbance,
                     const Options& options) {
  if constexpr (std::is_same_v<Given, CollectiveCase>)
    return answer(model, subject, place, disturbance, options);
  else if constexpr (std::is_same_v<Given, NamedPrograms>)
    return answer(model, &subject.set, place, disturbance, options);
  else
    return answer(model, &subject, place, disturbance, options);
}

template <class Given>
void bind_subject(nb::module_& m) {
  m.def("predict", &answer_of<Given>, "model"_a, "subject"_a, "place"_a, "disturbance"_a = Disturbance{},
        "options"_a = Options{});
}

void bind_question(nb::module_& m) {
  nb::class_<CollectiveCase>(m, "CollectiveCase", "A collective by an algorithm or a schedule; by neither: by any.")
      .def(
          "__init__",
          [](CollectiveCase* self, const Collective& collective, const Variant* variant, const Parameters& parameters,
             const Schedule* schedule) {
            new (self) CollectiveCase{collective, variant, parameters, {}};
            if (schedule) self->schedule = {schedule, [](const Schedule*) {}}; // which Python keeps
          },
          "collective"_a, "variant"_a.none() = nb::none(), "parameters"_a = Parameters{},
          "schedule"_a.none() = nb::none(), nb::keep_alive<1, 5>());
  nb::class_<Place>(m, "Place", "Where a subject runs: a job of a machine, or as many ranks on each node.")
      .def(
          "__init__",
          [](Place* self, const std::optional<Job>& job, const std::optional<Placement>& placement,
             const std::optional<RankSpace>& space, std::int32_t ranks_per_node, bool scalar_reduction) {
            new (self) Place{job, placement, space, ranks_per_node, scalar_reduction};
          },
          "job"_a.none() = nb::none(), "placement"_a.none() = nb::none(), "space"_a.none() = nb::none(),
          "ranks_per_node"_a = 1, "scalar_reduction"_a = false);
  nb::class_<Disturbance>(m, "Disturbance", "Noise, nodes that die, and other jobs.")
      .def(
          "__init__",
          [](Disturbance* self, const std::optional<goal::NoiseModel>& noise, const std::vector<DeathRow>& deaths,
             const packet::Background& background) {
            new (self) Disturbance{noise, {}, background};
            for (const auto& [node, seconds, share] : deaths) self->deaths.push_back({node, seconds, share});
          },
          "noise"_a.none() = nb::none(), "deaths"_a = std::vector<DeathRow>{}, "background"_a = packet::Background{},
          nb::keep_alive<1, 4>(), "`deaths`: node, seconds, or None and the share of the time without deaths.");
  nb::class_<Options>(m, "Options", "What a model is told beside, and what it is to tell.")
      .def(nb::init<>())
      .def_rw("link_bytes", &Options::link_bytes)
      .def_prop_rw(
          "without", nullptr,
          [](Options& o, const std::vector<std::string>& stages) {
            for (const std::string& name : stages) o.without.add(unwrap(parse_stage(name)));
          },
          "Stages of the model flow to switch off, by name.")
      .def_prop_rw(
          "explain", nullptr,
          [](Options& o, bool explain) {
            o.clock = explain ? +[] { return static_cast<double>(measure::now_ns()) * 1e-9; } : nullptr;
          },
          "Whether the model flow tells what each stage did.")
      .def_rw("by_rank", &Options::by_rank)
      .def_rw("noise_alone", &Options::noise_alone)
      .def_rw("timeline", &Options::timeline)
      .def_rw("over_time", &Options::over_time)
      .def_rw("map_rows", &Options::map_rows)
      .def_rw("map_bins", &Options::map_bins)
      .def_rw("ideal_network", &Options::ideal_network)
      .def_rw("factors", &Options::factors)
      .def_prop_rw(
          "intervals", [](const Options& o) { return o.times.most_intervals; },
          [](Options& o, std::tuple<std::int64_t, std::int32_t, double> most_every_least) {
            const auto& [most, every, least] = most_every_least;
            o.times.most_intervals = most;
            o.times.every = std::max(1, every);
            o.times.least_interval = static_cast<goal::Time>(least * 1e12);
          },
          "Of a recording: most intervals, every so many ranks, the least one in seconds.")
      .def_rw("packets", &Options::packets)
      .def_rw("loggops", &Options::loggops, nb::for_setter(nb::arg("text").none()))
      .def_rw("cpus", &Options::cpus, nb::for_setter(nb::arg("number").none()))
      .def_rw("nics", &Options::nics, nb::for_setter(nb::arg("number").none()));
}

void bind_numbers(nb::module_& m) {
  nb::class_<LogGopsModel>(m, "LogGopsModel", "Parameters of LogGOPS, and what a rank's own work takes.")
      .def_ro("parameters", &LogGopsModel::parameters)
      .def_ro("rates", &LogGopsModel::rates);
  m.def(
      "loggops",
      [](const Place& place, const Options& options) {
        return unwrap(loggops_of({{}, place, {}, options}));
      },
      "place"_a, "options"_a = Options{}, "Of a place's machine, but for what the options give.");
  m.def(
      "rates",
      [](std::string_view model, const Place& place, const Options& options) {
        return unwrap(unwrap(find_model(model))->rates({{}, place, {}, options}));
      },
      "model"_a, "place"_a, "options"_a = Options{}, "What a rank's own work takes in the model.");
}

void bind_models(nb::module_& m) {
  nb::class_<Accepted>(m, "Accepted").def_ro("subject", &Accepted::subject).def_ro("options", &Accepted::options);
  nb::class_<Model>(m, "Model", "A row of models.def.")
      .def_ro("name", &Model::name)
      .def_ro("summary", &Model::summary)
      .def_ro("fidelity", &Model::fidelity)
      .def_ro("needs_machine", &Model::needs_machine)
      .def_ro("accepts", &Model::accepts);
  m.def(
      "models",
      [] {
        std::vector<const Model*> rows;
        for (const Model& model : all_models()) rows.push_back(&model);
        return rows;
      },
      nb::rv_policy::reference);
  m.def(
      "stages",
      [] {
        std::vector<std::tuple<std::string_view, std::string_view, std::string_view>> rows;
        for (const FlowStageRow& row : flow_stages) rows.emplace_back(row.name, row.does, row.without);
        return rows;
      },
      "Of the model flow: name, what it does, and what is done without it; empty: it is not switched off.");
}

nb::object rows_of_links(const Prediction& p) {
  nb::list rows;
  if (!p.packets) return std::move(rows);
  const packet::DeliveredTraffic& traffic = p.packets->traffic;
  const std::size_t links = traffic.link_bytes.size(), bins = links == 0 ? 0 : traffic.link_utilisation.size() / links;
  for (std::size_t link = 0; link < links && bins > 0; ++link) {
    const auto first = traffic.link_utilisation.begin() + static_cast<std::ptrdiff_t>(link * bins);
    rows.append(std::vector<float>(first, first + static_cast<std::ptrdiff_t>(bins)));
  }
  return std::move(rows);
}

void bind_prediction(nb::module_& m) {
  nb::class_<Prediction>(m, "Prediction", "What a model says of a subject.")
      .def_ro("model", &Prediction::model)
      .def_ro("seconds", &Prediction::seconds)
      .def_prop_ro("bound_seconds", &Prediction::bound_seconds)
      .def_ro("limiting", &Prediction::limiting)
      .def_ro("accuracy", &Prediction::accuracy)
      .def_ro("algorithm", &Prediction::algorithm)
      .def_ro("parameters", &Prediction::parameters)
      .def_ro("segments", &Prediction::segments)
      .def_ro("link_bytes", &Prediction::link_bytes)
      .def_ro("times", &Prediction::times)
      .def_ro("timeline", &Prediction::timeline)
      .def_ro("timeline_left_out", &Prediction::timeline_left_out)
      .def_ro("delays", &Prediction::delays)
      .def_prop_ro("too_long", [](const Prediction& p) { return p.schedule ? p.schedule->too_long : 0; })
      .def_prop_ro("too_short", [](const Prediction& p) { return p.schedule ? p.schedule->too_short : 0; })
      .def_prop_ro("link_utilisation", &rows_of_links, "By link, by bin of time: share that is busy.")
      .def_prop_ro(
          "bin_seconds",
          [](const Prediction& p) { return p.packets ? static_cast<double>(p.packets->traffic.bin) * 1e-12 : 0; })
      .def_prop_ro("start_seconds", [](const Prediction& p) { return p.packets ? p.packets->start_seconds : 0; })
      .def_prop_ro(
          "background",
          [](const Prediction& p) { return p.packets ? p.packets->background : std::vector<packet::BackgroundUse>{}; })
      .def("to_json", [](const Prediction& p) { return to_json(p); });
}

} // namespace
} // namespace kumihimo::models

NB_MODULE(_predict, m) {
  using namespace kumihimo;
  using namespace kumihimo::models;
  m.doc() = "How long a subject takes, in a model.";
  for (const char* const module : {"kumihimo._collectives", "kumihimo._machine", "kumihimo._programs", "kumihimo._goal",
                                   "kumihimo._loggp", "kumihimo._packet", "kumihimo._replay"})
    nb::module_::import_(module);
  bind_models(m);
  bind_question(m);
  bind_numbers(m);
  bind_prediction(m);
  bind_subject<CollectiveCase>(m);
  bind_subject<NamedPrograms>(m);
  bind_subject<goal::Graphs>(m);
  bind_subject<replay::ReplayProgram>(m);
  m.def("prediction_schema", &prediction_schema, "The JSON Schema of Prediction.to_json().");
}
