#include "collectives/registry.hpp"
#include "export/json.hpp"
#include "export/text.hpp"
#include "program/builder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <string_view>

namespace kumihimo {
namespace {

RankSpace torus(std::string_view shape) { return RankSpace::box(Shape::parse(shape).value()); }

Schedule schedule_of(CollectiveKind kind, const std::string& algorithm, const RankSpace& space, std::int64_t count,
                     Parameters parameters = {}) {
  const Variant* variant = Registry::standard().find(kind, algorithm).value();
  return variant->build(make_collective(kind, space.ranks(), count), space, parameters).value();
}

// Three ranks in a row hand a vector on, by hand, so that the text below can be checked by reading.
Schedule relay() {
  Schedule s(make_collective(CollectiveKind::allreduce, 6, 12));
  s.algorithm = "relay";
  s.parameters = "window=2";
  s.segments.count = 4;
  s.claims.neighbours_only = true;
  s.program = [](Rank r) {
    ProgramBuilder program;
    LaneBuilder up(LaneId{0}, "up", 2);
    up.step(receive_reduce(r.value + 1, in[part(0, 3)], out[part(0, 3)]));
    up.loop(3, [](Variable i) {
      return exchange(mod(i + 1, 6), out[part(Expression(i), 3)], mod(i + 5, 6), into(out[part(mod(i + 1, 3), 3)]));
    });
    LaneBuilder down(LaneId{3}, "down", 1);
    down.after({LaneId{0}}, Scope::all);
    down.round({signal(0)}, 1024);
    program.add(std::move(up));
    program.add(std::move(down));
    return program.finish();
  };
  return s;
}

TEST(Text, ReadsAsItRuns) {
  EXPECT_EQ(program_text(relay(), torus("3x2"), Rank{1}),
            R"(program of rank 1 (0,1)
Steps under a dash start together; the next dash follows when all are complete.

lane 0: up (window 2)
  - receive_reduce from 2 (1,0): output[part 0/3] = input[part 0/3] + arriving
  for i in 0..2:
    - send to ((1 + i) mod 6): output[part i/3]
      receive from ((5 + i) mod 6): output[part ((1 + i) mod 3)/3]
lane 3: down (window 1, after all of lane 0)
  gap of 1024 bytes between sends
  - signal to 0 (0,0)
)");
}

TEST(Text, HeaderSaysCollectiveAndClaims) {
  EXPECT_EQ(header_text(relay(), torus("3x2")),
            R"(allreduce of 12 elements of float64 (sum), on 6 ranks: torus 3x2
algorithm   relay (window=2)
segments    4; parts below are parts of the current segment s
claims      safe in place, same on all ranks, neighbours only
)");
}

TEST(Text, LongLinesBreakAtWords) {
  const std::string text = program_text(relay(), torus("3x2"), Rank{1}, 40);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 40u) << line;
  EXPECT_NE(text.find("      output[part 0/3] = input[part 0/3]\n          + arriving\n"), std::string::npos) << text;
}

// Of every algorithm: fits 80 columns, names every lane, and does not depend on the algorithm's name.
TEST(Text, OfEveryAlgorithm) {
  const RankSpace space = torus("4x3x2");
  int algorithms = 0;
  for (const Variant& variant : Registry::standard().variants()) {
    const auto built = variant.build(make_collective(variant.kind, space.ranks(), 1000), space);
    if (!built) continue;
    ++algorithms;
    for (std::int32_t r = 0; r < space.ranks(); ++r) {
      const std::string text = program_text(*built, space, Rank{r});
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << variant.name << ": " << line;
      for (const Lane& lane : built->program(Rank{r}).lanes)
        EXPECT_NE(text.find("lane " + std::to_string(lane.id.value) + ": " + lane.role), std::string::npos);
      Schedule renamed = *built;
      renamed.algorithm = "another_name";
      EXPECT_EQ(program_text(renamed, space, Rank{r}), text);
    }
  }
  EXPECT_GE(algorithms, 10);
}

TEST(ProgramJson, HoldsTheProgramAsWritten) {
  const auto j = nlohmann::json::parse(program_json(relay(), Rank{1}));
  EXPECT_EQ(j["algorithm"], "relay");
  EXPECT_EQ(j["segments"], 4);
  EXPECT_EQ(j["rank"], 1);
  ASSERT_EQ(j["lanes"].size(), 2u);
  const auto& lane = j["lanes"][0];
  EXPECT_EQ(lane["window"], 2);
  EXPECT_EQ(lane["body"][0]["steps"][0]["right"], "arriving");
  EXPECT_EQ(lane["body"][1]["trip"], 3);
  EXPECT_EQ(lane["body"][1]["body"][0]["steps"][1]["target"]["extent"], "part ((1 + i) mod 3)/3");
  EXPECT_EQ(j["lanes"][1]["after"][0]["scope"], "all");
  EXPECT_EQ(j["lanes"][1]["body"][0]["gap_bytes"], "1024");
}

// Buffers that differ in their layout alone, or in being a piece of an array, are not written alike.
TEST(ProgramJson, TellsScratchBuffersApart) {
  Schedule s(make_collective(CollectiveKind::allgather, 2, 8));
  s.program = [](Rank) {
    Program program;
    for (const Layout layout : {Layout::input_blocks, Layout::output_blocks, declared_layout(0)})
      for (const bool named : {false, true})
        program.scratch.push_back({.lane = LaneId{0}, .layout = layout, .named = named});
    return program;
  };
  const auto scratch = nlohmann::json::parse(program_json(s, Rank{0}))["scratch"];
  ASSERT_EQ(scratch.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(scratch[i]["layout"], (std::array{"input_blocks", "output_blocks", "declared0"})[i / 2]);
    EXPECT_EQ(scratch[i]["named"], i % 2 == 1);
    EXPECT_EQ(scratch[i].contains("first"), i % 2 == 1);
  }
}

TEST(ProgramJson, StaysSmallAtFullSize) {
  const Schedule s = schedule_of(CollectiveKind::allreduce, "trinaryx3", torus("48x54x32"), std::int64_t{1} << 27);
  EXPECT_LT(program_json(s, Rank{40'000}).size(), 10'000u);
}

} // namespace
} // namespace kumihimo
