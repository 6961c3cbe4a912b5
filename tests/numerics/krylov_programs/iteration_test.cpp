// Iterations as program sets: proved, run on threads, and predicted.
#include "krylov/method.hpp"
#include "krylov_programs/iteration.hpp"
#include "loopback/run_loopback.hpp"
#include "machine/job.hpp"
#include "machine/load.hpp"
#include "simulate/simulate.hpp"
#include "verify/verify.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

namespace kumihimo::krylov_programs {
namespace {

const Variant& allreduce(std::string_view name = "recursive_doubling") {
  return **Registry::standard().find(CollectiveKind::allreduce, name);
}

Iteration iteration(std::string_view method, std::array<std::int32_t, 3> ranks, std::int64_t n = 4) {
  Iteration made;
  made.application = "poisson3d";
  made.method = method;
  made.cells = {n, n, n};
  made.ranks = ranks;
  return made;
}

NamedPrograms made(const Iteration& it, std::string_view algorithm = "recursive_doubling") {
  auto programs = programs_of(it, allreduce(algorithm), RankSpace::row(it.ranks[0] * it.ranks[1] * it.ranks[2]));
  EXPECT_TRUE(programs.ok()) << programs.error().sentence();
  return *std::move(programs);
}

Job reedbush(std::int32_t nodes, std::int64_t ranks_per_node) {
  const std::filesystem::path folder = KUMIHIMO_MACHINES;
  const Machine machine = *load_machine("reedbush-u", std::span(&folder, 1));
  return *Job::with_ranks_per_node(*machine.with_shape(*Shape::parse(std::to_string(nodes))), ranks_per_node);
}

double seconds(const Iteration& it, const Job& job, const SimulateOptions& options = {}) {
  const auto found = simulate(made(it).set, job, {}, options);
  EXPECT_TRUE(found.ok()) << found.error().sentence();
  return found->seconds.value;
}

TEST(Iteration, HasTheMethodsAndBytesOfTheSolver) {
  ASSERT_EQ(methods().size(), krylov::methods().size());
  for (std::size_t i = 0; i < methods().size(); ++i) {
    const krylov::Method& method = krylov::methods()[i];
    EXPECT_EQ(methods()[i], method.name);
    for (const std::int64_t s : {2, 4, 8}) {
      Iteration it = iteration(method.name, {1, 1, 1});
      it.s = s;
      const bool takes_s = method.iterations_of_step() > 1;
      const ParameterValues values = takes_s ? ParameterValues{{"s", s}} : ParameterValues{};
      EXPECT_EQ(vector_bytes(it), method.bytes_per_row(values)) << method.name;
      EXPECT_EQ(iterations_of(it), method.iterations_of_step(values)) << method.name;
    }
  }
}

TEST(Iteration, IsProvedOnGridsOfAllKinds) {
  for (const std::string_view method : methods())
    for (const ModelledApplication& application : applications())
      for (const auto ranks : {std::array{1, 1, 1}, {2, 1, 3}, {3, 2, 2}})
        for (const char* const algorithm : {"recursive_doubling", "binomial"}) {
          Iteration it = iteration(method, {ranks[0], ranks[1], ranks[2]}, 3);
          it.application = application.name;
          const NamedPrograms programs = made(it, algorithm);
          const verify::Report report = verify::check(verify::Subject(programs), nullptr, {});
          EXPECT_TRUE(report.ok()) << programs.name << " " << algorithm << ": " << report.text();
        }
}

TEST(Iteration, SeveralStepsAreProvedAndTakeAsLongAsEachAlone) {
  const Job job = reedbush(12, 1);
  for (const std::string_view method : methods()) {
    Iteration once = iteration(method, {3, 2, 2}, 16), several = once;
    several.steps = 5;
    EXPECT_EQ(iterations_of(several), 5 * iterations_of(once));
    const NamedPrograms programs = made(several);
    const verify::Report report = verify::check(verify::Subject(programs), nullptr, {});
    EXPECT_TRUE(report.ok()) << programs.name << ": " << report.text();
    SimulateOptions exact;
    exact.model = ScheduleModel::exact;
    // Ranks at the surface of the box exchange less and run ahead, so later steps overlap a little.
    const double each = seconds(once, job, exact), all = seconds(several, job, exact);
    EXPECT_LE(all, 5 * each * 1.001) << method;
    EXPECT_GE(all, 5 * each * 0.9) << method;
  }
}

double seconds_per_step(Iteration it, const Job& job, const std::optional<goal::NoiseModel>& noise) {
  SimulateOptions exact;
  exact.model = ScheduleModel::exact;
  exact.noise = noise;
  return seconds(it, job, exact) / static_cast<double>(it.steps);
}

constexpr goal::Time microsecond = 1'000'000;

goal::NoiseModel periodic(goal::Time length, goal::Time interval, std::uint64_t seed) {
  goal::NoiseModel noise;
  noise.length = length, noise.interval = interval, noise.seed = seed;
  return noise;
}

TEST(IterationWithNoise, SameSeedSameTimeAndOtherSeedOtherTime) {
  const Job job = reedbush(8, 1);
  Iteration it = iteration("cg", {2, 2, 2}, 16);
  it.steps = 20;
  const auto noise = periodic(100 * microsecond, 1000 * microsecond, 1),
             other = periodic(100 * microsecond, 1000 * microsecond, 2);
  EXPECT_EQ(seconds_per_step(it, job, noise), seconds_per_step(it, job, noise));
  EXPECT_NE(seconds_per_step(it, job, noise), seconds_per_step(it, job, other));
}

// Every rank of `cg` waits for the noise of one in each iteration: all of it is lost. Noise on all ranks costs more, as
// iterations wait for whichever rank is late.
TEST(IterationWithNoise, SumsSpreadTheNoiseOfOneRankToAll) {
  const Job job = reedbush(16, 1);
  Iteration it = iteration("cg", {4, 2, 2}, 32);
  it.steps = 30;
  const double quiet = seconds_per_step(it, job, {});
  auto noise = periodic(50 * microsecond, 500 * microsecond, 3); // a tenth of the time
  noise.ranks = {{5, 5}};
  const double one = seconds_per_step(it, job, noise);
  EXPECT_GT(one, quiet * 1.05);
  EXPECT_LT(one, quiet / 0.9 * 1.02);
  noise.ranks.clear();
  EXPECT_GT(seconds_per_step(it, job, noise), one * 1.1);
}

// Without sums and halos no rank waits for another: the slowest rank's share is lost, and no more.
TEST(IterationWithNoise, RanksThatDoNotCommunicateLoseTheirOwnShareAlone) {
  const Job job = reedbush(16, 1);
  Iteration it = iteration("cg", {4, 2, 2}, 32);
  it.steps = 100;
  it.halos = it.reductions = false;
  const double quiet = seconds_per_step(it, job, {}),
               noisy = seconds_per_step(it, job, periodic(50 * microsecond, 500 * microsecond, 3));
  EXPECT_NEAR(noisy, quiet / 0.9, 51e-6 / 100);
}

// Ghosts get their owners' cells, and the values of each reduction the sum over ranks.
TEST(Iteration, ExchangesGhostsAndSums) {
  for (const std::string_view method : methods()) {
    Iteration it = iteration(method, {3, 1, 2}, 3);
    it.computing = false;
    const NamedPrograms programs = made(it);
    const auto ranks = static_cast<std::size_t>(programs.set.ranks());
    const auto n = static_cast<std::size_t>(programs.set.data->elements);
    Halo halo;
    halo.cells = it.cells, halo.ranks = it.ranks;
    halo.periodic.fill(false);
    const auto cells = static_cast<std::size_t>(halo.cells_with_ghosts());
    const auto value = [](std::size_t rank, std::size_t at) { return static_cast<double>(rank * 100000 + at); };
    std::vector<std::vector<double>> arrays(ranks, std::vector<double>(n));
    std::vector<execute::Buffers> buffers;
    for (std::size_t r = 0; r < ranks; ++r) {
      for (std::size_t i = 0; i < n; ++i) arrays[r][i] = value(r, i);
      buffers.push_back({arrays[r].data(), arrays[r].data()});
    }
    const auto ran = execute::run_loopback(programs.set, buffers, {}, {}, {});
    ASSERT_TRUE(ran.ok()) << ran.error().sentence();
    ASSERT_GT(n, cells);
    for (std::size_t r = 0; r < ranks; ++r) {
      for (std::size_t i = cells; i < n; ++i) {
        double sum = 0;
        for (std::size_t other = 0; other < ranks; ++other) sum += value(other, i);
        ASSERT_EQ(arrays[r][i], sum) << method << " rank " << r << " value " << i - cells;
      }
      for (const ElementOrigin& o : origins_of(halo, Rank{static_cast<std::int32_t>(r)}))
        for (std::int64_t i = 0; i < o.count; ++i)
          ASSERT_EQ(arrays[r][static_cast<std::size_t>(o.first + i)],
                    value(static_cast<std::size_t>(o.rank), static_cast<std::size_t>(o.position + i)));
    }
  }
}

// A node of 130.4 GB/s shared by two ranks; a rank has 104 + 128 + 104 bytes a cell.
TEST(Iteration, ComputingTakesTheBytesOfTheMethod) {
  Iteration it = iteration("cg", {2, 2, 1}, 64);
  it.halos = it.reductions = false;
  EXPECT_NEAR(seconds(it, reedbush(2, 2)), 64.0 * 64 * 64 * 336 / (130.4e9 / 2), 1e-9);
}

TEST(Iteration, OverlapHidesReductionsBehindComputing) {
  const Job job = reedbush(32, 1);
  for (const std::string_view method : methods()) {
    Iteration it = iteration(method, {4, 4, 2}, 32), computing = it, reductions = it;
    computing.halos = computing.reductions = false;
    reductions.halos = reductions.computing = false;
    const double total = seconds(it, job), work = seconds(computing, job), sums = seconds(reductions, job);
    EXPECT_GE(total, work * 0.999) << method;
    if (method == "gropp" || method == "pipelined")
      EXPECT_LT(total, work + sums / 2) << method;
    else
      EXPECT_GE(total, (work + sums) * 0.999) << method;
  }
}

// A compute step beside a reduction must not slow it down, nor be slowed down, by more than both take of the processor.
TEST(Iteration, FlowIsNearTheExactTimeWhereSumsShareTheProcessorWithComputeSteps) {
  const Job job = reedbush(16, 2);
  for (const std::string_view method : methods())
    for (const std::int64_t n : {4, 16, 64}) {
      const Iteration it = iteration(method, {4, 4, 2}, n);
      SimulateOptions flow, exact;
      flow.most_exact_work = 0;
      exact.model = ScheduleModel::exact;
      const double expected = seconds(it, job, exact), got = seconds(it, job, flow);
      EXPECT_GT(got, expected * 0.8) << method << " " << n;
      EXPECT_LT(got, expected * 1.25) << method << " " << n;
    }
}

TEST(Iteration, SaysWhatDoesNotFit) {
  const RankSpace four = RankSpace::row(4);
  const auto sentence = [&](const Iteration& it, std::string_view algorithm = "recursive_doubling") {
    const auto got = programs_of(it, allreduce(algorithm), four);
    return got ? std::string("none") : got.error().sentence();
  };
  const Iteration good = iteration("cg", {2, 2, 1});
  EXPECT_EQ(sentence(good), "none");
  const auto with = [&](auto&& change) {
    Iteration it = good;
    change(it);
    return sentence(it);
  };
  EXPECT_NE(with([](Iteration& it) { it.method = "gmres"; }).find("one of cg, "), std::string::npos);
  EXPECT_NE(with([](Iteration& it) { it.application = "himeno"; }).find("one of poisson3d"), std::string::npos);
  EXPECT_NE(with([](Iteration& it) { it.preconditioner = "amg"; }).find("one of ic0"), std::string::npos);
  EXPECT_NE(with([](Iteration& it) { it.ranks = {3, 1, 1}; }).find("must have 4 ranks"), std::string::npos);
  EXPECT_NE(with([](Iteration& it) { it.cells = {0, 4, 4}; }).find("cells"), std::string::npos);
  EXPECT_NE(with([](Iteration& it) { it.cells = {9999999, 9999999, 4}; }).find("at most"), std::string::npos);
  EXPECT_NE(with([](Iteration& it) { it.s = 0; }).find("s must be 1 to"), std::string::npos);
  EXPECT_NE(with([](Iteration& it) { it.steps = 1001; }).find("steps must be 1 to"), std::string::npos);
  EXPECT_NE(sentence(good, "ring").find("takes no allreduce"), std::string::npos);
}

} // namespace
} // namespace kumihimo::krylov_programs
