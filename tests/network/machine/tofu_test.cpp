// Machines of Tofu: their files, jobs in boxes, dead parts.
#include "machine/job.hpp"
#include "machine/load.hpp"
#include "parsed.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kumihimo {
namespace {

Sample tofu(const std::string& axes = "4x3mx5x2mx3x2m", bool relays = true) {
  Sample sample;
  sample.replace("family", "family = \"tofu\"").replace("shape", "axes = \"" + axes + "\"");
  if (relays) sample.insert_after("axes", "relays = \"z=0\"");
  return sample;
}

TEST(TofuMachine, IsReadFromAFile) {
  const Machine machine = *parsed(tofu());
  EXPECT_EQ(machine.shape.text(), "8x9x8") << "the relays hold none of it";
  EXPECT_EQ(machine.topology->nodes(), 4 * 3 * 4 * 12);
  EXPECT_EQ(parsed(tofu("4x3mx5x2mx3x2m", false))->shape.text(), "8x9x10");
  const auto json = nlohmann::json::parse(to_json(machine));
  EXPECT_EQ(json["topology"]["family"], "tofu");
  EXPECT_EQ(json["topology"]["axes"], "4x3x4x2x3x2");
  EXPECT_EQ(json["topology"]["box"], "4x3x5x2x3x2") << "with the relays";
  EXPECT_EQ(json["topology"]["far_neighbours"]["pairs"], 0);
  EXPECT_NE(to_text(machine).find("Tofu 4x3x4x2x3x2, 576 nodes"), std::string::npos) << to_text(machine);
}

TEST(TofuMachine, WrongFilesAreOneSentence) {
  expect_error(tofu("4x3x5"), "t.toml:5: topology.axes", "six lengths");
  expect_error(tofu("4x3x5x2x3x2y"), "t.toml:5: topology.axes", "4x3x5x2x3x2y");
  expect_error(tofu("4x3x1x2x3x2"), "t.toml:5: topology.axes", "longer z axis");
  expect_error(tofu().replace("relays", "relays = \"z=1\""), "t.toml:6: topology.relays", "z=0");
  expect_error(tofu().insert_after("axes", "shape = \"4x3x2\""), "t.toml:6", "'shape'");
  const std::string next = "t.toml:" + std::to_string(tofu().lines() + 1);
  expect_error(tofu().append("[[dead_node]]\nat = \"4,0,0,0,0,0\""), next, "six coordinates");
  expect_error(tofu().append("[[dead_node]]\nat = \"1,0,0,0,0\""), next, "six coordinates");
  expect_error(tofu().append("[[dead_node]]\nat = 3"), "t.toml:", "dead_node.at");
  expect_error(tofu().append("[[dead_link]]\nfrom = \"0,0,0,0,0,0\"\nto = \"2,0,0,0,0,0\""), next, "neighbours");
  expect_error(Sample().append("[[dead_node]]\nat = \"0,0\""), "t.toml:", "'dead_node'");
}

TEST(TofuMachine, GivesJobsBoxes) {
  const Machine machine = *parsed(tofu());
  EXPECT_EQ(machine.with_shape(shape("4x3x4"))->topology->name(), "torus 4x3x4 in Tofu 2x1x2x2x3x2");
  EXPECT_EQ(machine.with_box("2x1x4x2x3x2", std::nullopt)->topology->name(), "torus 4x3x8 in Tofu 2x1x5x2x3x2");
  EXPECT_EQ(Job(*machine.with_box("2x2x2x2x3x2@3,1,2", shape("12x8"))).rank_space().name(),
            "torus 12x8, 2 ranks a node");
  EXPECT_FALSE(machine.with_box("2x2x2x2x3x2", shape("16x8")).ok());
  EXPECT_NE(machine.with_shape(shape("600")).error().sentence().find("at most 576 nodes"), std::string::npos);
  EXPECT_NE(machine.with_shape(shape("7x5")).error().sentence().find("7x5"), std::string::npos);
  const auto plain = Machine(*parse_machine(Sample().text(), "p.toml")).with_box("2x2x2x2x3x2", std::nullopt);
  ASSERT_FALSE(plain.ok());
  EXPECT_NE(plain.error().sentence().find("small, a torus"), std::string::npos) << plain.error().sentence();
}

TEST(TofuMachine, KeepsATorusAroundADeadNode) {
  const Machine job = *parsed(tofu())->with_shape(shape("8x3x4"));
  EXPECT_EQ(job.losses(), "");
  const Machine left = *job.without({{5, 0, 1}});
  EXPECT_EQ(left.shape.text(), "7x3x4");
  EXPECT_EQ(Job(left).rank_space().name(), "torus 7x3x4, 2 ranks a node");
  EXPECT_NE(left.losses().find("position 5 of axis 1 is left out"), std::string::npos) << left.losses();
  EXPECT_NE(left.losses().find("12 pairs of neighbours are 2 to 4 hops apart"), std::string::npos) << left.losses();
  const Machine cut = *job.without({}, {{{0, 0, 0}, {1, 0, 0}}});
  EXPECT_EQ(cut.shape.text(), "8x3x4");
  EXPECT_EQ(cut.losses(), "1 pair of neighbours is 3 hops apart, all others one");
  EXPECT_FALSE(job.without({}, {{{0, 0, 0}, {4, 1, 0}}}).ok());
  EXPECT_EQ(job.without({{5, 0, 1}, {2, 2, 2}})->shape.text(), "6x3x4");
  for (const Coordinates& wrong : {Coordinates{8, 0, 0}, Coordinates{-1, 0, 0}, Coordinates{0, 0}})
    EXPECT_NE(job.without({wrong}).error().sentence().find("8x3x4"), std::string::npos);
  EXPECT_FALSE(parse_machine(Sample().text(), "p.toml")->without({{0, 0, 0}}).ok());
}

TEST(TofuMachine, DeadPartsOfTheFileAreAvoided) {
  const Machine machine = *parsed(tofu().append("[[dead_node]]\nat = \"0,0,1,0,0,0\"\n[[dead_link]]\nfrom = "
                                                "\"0,0,2,0,0,0\"\nto = \"0,0,2,0,1,0\""));
  EXPECT_EQ(machine.shape.text(), "8x8x8") << "all of it: 9 was the longest axis";
  EXPECT_EQ(machine.with_shape(shape("4x3x4"))->losses(), "");
  EXPECT_EQ(machine.with_box("4x3x4x2x3x2", std::nullopt)->shape.text(), "8x8x8");
}

std::string dead_link(const std::string& from, const std::string& to) {
  return "[[dead_link]]\nfrom = \"" + from + "\"\nto = \"" + to + "\"";
}

// Two groups. In the first one a node has no live cable but to the other group; the second one has more dead cables,
// which cut nothing.
Sample cut_in_one_group() {
  Sample sample = tofu("2x1mx1x2mx3x2m", false);
  for (const char* to : {"0,0,0,1,0,0", "0,0,0,0,1,0", "0,0,0,0,2,0", "0,0,0,0,0,1"})
    sample.append(dead_link("0,0,0,0,0,0", to));
  for (const char* at : {"0,0", "0,1", "1,0", "1,1", "2,0"})
    sample.append(dead_link(std::string("1,0,0,0,") + at, std::string("1,0,0,1,") + at));
  return sample;
}

TEST(TofuMachine, DeadPartsElsewhereRefuseNoJob) {
  const auto machine = parsed(cut_in_one_group());
  ASSERT_TRUE(machine.ok()) << machine.error().sentence();
  EXPECT_NE(machine->losses().find("no job can use the whole machine"), std::string::npos) << machine->losses();
  EXPECT_NE(to_text(*machine).find("no job can use the whole"), std::string::npos);
  const auto elsewhere = machine->with_box("1x1x1x2x3x2@1,0,0", std::nullopt);
  ASSERT_TRUE(elsewhere.ok()) << elsewhere.error().sentence();
  EXPECT_FALSE(elsewhere->whole_machine_error.has_value());
  EXPECT_EQ(elsewhere->losses().find("no job"), std::string::npos) << elsewhere->losses();
  const auto cut = machine->with_box("1x1x1x2x3x2@0,0,0", std::nullopt);
  ASSERT_FALSE(cut.ok());
  EXPECT_NE(cut.error().sentence().find("dead parts disconnect nodes of the job"), std::string::npos);
}

TEST(TofuMachine, AJobIsPutWhereDeadPartsDoNotCutIt) {
  const Machine machine = *parsed(cut_in_one_group());
  const auto placed = machine.with_shape(shape("2x3x2"));
  ASSERT_TRUE(placed.ok()) << placed.error().sentence();
  const auto& torus = static_cast<const VirtualTorus&>(*placed->topology);
  EXPECT_EQ(torus.tofu().place_in_machine({})[Tofu::x], 1) << "the group with more dead cables";
  EXPECT_EQ(machine.with_box("1x1x1x2x3x2", std::nullopt)->topology->name(), torus.name());
  EXPECT_FALSE(machine.with_shape(shape("4x3x2")).ok()) << "both groups: cut";
}

} // namespace
} // namespace kumihimo
