// How far predictions of models that are no fluids may be off: what they leave out, judged by the model flow.
#pragma once

#include "models/model.hpp"

namespace kumihimo::models {

// flow says the exact time of small programs, and a range round it of larger ones (ADR 30). A time without noise that
// is more than 20 % away from that time or range has a sentence in `accuracy`, in the form of flow's. A time of
// LogGOPS below the bound has one, too. Programs that flow refuses, and parameters that are not the machine's, are not
// judged.
void add_doubts(const Model& model, const Question& question, Prediction& prediction);

} // namespace kumihimo::models
