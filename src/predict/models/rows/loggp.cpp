// LogGOPS (loggp/): processors and interfaces of ranks, and a network without links.
#include "models/rows/loggp.hpp"

#include "loggp/of_machine.hpp"
#include "models/rows/on_graphs.hpp"

#include <fmt/format.h>

namespace kumihimo::models {

namespace {

constexpr std::string_view all_letters = "LogGOS";
constexpr std::int32_t most_shared = 256; // processors or interfaces of a rank
constexpr double incast = 0.75;           // of the time, which remains without g where a receiver waits for it

Status set_shared(std::int32_t& number, std::optional<std::int32_t> asked, std::string_view name) {
  if (!asked) return Nothing{};
  if (*asked < 1 || *asked > most_shared)
    return wrong_value(fmt::format("--{} must be from 1 to {}", name, most_shared), *asked);
  number = *asked;
  return Nothing{};
}

goal::Deaths deaths_of(const std::vector<std::int32_t>& node_of_rank, const std::vector<hosts::NodeDeath>& deaths) {
  if (deaths.empty()) return {};
  goal::Deaths times(node_of_rank.size(), goal::never);
  for (std::size_t rank = 0; rank < times.size(); ++rank)
    for (const hosts::NodeDeath& death : deaths)
      if (death.node == node_of_rank[rank]) times[rank] = std::min(times[rank], death.time);
  return times;
}

// Where one rank receives so many messages that the time is the sum of their gaps.
Result<std::string> doubt_of_incast(const goal::Graphs& graphs, const loggp::LogGopsParameters& parameters,
                                    const loggp::ObservedRun& ran, const std::optional<goal::NoiseModel>& noise) {
  const auto [rank, more] = ran.busiest_receiver();
  if (more * parameters.g <= ran.outcome.last / 2) return std::string();
  loggp::LogGopsParameters without = parameters;
  without.g = 0;
  loggp::EngineOptions options;
  options.noise = noise;
  const auto found = TRY(loggp::run(graphs, without, options));
  if (static_cast<double>(found.last) > incast * static_cast<double>(ran.outcome.last)) return std::string();
  return fmt::format("a receiver takes one message each g in LogGOPS, and several at once in flow and packet: rank {} "
                     "receives {} more than it sends",
                     rank, more);
}

RankTimes rank_times(const loggp::ObservedRun& ran, const goal::Graphs& graphs, bool by_rank) {
  RankTimes times;
  const double seconds = seconds_of(ran.outcome.last);
  times.message_bytes = ran.outcome.bytes;
  times.mean = ran.mean();
  times.compute_share = seconds > 0 ? times.mean.computing / seconds : 0;
  times.waiting_share = seconds > 0 ? times.mean.waiting / seconds : 0;
  times.cpus = graphs.cpus();
  times.nics = graphs.nics();
  for (std::int32_t rank = 0; by_rank && rank < graphs.ranks(); ++rank) times.by_rank.push_back(ran.of_rank(rank));
  return times;
}

Result<Ran> run_recording(std::string_view name, const replay::ReplayProgram& program, const Question& question,
                          const loggp::LogGopsParameters& parameters, const std::optional<goal::NoiseModel>& noise) {
  replay::TimesOptions options = question.options.times;
  options.engine.noise = noise;
  loggp::LogGopsParameters used = parameters;
  if (question.options.ideal_network) {
    used = replay::ideal_network();
    used.processors = parameters.processors; // which the ranks share there, too
    used.processor_switch = parameters.processor_switch;
  }
  Ran ran{of_times(name, TRY(replay::times_of(program, used, options)))};
  ran.prediction.loggops = parameters;
  return ran;
}

Result<Ran> run_loggp(const Question& question, const Run& run) {
  return run_with_loggops("loggp", TRY(loggops_of(question)), question, run);
}

Result<goal::WorkRates> rates_of_loggp(const Question& question) { return TRY(loggops_of(question)).rates; }

} // namespace

Result<Ran> run_with_loggops(std::string_view name, const LogGopsModel& model, const Question& question,
                             const Run& run) {
  const Place& place = question.place;
  const Options& options = question.options;
  const auto* recording = std::get_if<const replay::ReplayProgram*>(&question.subject);
  if (recording && run.deaths.empty()) return run_recording(name, **recording, question, model.parameters, run.noise);

  const SubjectPrograms programs =
      kind_of(question.subject) < SubjectKind::graphs ? TRY(programs_of(question)) : SubjectPrograms{};
  const SubjectGraphs made = TRY(graphs_of(question, programs, model.rates));
  const goal::Graphs& graphs = made.graphs();
  loggp::EngineOptions engine;
  engine.noise = run.noise;
  engine.loggopsim_order = kind_of(question.subject) == SubjectKind::graphs;
  if (!run.deaths.empty()) engine.deaths = deaths_of(TRY(place.node_of_rank(graphs.ranks())), run.deaths);
  auto ran = TRY(loggp::run_observed(graphs, model.parameters, engine, run.timeline));

  Prediction prediction = begin_prediction(name, programs);
  prediction.seconds = seconds_of(ran.outcome.last);
  prediction.run = {ran.outcome.last_rank, ran.mean().operations, ran.outcome.messages};
  prediction.ranks = rank_times(ran, graphs, options.by_rank);
  prediction.loggops = model.parameters;
  if (programs.schedule && place.job && run.deaths.empty())
    prediction.accuracy = TRY(doubt_of_incast(graphs, model.parameters, ran, run.noise));
  prediction.timeline = std::move(ran.timeline);
  prediction.timeline_left_out = ran.left_out;
  if (options.over_time && run.noise && run.deaths.empty())
    prediction.delays = TRY(loggp::delays(graphs, model.parameters, engine, static_cast<std::size_t>(options.map_rows),
                                          static_cast<std::size_t>(options.map_bins)));
  return Ran{std::move(prediction), std::move(ran.aftermath)};
}

Result<LogGopsModel> loggops_of(const Question& question) {
  const Place& place = question.place;
  const Options& options = question.options;
  LogGopsModel model;
  if (place.job) {
    const loggp::MachineParameters of = loggp::parameters_of(*place.job, place.scalar_reduction);
    model.parameters = of.parameters;
    model.rates = of.rates;
  } else if (!options.loggops) {
    return missing("the machine", "add --machine, or the parameters: --loggops L=2500,o=1500,g=1000,G=6,O=0,S=65535");
  } else {
    std::string lacking;
    std::string text = *options.loggops;
    std::erase(text, ' ');
    for (const char letter : all_letters)
      if (text.find(fmt::format("{}=", letter)) == std::string::npos)
        lacking += fmt::format("{}{}", lacking.empty() ? "" : ", ", letter);
    if (!lacking.empty())
      return wrong_value("--loggops without --machine must give L, o, g, G, O and S",
                         fmt::format("'{}'", *options.loggops), fmt::format("add {}", lacking));
  }
  if (options.loggops) model.parameters = TRY(loggp::parse_parameters(*options.loggops, model.parameters));
  if (Status s = set_shared(model.rates.cpus, options.cpus, "cpus"); !s) return s.error();
  if (Status s = set_shared(model.rates.nics, options.nics, "nics"); !s) return s.error();
  return model;
}

Model loggp_model() {
  const std::vector<std::string_view> options{"given", "order", "placement", "loggops", "by_rank", "timeline",
                                              "cpus",  "nics",  "noise",     "dies",    "page"};
  std::vector<std::string_view> of_collectives = options;
  of_collectives.push_back("no_simd");
  return {
      .name = "loggp",
      .summary = "LogGOPS: no links, and no machine if all parameters are given",
      .fidelity = "overheads and gaps of each rank's processors and interfaces; messages share no link",
      .accepts = {{"collective", of_collectives},
                  {"programs", options},
                  {"goal", {"loggops", "by_rank", "timeline", "noise", "dies", "page"}},
                  {"recording",
                   {"given", "order", "placement", "noise", "dies", "page", "by_rank", "timeline", "loggops"}},
                  {"hartree_fock"},
                  {"lu"}},
      .needs_machine = false,
      .too_short = "LogGOPS knows no links, engines or memories that messages share",
      .too_long = "LogGOPS sends and takes the messages of a rank one after another, which share its engines",
      .below_bound = "LogGOPS knows no links, which limit this case",
      .run = run_loggp,
      .rates = rates_of_loggp,
  };
}

} // namespace kumihimo::models
