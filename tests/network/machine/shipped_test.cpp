// The machine files that are shipped: they load, and their figures are the ones that the literature gives.
#include "machine/job.hpp"
#include "machine/load.hpp"
#include "machine/numbers.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace kumihimo {
namespace {

namespace fs = std::filesystem;
const std::vector<fs::path> shipped = {fs::path(KUMIHIMO_MACHINES)};

Machine load(const std::string& name) {
  auto machine = load_machine(name, shipped);
  EXPECT_TRUE(machine.ok()) << (machine.ok() ? "" : machine.error().sentence());
  return machine.ok() ? *machine : Machine{};
}

TEST(Shipped, EveryFileLoadsUnderItsName) {
  const auto names = machine_names(shipped);
  ASSERT_GE(names.size(), 2u);
  for (const auto& name : names) EXPECT_EQ(load(name).name, name);
}

TEST(Shipped, KComputerIsTheOneOfThePapers) {
  const Machine k = load("k-computer");
  EXPECT_EQ(k.topology->nodes(), 82944);
  EXPECT_EQ(k.network.link_bandwidth.value.value, 4.75e9);
  EXPECT_EQ(k.network.link_peak.value.value, 5e9);
  EXPECT_EQ(k.network.engines.value, 4);
  EXPECT_EQ(k.network.injection_bandwidth.value.value, 20e9);
  EXPECT_EQ(k.node.reduction_rate.value.value, 6.58e9);
  EXPECT_NEAR(k.node.reduction_rate.value.value / k.node.reduction_rate_scalar.value.value, 1.97, 0.005);
  const Machine job = *k.with_shape(*Shape::parse("48x6x32"));
  EXPECT_EQ(Job(job).rank_space().name(), "torus 48x6x32");
  EXPECT_EQ(Job(job).rank_space().ranks(), 9216);
}

// The reason given in the file for the two software costs holds: they fill the time that the wire leaves of 98 ms.
TEST(Shipped, KComputersSoftwareCostsFillTheBroadcastTime) {
  const Machine k = load("k-computer");
  const double segment = static_cast<double>(k.software.segment_bytes.value.value);
  const double wire = segment / k.network.link_bandwidth.value.value;
  const int segments = 342, height = 84;
  const double seconds = (segments + height - 1) * (wire + k.software.message_cost.value.value) +
                         height * (k.software.relay_latency.value.value + k.network.hop_latency.value.value);
  EXPECT_NEAR(seconds, 98e-3, 2e-3);
}

TEST(Shipped, FugakuIsTheOneMeasured) {
  const Machine fugaku = load("fugaku");
  EXPECT_EQ(fugaku.topology->nodes(), 24 * 23 * 24 * 2 * 3 * 2);
  EXPECT_EQ(fugaku.network.engines.value, 6);
  EXPECT_EQ(fugaku.network.injection_bandwidth.value.value, 38.1e9);
  EXPECT_NEAR(fugaku.network.link_bandwidth.value.value, 0.93 * fugaku.network.link_peak.value.value, 1);
  const double stage = fugaku.software.message_cost.value.value + fugaku.software.relay_latency.value.value +
                       fugaku.software.receive_cost->value.value + fugaku.network.hop_latency.value.value;
  EXPECT_GT(stage, 0.9 * (49.174e-6 - 14.689e-6) / 18) << "bcast of 256 B by trinaryx3, 2x2x2 to 8x8x8";
  EXPECT_LT(stage, 1.1 * (131.504e-6 - 38.219e-6) / 36) << "allreduce of the same";
  EXPECT_NEAR(fugaku.node.reduction_rate.value.value, 14.007e9, 5e6) << "fitted";
  EXPECT_NEAR(fugaku.node.reduction_rate.value.value / ((512 << 20) / 35.176275e-3), 1, 0.09) << "reduce by trinaryx6";
}

TEST(Shipped, EveryNumberSaysWhereItComesFrom) {
  for (const auto& name : machine_names(shipped)) {
    const Machine machine = load(name);
    visit_numbers(machine, [&](std::string_view, std::string_view key, const auto& number) {
      if constexpr (requires { number.has_value(); }) {
        EXPECT_TRUE(!number || number->source.size() >= 5) << name << " " << key;
      } else {
        EXPECT_GE(number.source.size(), 5u) << name << " " << key;
      }
    });
  }
}

TEST(Load, TakesPathsAndNames) {
  EXPECT_EQ(load_machine((fs::path(KUMIHIMO_MACHINES) / "fugaku.toml").string(), {})->name, "fugaku");
  const auto unknown = load_machine("k-computr", shipped);
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().sentence().find("k-computer"), std::string::npos) << "the names there are";
  EXPECT_NE(load_machine("x", {}).error().sentence().find("path"), std::string::npos);
  for (const char* path : {"/no/such/file.toml", "no-such.toml", "/", ""})
    EXPECT_FALSE(load_machine(path, shipped).ok());
}

TEST(Load, NamesFileAndLineOfAWrongFile) {
  const fs::path path = fs::path(testing::TempDir()) / "kumihimo_wrong_machine.toml";
  std::ofstream(path) << "name = \"x\"\nsummary = \"y\"\n[topology]\nfamily = \"ring\"\n";
  const auto machine = load_machine(path.string(), {});
  fs::remove(path);
  ASSERT_FALSE(machine.ok());
  EXPECT_TRUE(machine.error().sentence().starts_with(path.string() + ":4: ")) << machine.error().sentence();
}

} // namespace
} // namespace kumihimo
