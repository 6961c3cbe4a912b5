// Each model with each kind of subject: an answer, or the right refusal; the answers are those of the models
// themselves.
#include "fluid/graphs.hpp"
#include "halo/halo.hpp"
#include "loggp/of_machine.hpp"
#include "machine/load.hpp"
#include "models/model.hpp"
#include "packet/programs.hpp"
#include "simulate/simulate.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

namespace kumihimo::models {
namespace {

struct World {
  Job job = *Job::with_ranks_per_node(machine(), 1);
  NamedPrograms halo = programs_of(*on_ranks(*Halo::parse("8x8x8"), {2, 2, 2}, {true, true, true}));
  goal::Graphs graphs = *goal::graphs_of(halo.set);
  replay::ReplayProgram recorded = *replay::program_of(graphs);

  static Machine machine() {
    const std::filesystem::path folder = KUMIHIMO_MACHINES;
    return load_machine("fugaku", std::span(&folder, 1))->with_shape(*Shape::parse("2x2x2")).value();
  }
  static const World& get() {
    static const World world;
    return world;
  }
  CollectiveCase ring(std::int64_t bytes = 65536) const {
    CollectiveCase subject;
    subject.collective = make_collective(CollectiveKind::allreduce, 8, bytes / 8);
    subject.variant = *Registry::standard().find(CollectiveKind::allreduce, "ring");
    return subject;
  }
  std::vector<std::pair<std::string_view, Subject>> subjects() const {
    return {{"collective", ring()}, {"programs", &halo.set}, {"goal", &graphs}, {"recording", &recorded}};
  }
  Question question(Subject subject) const {
    Question asked{std::move(subject)};
    asked.place.job = job;
    return asked;
  }
  Prediction predicted(std::string_view model, Subject subject) const {
    return predict(**find_model(model), question(std::move(subject))).value();
  }
};

TEST(Models, EachAnswersForASubjectOrRefusesIt) {
  const World& world = World::get();
  int answered = 0, refused = 0;
  for (const Model& model : all_models())
    for (const auto& [name, subject] : world.subjects()) {
      const bool accepted =
          std::ranges::any_of(model.accepts, [&](const Accepted& each) { return each.subject == name; });
      const auto found = predict(model, world.question(subject));
      ASSERT_EQ(found.ok(), accepted) << model.name << " " << name << (found.ok() ? "" : found.error().problem);
      if (!accepted) {
        EXPECT_EQ(found.error().problem,
                  fmt::format("the model {} does not accept the subject (got {})", model.name, name));
        ++refused;
        continue;
      }
      EXPECT_EQ(found->model, model.name);
      EXPECT_TRUE(found->seconds > 0 && std::isfinite(found->seconds)) << model.name << " " << name;
      ++answered;
    }
  EXPECT_GE(answered, 16);
  EXPECT_GE(refused, 6);
}

TEST(Models, TheSecondsAreThoseOfTheModelItself) {
  const World& world = World::get();
  const CollectiveCase ring = world.ring();
  const Schedule schedule = *ring.variant->build(ring.collective, world.job.rank_space());
  for (const auto model : {kumihimo::ScheduleModel::flow, kumihimo::ScheduleModel::exact}) {
    SimulateOptions options;
    options.model = model;
    EXPECT_EQ(world.predicted(name_of(model), ring).seconds, simulate(schedule, world.job, {}, options)->seconds.value);
    EXPECT_EQ(world.predicted(name_of(model), &world.halo.set).seconds,
              simulate(world.halo.set, world.job, {}, options)->seconds.value);
  }
  const auto seconds = [](goal::Time time) { return static_cast<double>(time) * 1e-12; };
  EXPECT_EQ(world.predicted("packet", ring).seconds, seconds(packet::run(world.job, schedule, {})->last));
  EXPECT_EQ(world.predicted("packet", &world.graphs).seconds, seconds(packet::run(world.job, world.graphs, {})->last));
  EXPECT_EQ(world.predicted("flow", &world.graphs).seconds, seconds(fluid::run(world.job, world.graphs, {})->last));
  const auto of_machine = loggp::parameters_of(world.job);
  const auto ran = loggp::run(*goal::graphs_of(schedule, of_machine.rates), of_machine.parameters);
  EXPECT_EQ(world.predicted("loggp", ring).seconds, seconds(ran->last));
}

TEST(Models, AScheduleIsTakenAsItIs) {
  const World& world = World::get();
  CollectiveCase ring = world.ring();
  const double built_there = world.predicted("flow", ring).seconds;
  ring.schedule = std::make_shared<const Schedule>(*ring.variant->build(ring.collective, world.job.rank_space()));
  ring.variant = nullptr;
  EXPECT_EQ(world.predicted("flow", ring).seconds, built_there);
}

TEST(Models, AllWithoutAMachineThatNeedOneSaySo) {
  const World& world = World::get();
  for (const Model& model : all_models()) {
    const auto found = predict(model, Question{world.ring()});
    ASSERT_FALSE(found.ok()) << model.name;
    EXPECT_EQ(found.error().problem, "the machine is missing") << model.name;
  }
}

TEST(Models, NoiseIsComparedWithNone) {
  const World& world = World::get();
  goal::NoiseModel noise;
  noise.interval = 1'000'000;
  noise.length = 500'000;
  int tried = 0;
  for (const Model& model : all_models())
    for (const Accepted& accepted : model.accepts) {
      if (accepted.subject != "collective" || std::ranges::count(accepted.options, "noise") == 0) continue;
      Question question = world.question(world.ring());
      question.disturbance.noise = noise;
      const Prediction found = predict(model, question).value();
      ASSERT_TRUE(found.noise) << model.name;
      EXPECT_EQ(found.noise->seconds, world.predicted(model.name, world.ring()).seconds) << model.name;
      EXPECT_GT(found.noise->slowdown, 1.0) << model.name;
      ++tried;
    }
  EXPECT_GE(tried, 3);
}

TEST(Models, ADeathAtAShareIsOneAtThatTime) {
  const World& world = World::get();
  int tried = 0;
  for (const Model& model : all_models())
    for (const Accepted& accepted : model.accepts) {
      if (accepted.subject != "collective" || std::ranges::count(accepted.options, "dies") == 0) continue;
      Question question = world.question(world.ring());
      const double seconds = predict(model, question)->seconds;
      question.disturbance.deaths = {{.node = 3, .share = 0.5}};
      const Prediction by_share = predict(model, question).value();
      question.disturbance.deaths = {{.node = 3, .seconds = 0.5 * seconds}};
      const Prediction by_time = predict(model, question).value();
      ASSERT_TRUE(by_share.faults && by_time.faults) << model.name;
      EXPECT_EQ(by_share.seconds, seconds) << model.name; // of the run without them
      EXPECT_EQ(by_share.faults->aftermath.operations_done, by_time.faults->aftermath.operations_done) << model.name;
      EXPECT_LT(by_share.faults->aftermath.complete, 8) << model.name;
      ++tried;
    }
  EXPECT_GE(tried, 2);
}

TEST(Models, ANodeWithoutRanksCannotDie) {
  Question question = World::get().question(World::get().ring());
  question.disturbance.deaths = {{.node = 8, .seconds = 0.0}};
  const auto found = predict(**find_model("loggp"), question);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().problem, "--dies must name a node that has ranks, one of 0 to 7 (got 8)");
}

TEST(Models, AnUnknownNameIsToldAllNames) {
  const auto found = find_model("flwo");
  ASSERT_FALSE(found.ok());
  for (const Model& model : all_models()) EXPECT_NE(found.error().problem.find(model.name), std::string::npos);
}

TEST(Models, NamesAndSentencesAreThere) {
  std::set<std::string_view> names;
  for (const Model& model : all_models()) {
    EXPECT_TRUE(names.insert(model.name).second) << model.name;
    EXPECT_FALSE(model.summary.empty() || model.fidelity.empty() || model.accepts.empty()) << model.name;
    EXPECT_EQ(model.too_short.empty(), model.too_long.empty()) << model.name;
  }
}

TEST(Prediction, EachMemberIsInTheSchema) {
  const auto schema = nlohmann::json::parse(prediction_schema());
  const auto& properties = schema.at("properties");
  const World& world = World::get();
  std::set<std::string> seen;
  for (const Model& model : all_models())
    for (const auto& [name, subject] : world.subjects()) {
      Question question = world.question(subject);
      question.options.link_bytes = question.options.by_rank = true;
      const auto found = predict(model, question);
      if (!found.ok()) continue;
      const auto object = nlohmann::json::parse(to_json(*found));
      for (const auto& [key, value] : object.items()) {
        EXPECT_TRUE(properties.contains(key)) << key;
        seen.insert(key);
      }
      for (const auto& required : schema.at("required")) EXPECT_TRUE(object.contains(required)) << required;
    }
  EXPECT_GE(seen.size(), 30u);
}

} // namespace
} // namespace kumihimo::models
