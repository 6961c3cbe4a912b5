// What the engine itself costs a call: rank 0's program over a transport whose messages are complete as they start. The
// reduction and the copies are done, on few elements.
#include "collectives/registry.hpp"
#include "execute/engine.hpp"

#include <benchmark/benchmark.h>

namespace kumihimo {
namespace {

class Immediate final : public transport::Transport {
 public:
  Status prepare(const transport::Demands& demands) override {
    zeros_.resize(static_cast<std::size_t>(demands.largest_bytes));
    return Nothing{};
  }
  std::uint64_t begin(transport::Stream) override { return instance_++; }
  void send(transport::SendRequest& message) override { message.complete(); }
  void receive(transport::ReceiveRequest& message) override {
    if (message.bytes > 0) message.take(zeros_.data(), message.bytes);
    message.complete();
  }
  void offload(transport::OffloadRequest& message) override { message.complete(); }
  Progress progress() override { return Progress::nothing; }
  void idle() override {}
  bool has_failed() const override { return false; }
  Error error() const override { return failed("no failure"); }

 private:
  std::vector<std::byte> zeros_;
  std::uint64_t instance_ = 0;
};

void run(benchmark::State& state, const char* algorithm, std::int32_t ranks, std::int64_t segments) {
  const std::int64_t count = state.range(0) / 8;
  const Collective c = make_collective(CollectiveKind::allreduce, ranks, count);
  Parameters parameters;
  if (segments > 1) parameters.segments = segments;
  const auto variant = Registry::standard().find(CollectiveKind::allreduce, algorithm);
  if (!variant) return state.SkipWithError(variant.error().sentence().c_str());
  const auto schedule = (*variant)->build(c, RankSpace::node(ranks), parameters);
  if (!schedule) return state.SkipWithError(schedule.error().sentence().c_str());
  const auto program = execute::compile(*schedule, Rank{0});
  Immediate transport;
  auto execution = execute::Execution::prepare(*program, transport);
  const std::vector<double> input(static_cast<std::size_t>(count), 1.0);
  std::vector<double> output(input.size());
  const auto reduction = *execute::find_reduction(c.type, c.operation);
  for (auto _ : state)
    if (!(*execution)->run({input.data(), output.data()}, reduction)) return state.SkipWithError("failed");
  state.counters["steps"] = static_cast<double>((*execution)->totals().steps) / static_cast<double>(state.iterations());
}

void compile(benchmark::State& state, const char* algorithm, std::int32_t ranks) {
  const Collective c = make_collective(CollectiveKind::allreduce, ranks, state.range(0) / 8);
  const auto schedule =
      (*Registry::standard().find(CollectiveKind::allreduce, algorithm))->build(c, RankSpace::node(ranks));
  if (!schedule) return state.SkipWithError(schedule.error().sentence().c_str());
  for (auto _ : state) benchmark::DoNotOptimize(execute::compile(*schedule, Rank{0}));
}

BENCHMARK_CAPTURE(run, recursive_doubling_2, "recursive_doubling", 2, 1)->Arg(8)->Arg(1024);
BENCHMARK_CAPTURE(run, recursive_doubling_4, "recursive_doubling", 4, 1)->Arg(8)->Arg(1024);
BENCHMARK_CAPTURE(run, one_shot_4, "one_shot", 4, 1)->Arg(8)->Arg(1024);
BENCHMARK_CAPTURE(run, ring_4, "ring", 4, 1)->Arg(64)->Arg(1 << 16);
BENCHMARK_CAPTURE(run, trinaryx3_4, "trinaryx3", 4, 1)->Arg(64);
BENCHMARK_CAPTURE(run, ring_4_in_64_segments, "ring", 4, 64)->Arg(1 << 20);
BENCHMARK_CAPTURE(run, ring_4_in_4096_segments, "ring", 4, 4096)->Arg(1 << 20);
BENCHMARK_CAPTURE(compile, recursive_doubling_4, "recursive_doubling", 4)->Arg(8);
BENCHMARK_CAPTURE(compile, ring_4, "ring", 4)->Arg(1 << 26);

} // namespace
} // namespace kumihimo
