#include "models/schedules.hpp"

#include "hosts/software.hpp"

#include <utility>

namespace kumihimo::models {

std::int32_t ranks_of(const Subject& subject) {
  struct {
    std::int32_t operator()(const CollectiveCase& of) const { return of.collective.ranks; }
    std::int32_t operator()(const ProgramSet* of) const { return of->ranks(); }
    std::int32_t operator()(const goal::Graphs* of) const { return of->ranks(); }
    std::int32_t operator()(const replay::ReplayProgram* of) const { return of->graphs.ranks(); }
  } ranks;
  return std::visit(ranks, subject);
}

RankSpace Place::rank_space(std::int32_t ranks) const {
  if (space) return *space;
  if (!job) return RankSpace::row(ranks);
  return placement ? job->rank_space(*placement) : job->rank_space();
}

Result<std::vector<std::int32_t>> Place::node_of_rank(std::int32_t ranks) const {
  if (job) return hosts::nodes_of(*job, ranks, placement);
  std::vector<std::int32_t> nodes(static_cast<std::size_t>(ranks));
  for (std::int32_t rank = 0; rank < ranks; ++rank) nodes[static_cast<std::size_t>(rank)] = rank / ranks_per_node;
  return nodes;
}

Result<goal::WorkRates> rates_of_machine(const Question& question) {
  if (!question.place.job) return missing("the machine", "name one");
  return hosts::rates_of(*question.place.job, question.place.scalar_reduction);
}

Result<SubjectPrograms> programs_of(const Question& question) {
  SubjectPrograms programs;
  if (const auto* set = std::get_if<const ProgramSet*>(&question.subject)) {
    programs.set = *set;
    return programs;
  }
  const auto& [collective, variant, parameters, schedule] = std::get<CollectiveCase>(question.subject);
  programs.schedule = schedule;
  if (schedule) return programs;
  if (!variant) return missing("the algorithm", "name one");
  const RankSpace space = question.place.rank_space(collective.ranks);
  programs.schedule = std::make_shared<const Schedule>(TRY(variant->build(collective, space, parameters)));
  return programs;
}

Result<SubjectGraphs> graphs_of(const Question& question, const SubjectPrograms& programs,
                                const goal::WorkRates& rates) {
  SubjectGraphs graphs;
  if (const auto* given = std::get_if<const goal::Graphs*>(&question.subject))
    graphs.given = *given;
  else if (const auto* recording = std::get_if<const replay::ReplayProgram*>(&question.subject))
    graphs.given = &(*recording)->graphs;
  else
    graphs.made = TRY(goal::graphs_of(programs.programs(), rates));
  return graphs;
}

Prediction begin_prediction(std::string_view model, const SubjectPrograms& programs) {
  Prediction prediction;
  prediction.model = model;
  if (!programs.schedule) return prediction;
  prediction.algorithm = programs.schedule->algorithm;
  prediction.parameters = programs.schedule->parameters;
  prediction.segments = programs.schedule->segments.count;
  return prediction;
}

} // namespace kumihimo::models
