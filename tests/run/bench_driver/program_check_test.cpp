// What a program set must leave on a rank, by its origins alone, and the task that names it.
#include "bench_driver/program_check.hpp"
#include "bench_driver/task.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace kumihimo::bench_driver {
namespace {

constexpr std::uint64_t seed = 3;

NamedPrograms halo(const char* text) {
  Halo h = *Halo::parse(text);
  h.ranks = {2, 2, 1};
  return programs_of(h);
}

std::vector<Vector> golden(const NamedPrograms& programs) {
  std::vector<Vector> inputs;
  for (std::int32_t r = 0; r < programs.set.ranks(); ++r) inputs.push_back(initial_memory(programs.set, Rank{r}, seed));
  return *golden_outputs(programs.set, inputs, {});
}

TEST(ProgramCheck, EveryGhostOfTheGoldenCopyHasItsOwnersValue) {
  for (const char* text : {"3x2x4", "2x2x2,points=27,fields=3", "3x3x3,mesh,points=27"}) {
    const NamedPrograms programs = halo(text);
    const std::vector<Vector> outputs = golden(programs);
    for (std::int32_t r = 0; r < 4; ++r)
      EXPECT_EQ(first_without_origin(programs, Rank{r}, seed, outputs[static_cast<std::size_t>(r)].data()), -1) << text;
  }
}

TEST(ProgramCheck, AnyWrongCellIsFound) {
  const NamedPrograms programs = halo("2x3x2,points=27");
  const Vector right = golden(programs)[1];
  for (const ElementOrigin& o : programs.origins(Rank{1}))
    for (std::int64_t i = o.first; i < o.first + o.count; ++i) {
      Vector wrong = right;
      wrong[static_cast<std::size_t>(8 * i + i % 8)] ^= std::byte{1};
      EXPECT_EQ(first_without_origin(programs, Rank{1}, seed, wrong.data()), i);
    }
}

TEST(ProgramCheck, RanksThatWaitForOneAnotherHaveNoGoldenCopy) {
  NamedPrograms programs = halo("2x2x2");
  programs.set.program = [right = programs.set.program](Rank rank) {
    Program program = right(rank);
    auto& steps = std::get<Round>(program.lanes[0].body[0]).steps;
    if (rank.value == 1) std::erase_if(steps, [](const Step& s) { return s.sends(); });
    return program;
  };
  std::vector<Vector> inputs(4, initial_memory(programs.set, Rank{0}, seed));
  EXPECT_FALSE(golden_outputs(programs.set, inputs, {}).ok());
}

TEST(ProgramCheck, ATaskNamesHalosAndFiles) {
  const auto task = [](const std::string& programs) {
    return parse_task(R"({"task": "measure", "programs": [)" + programs + "]}", 4);
  };
  const Result<BenchTask> good = task(R"({"programs": "halo:4x4x4,fields=2", "lengths": [2, 2], "wraps": [true, false],
                                     "ranks_per_node": 2, "parameters": {"single_copy": true}})");
  ASSERT_TRUE(good.ok()) << good.error().sentence();
  ASSERT_EQ(good->programs.size(), 1u);
  const ProgramTaskCase& c = good->programs[0];
  ASSERT_TRUE(c.halo.has_value());
  EXPECT_EQ(c.halo->ranks, (std::array<std::int32_t, 3>{2, 2, 1}));
  EXPECT_FALSE(c.halo->periodic[1]);
  EXPECT_TRUE(c.hints.single_copy);
  EXPECT_EQ(c.parameters_text, "single_copy");
  EXPECT_EQ(c.transport.node_of_rank, (std::vector<std::int32_t>{0, 0, 1, 1}));
  EXPECT_FALSE(task(R"({"programs": "halo:4x4x4", "lengths": [2], "wraps": [true]})").ok()) << "of 2 ranks";
  EXPECT_FALSE(task(R"({"programs": "halo:4x4", "lengths": [4], "wraps": [true]})").ok());
  EXPECT_FALSE(task(R"({"programs": "allreduce"})").ok());
  EXPECT_FALSE(task(R"({"programs": "file:/nowhere"})").ok());
  const std::string path = testing::TempDir() + "bench_programs";
  std::ofstream(path) << "ranks 4\nbuffer 2\nrank 0\nsend 1 0 1\nrank 1\nreceive 0 1 1\n";
  const Result<BenchTask> file = task(R"({"programs": "file:)" + path + R"("})");
  std::remove(path.c_str());
  ASSERT_TRUE(file.ok()) << file.error().sentence();
  EXPECT_FALSE(file->programs[0].halo.has_value());
}

} // namespace
} // namespace kumihimo::bench_driver
