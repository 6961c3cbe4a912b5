// Our own remote memory, measured over the loopback.
#include "loopback/loopback.hpp"
#include "one_sided/backends/own.hpp"
#include "one_sided/measurement.hpp"
#include "thread_peers.hpp"

#include <gtest/gtest.h>

namespace kumihimo::one_sided {
namespace {

using nlohmann::json;

TEST(OwnRemoteMemory, IsMeasuredAndFoundRight) {
  constexpr std::int32_t ranks = 2;
  OneSidedTask task;
  task.measures = {"put",      "put_quiet", "get",     "put_bandwidth", "put_overlap",
                   "put_rate", "fetch_add", "barrier", "reduce"};
  task.sizes = {64};
  task.window = 4;
  task.span = 4096;
  task.case_seconds = 1e-4;
  testing::SharedByPeers shared(ranks);
  transport::Loopback loopback(ranks, {});
  const Status status =
      transport::run_ranks(loopback, ranks, [&](Rank rank, transport::Transport& transport) -> Status {
        testing::ThreadPeers peers(shared, rank.value);
        OwnRemoteMemory library(transport, rank, ranks);
        if (Status s = measure_library(library, peers, task, {{"backend", "own"}}); !s) return s;
        return library.status();
      });
  ASSERT_TRUE(status.ok()) << status.error().sentence();
  std::map<std::string, int> right;
  for (const json& result : shared.printed) {
    if (result.contains("begins")) continue;
    const auto measure = result.at("measure").get<std::string>();
    if (result.contains("not_applicable"))
      right[measure] = 0;
    else
      right[measure] += result.at("right").get<bool>() ? 1 : -100;
  }
  const std::map<std::string, int> expected = {{"put", 1},           {"put_quiet", 0},   {"get", 0},
                                               {"put_bandwidth", 1}, {"put_overlap", 1}, {"put_rate", 1},
                                               {"fetch_add", 0},     {"barrier", 1},     {"reduce", 0}};
  EXPECT_EQ(right, expected);
}

} // namespace
} // namespace kumihimo::one_sided
