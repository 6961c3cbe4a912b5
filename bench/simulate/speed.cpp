// How long a simulation takes: the flow model on the whole K computer, and on the 9,216 nodes of the MPI_Allreduce
// paper; halo exchanges on the whole K computer. One core.
#include "collectives/registry.hpp"
#include "halo/halo.hpp"
#include "machine/load.hpp"
#include "simulate/simulate.hpp"

#include <benchmark/benchmark.h>
#include <sys/resource.h>

namespace kumihimo {
namespace {

Machine machine(std::string_view shape) {
  const std::filesystem::path folder = KUMIHIMO_MACHINES;
  return *load_machine("k-computer", std::span(&folder, 1))->with_shape(*Shape::parse(shape));
}

double peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

// Building the schedule included: that is what a user waits for.
void simulate_one(const Variant& variant, const Machine& m, std::int64_t bytes, benchmark::State& state) {
  const RankSpace space = Job(m).rank_space();
  const auto schedule = variant.build(make_collective(variant.kind, space.ranks(), bytes / 8), space);
  if (!schedule) return;
  const auto prediction = simulate(*schedule, m);
  if (!prediction) return state.SkipWithError(prediction.error().sentence().c_str());
  state.counters["simulated_seconds"] = prediction->seconds.value;
}

void whole_machine(benchmark::State& state, const char* algorithm) {
  const Machine m = machine("48x54x32");
  const Variant& variant = **Registry::standard().find(CollectiveKind::allreduce, algorithm);
  for (auto _ : state) simulate_one(variant, m, std::int64_t{1} << 30, state);
  state.counters["peak_rss_bytes"] = peak_rss_bytes();
}
BENCHMARK_CAPTURE(whole_machine, trinaryx3, "trinaryx3")->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(whole_machine, recursive_doubling, "recursive_doubling")->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(whole_machine, ring, "ring")->Unit(benchmark::kSecond);

void all_algorithms(benchmark::State& state) {
  const Machine m = machine("48x6x32");
  for (auto _ : state)
    for (const Variant* variant : Registry::standard().variants(CollectiveKind::allreduce))
      if (!variant->offloads) simulate_one(*variant, m, std::int64_t{1} << 30, state); // the engine takes a few bytes
  state.counters["peak_rss_bytes"] = peak_rss_bytes();
}
BENCHMARK(all_algorithms)->Unit(benchmark::kSecond);

// As `kumihimo simulate halo:...` does: each rank is a node, whose neighbours are those of the torus.
void halo(benchmark::State& state, const char* text) {
  const Machine m = machine("48x54x32");
  const RankSpace space = Job(m).rank_space();
  std::vector<std::int32_t> lengths;
  std::vector<bool> wraps;
  for (const Axis& axis : space.shape().axes()) lengths.push_back(axis.length), wraps.push_back(axis.wraps);
  for (auto _ : state) {
    const auto exchange = on_ranks(*Halo::parse(text), lengths, wraps);
    if (!exchange) return state.SkipWithError(exchange.error().sentence().c_str());
    const auto prediction = simulate(programs_of(*exchange).set, m);
    if (!prediction) return state.SkipWithError(prediction.error().sentence().c_str());
    state.counters["simulated_seconds"] = prediction->seconds.value;
  }
  state.counters["peak_rss_bytes"] = peak_rss_bytes();
}
BENCHMARK_CAPTURE(halo, 7_points, "64x64x64,fields=3")->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(halo, 27_points, "64x64x64,points=27,fields=3")->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(halo, 7_points_compute, "64x64x64,fields=3,compute=1e-3")->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(halo, 27_points_compute, "64x64x64,points=27,fields=3,compute=1e-3")->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(halo, 7_points_mesh, "64x64x64,fields=3,compute=1e-3,mesh")->Unit(benchmark::kSecond);
BENCHMARK_CAPTURE(halo, 27_points_mesh, "64x64x64,points=27,fields=3,compute=1e-3,mesh")->Unit(benchmark::kSecond);

} // namespace
} // namespace kumihimo

BENCHMARK_MAIN();
