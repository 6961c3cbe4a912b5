// What rows share: the schedule of a collective, and its forms for models of graphs.
#pragma once

#include "models/model.hpp"

#include <optional>

namespace kumihimo::models {

// The programs of a collective, which has a schedule, or of a program set.
struct SubjectPrograms {
  std::shared_ptr<const Schedule> schedule = {};
  const ProgramSet* set = nullptr;
  const ProgramSet& programs() const { return schedule ? *schedule : *set; }
};
Result<SubjectPrograms> programs_of(const Question& question);

// The graphs of any subject but a recording; `rates`: of those made from programs.
struct SubjectGraphs {
  std::optional<goal::Graphs> made = {};
  const goal::Graphs* given = nullptr;
  const goal::Graphs& graphs() const { return made ? *made : *given; }
};
Result<SubjectGraphs> graphs_of(const Question& question, const SubjectPrograms& programs,
                                const goal::WorkRates& rates);

// With what the schedule tells of itself.
Prediction begin_prediction(std::string_view model, const SubjectPrograms& programs);

inline double seconds_of(goal::Time time) { return static_cast<double>(time) * 1e-12; }

} // namespace kumihimo::models
