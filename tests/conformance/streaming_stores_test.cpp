// Hints::streaming_stores is heeded by what stays, and by nothing else.
#include "collectives/registry.hpp"
#include "execute/engine.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kumihimo {
namespace {

// Receives nothing, and tells how each message would be written.
class Noting final : public transport::Transport {
 public:
  Status prepare(const transport::Demands&) override { return Nothing{}; }
  std::uint64_t begin(transport::Stream) override { return 0; }
  void send(transport::SendRequest& message) override { message.complete(); }
  void receive(transport::ReceiveRequest& message) override {
    if (message.bytes > 0) streaming_stores.insert(message.streams());
    message.complete();
  }
  Progress progress() override { return Progress::nothing; }
  void idle() override {}
  bool has_failed() const override { return false; }
  Error error() const override { return failed("no failure"); }

  std::set<bool> streaming_stores;
};

std::set<bool> ways(const char* algorithm, bool streaming_stores) {
  const Collective c = make_collective(CollectiveKind::alltoall, 4, 100);
  Parameters parameters;
  parameters.streaming_stores = streaming_stores;
  const Result<Schedule> schedule =
      (*Registry::standard().find(c.kind, algorithm))->build(c, RankSpace::node(4), parameters);
  const auto program = execute::compile(*schedule, Rank{0}, {parameters.hints()});
  Noting transport;
  auto execution = execute::Execution::prepare(*program, transport);
  const std::vector<double> input(400);
  std::vector<double> output(400);
  EXPECT_TRUE((*execution)->run({input.data(), output.data()}, {}).ok());
  return transport.streaming_stores;
}

TEST(StreamingStores, IsHeededByWhatStays) {
  EXPECT_EQ(ways("linear", true), std::set<bool>{true});
  EXPECT_EQ(ways("bruck", true).count(false), 1U) << "what is passed on is read again";
  EXPECT_EQ(ways("linear", false), std::set<bool>{false});
}

} // namespace
} // namespace kumihimo
