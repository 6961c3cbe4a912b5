// The flow model, by levels, against the exact fluid solution: every registered algorithm, shapes to 128 nodes, 1 KiB
// to 256 MiB.
//   simulate_accuracy [machine [shape [algorithm [segment_bytes]]]]
// 512 nodes take minutes an algorithm, so they are for who asks: simulate_accuracy k-computer 8x8x8 ring
#include "collectives/registry.hpp"
#include "machine/load.hpp"
#include "simulate/simulate.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>

namespace kumihimo {
namespace {

struct Timed {
  Result<SchedulePrediction> prediction;
  double wall = 0;
};

Timed timed(const Schedule& schedule, const Machine& machine, ScheduleModel model) {
  const auto begin = std::chrono::steady_clock::now();
  SimulateOptions options;
  options.model = model;
  options.most_exact_work = 0;
  auto prediction = simulate(schedule, machine, {}, options);
  return {std::move(prediction), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

struct Options { // an empty text or 0: all of them, or the default
  std::string machine = "k-computer", shape, algorithm;
  std::int64_t segment_bytes = 0;
};

void compare(const Variant& variant, const Machine& machine, std::int64_t bytes, const Options& options) {
  const RankSpace space = Job(machine).rank_space();
  Parameters parameters;
  if (options.segment_bytes > 0) parameters.segment_bytes = options.segment_bytes;
  const auto schedule = variant.build(make_collective(variant.kind, space.ranks(), bytes / 8), space, parameters);
  if (!schedule) return;
  const Timed flow = timed(*schedule, machine, ScheduleModel::flow),
              exact = timed(*schedule, machine, ScheduleModel::exact);
  if (!flow.prediction || !exact.prediction) {
    fmt::print("{:18} {}\n", variant.name, (flow.prediction ? exact : flow).prediction.error().sentence());
    return;
  }
  const double a = flow.prediction->seconds.value, b = exact.prediction->seconds.value;
  fmt::print("{:10} {:18} {:8} {:10} {:12.6f} {:12.6f} {:+7.1f} % {:8.3f} {:9.3f} {:9.3f}  {}\n", name_of(variant.kind),
             variant.name, machine.shape.text(), bytes, a * 1e3, b * 1e3, (a / b - 1) * 100,
             flow.prediction->doubtful_sharing, flow.wall, exact.wall, flow.prediction->accuracy);
}

int run(const Options& options) {
  const std::filesystem::path folder = KUMIHIMO_MACHINES;
  const auto machine = load_machine(options.machine, std::span(&folder, 1));
  if (!machine) return fmt::print(stderr, "{}\n", machine.error().sentence()), 2;
  fmt::print("{:10} {:18} {:8} {:>10} {:>12} {:>12} {:>9} {:>8} {:>9} {:>9}\n", "", options.machine, "", "bytes",
             "flow ms", "exact ms", "error", "doubtful", "flow s", "exact s");
  std::vector<std::string> shapes{"7x3", "4x4x4", "6x5x4", "16x2x4"};
  if (!options.shape.empty()) shapes = {options.shape};
  for (const std::string& text : shapes) {
    const auto shape = Shape::parse(text);
    if (!shape) return fmt::print(stderr, "{}\n", shape.error().sentence()), 2;
    const Machine job = machine->as_torus(*shape);
    for (const Variant& variant : Registry::standard().variants()) {
      if (!options.algorithm.empty() && options.algorithm != variant.name) continue;
      for (int exponent : {10, 14, 16, 20, 24, 28})
        if (variant.kind == CollectiveKind::allreduce || exponent == 24) {
          compare(variant, job, std::int64_t{1} << exponent, options);
          std::fflush(stdout);
        }
    }
  }
  return 0;
}

} // namespace
} // namespace kumihimo

int main(int argc, char** argv) {
  kumihimo::Options options;
  if (argc > 1) options.machine = argv[1];
  if (argc > 2) options.shape = argv[2];
  if (argc > 3) options.algorithm = argv[3];
  if (argc > 4) options.segment_bytes = std::strtoll(argv[4], nullptr, 10);
  return kumihimo::run(options);
}
