// The models of predictions. A row is all that the command, its errors, the documentation and the tests need to pick a
// model up; none of them knows a name. A new model is one file of rows/ and one line of models.def.
#pragma once

#include "models/prediction.hpp"
#include "models/question.hpp"

#include <initializer_list>
#include <span>
#include <string_view>

namespace kumihimo::models {

// One run of a question's subject: with this noise, and deaths at these times.
struct Run {
  const std::optional<goal::NoiseModel>& noise;
  std::vector<hosts::NodeDeath> deaths = {};
  bool timeline = false;
};

struct Ran {
  Prediction prediction;
  std::optional<goal::Aftermath> aftermath = {}; // where nodes die
};

// A kind of subject that a model accepts, and the options that it heeds then: names of options.def.
struct Accepted {
  std::string_view subject;
  std::vector<std::string_view> options = {};
};

Result<goal::WorkRates> rates_of_machine(const Question& question);

struct Model {
  std::string_view name;
  std::string_view summary;  // a few words
  std::string_view fidelity; // one sentence: what it knows, and what it leaves out
  std::vector<Accepted> accepts;
  bool needs_machine = true;
  // What to say where flow tells another time of the same programs: of a time that is too short, of one too long.
  // Empty: it is not compared.
  std::string_view too_short = {}, too_long = {};
  std::string_view below_bound = {}; // of a time that no schedule can have
  Result<Ran> (*run)(const Question&, const Run&) = nullptr;
  // What a rank's own work takes, of recordings, whose programs are made before.
  Result<goal::WorkRates> (*rates)(const Question&) = rates_of_machine;
};

// Each in rows/<name>.cpp.
#define MODEL(name) Model name##_model();
#include "models/models.def"
#undef MODEL

std::span<const Model> all_models();
Result<const Model*> find_model(std::string_view name); // the error names all

// The subject in the model: undisturbed where deaths are asked for, then with them; beside noise also without it. A
// collective has its bounds, and `accuracy` says where the model flow tells another time. Errors: those of the model;
// a death of a node without ranks.
Result<Prediction> predict(const Model& model, const Question& question);

} // namespace kumihimo::models
