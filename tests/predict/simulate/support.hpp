// Machines and schedules for the simulator's tests.
#pragma once

#include "collectives/registry.hpp"
#include "machine/load.hpp"
#include "program/builder.hpp"
#include "simulate/simulate.hpp"

#include <gtest/gtest.h>

namespace kumihimo::simulate_test {

// A described machine as it is.
inline Machine shipped(std::string_view name) {
  const std::filesystem::path folder = KUMIHIMO_MACHINES;
  return *load_machine(std::string(name), std::span(&folder, 1));
}

// Its numbers on a torus of any shape, whose links are its own: what the models are tested on.
inline Machine described(std::string_view name, std::string_view shape) {
  return shipped(name).as_torus(*Shape::parse(shape));
}

// As a job of this shape sees the machine.
inline Machine job_on(std::string_view name, std::string_view shape) {
  return *shipped(name).with_shape(*Shape::parse(shape));
}

// One node slower by a whisker, so that no rank stands for another (simulate/flow/symmetry.hpp).
inline Machine lopsided(Machine m) {
  m.slow_nodes.push_back({NodeId{0}, 1 - 1e-12});
  return m;
}

// Round numbers, so that times are found by hand: links of 1 GB/s, two engines of 2 GB/s, reductions at 4 GB/s, 10 us a
// message, 1 us a hop, 3 us a relay.
inline Machine plain(std::string_view shape) {
  Machine m = described("k-computer", shape);
  m.network.link_bandwidth.value = {1e9};
  m.network.engines.value = 2;
  m.network.engine_bandwidth.value = {2e9};
  m.network.injection_bandwidth.value = {4e9};
  m.network.hop_latency.value = {1e-6};
  m.node.reduction_rate.value = {4e9};
  m.node.reduction_rate_scalar.value = {1e9};
  m.node.shared_memory_bandwidth.value = {8e9};
  m.software.message_cost.value = {10e-6};
  m.software.relay_latency.value = {3e-6};
  m.offload.reset();
  return m;
}

constexpr std::int64_t million = 125'000; // doubles in 1 MB, which take 1 ms on a link of the plain machine
constexpr double cost = 10e-6, hop = 1e-6, relay = 3e-6; // and its latencies

inline const Variant& algorithm(std::string_view name, CollectiveKind kind = CollectiveKind::allreduce) {
  return **Registry::standard().find(kind, name);
}

inline Schedule built(const Variant& variant, const Job& job, std::int64_t bytes, const Parameters& p = {},
                      Rank root = Rank{0}) {
  const RankSpace space = job.rank_space();
  auto s = variant.build(
      make_collective(variant.kind, space.ranks(), bytes / 8, DataType::float64, Operation::sum, root), space, p);
  EXPECT_TRUE(s.ok()) << (s ? "" : s.error().sentence());
  return *s;
}

// Small machines by levels too, as large ones are.
inline SimulateOptions without_exact_work(ScheduleModel model) {
  SimulateOptions options;
  options.model = model;
  options.most_exact_work = 0;
  return options;
}

inline SchedulePrediction predicted(const Schedule& schedule, const Job& job,
                                    ScheduleModel model = ScheduleModel::flow) {
  SimulateOptions options = without_exact_work(model);
  options.keep_link_bytes = true;
  const auto p = simulate(schedule, job, {}, options);
  EXPECT_TRUE(p.ok()) << (p ? "" : p.error().sentence());
  return p ? *p : SchedulePrediction{};
}

inline double seconds(std::string_view name, const Job& job, std::int64_t bytes,
                      ScheduleModel model = ScheduleModel::flow) {
  return predicted(built(algorithm(name), job, bytes), job, model).seconds.value;
}

// A schedule from a rank's lanes, over a vector of so many doubles.
inline Schedule by_hand(std::int32_t ranks, std::int64_t count, std::int64_t segments,
                        std::function<void(std::int32_t, ProgramBuilder&)> fill) {
  Schedule s(make_collective(CollectiveKind::bcast, ranks, count));
  s.algorithm = "by hand";
  s.segments = {segments};
  s.program = [=](Rank rank) {
    ProgramBuilder program(Segments{segments});
    fill(rank.value, program);
    return program.finish();
  };
  return s;
}

// 1 MB from one rank to another.
inline Schedule one_message(std::int32_t from, std::int32_t to, std::int32_t ranks) {
  return by_hand(ranks, million, 1, [=](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "one", 1);
    if (r == from) lane.step(send(to, out[whole()]));
    if (r == to) lane.step(receive(from, out[whole()]));
    p.add(std::move(lane));
  });
}

// What both models must agree on. KUMIHIMO_IN_BOTH_MODELS(a fixture derived from it) runs its tests for each.
class BothModels : public testing::TestWithParam<ScheduleModel> {
 protected:
  Result<SchedulePrediction> asked(const Schedule& s, const Job& m) {
    return simulate(s, m, {}, without_exact_work(GetParam()));
  }
  double time(const Schedule& s, const Job& m) { return predicted(s, m, GetParam()).seconds.value; }
};

#define KUMIHIMO_IN_BOTH_MODELS(Fixture)                                                                               \
  INSTANTIATE_TEST_SUITE_P(Models, Fixture, testing::Values(ScheduleModel::flow, ScheduleModel::exact),                \
                           [](const auto& named) { return std::string(name_of(named.param)); })

} // namespace kumihimo::simulate_test
