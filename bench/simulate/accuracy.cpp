// The flow model against the exact fluid solution: every registered algorithm, shapes to 512 nodes, 1 KiB to 256 MiB.
#include "collectives/registry.hpp"
#include "machine/load.hpp"
#include "simulate/simulate.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

namespace kumihimo {
namespace {

struct Timed {
  Result<Prediction> prediction;
  double wall = 0;
};

Timed timed(const Schedule& schedule, const Machine& machine, Model model) {
  const auto begin = std::chrono::steady_clock::now();
  SimulateOptions options;
  options.model = model;
  auto prediction = simulate(schedule, machine, {}, options);
  return {std::move(prediction), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

void compare(const Variant& variant, const Machine& machine, std::int64_t bytes) {
  const RankSpace space = machine.rank_space();
  const auto schedule = variant.build(make_collective(variant.kind, space.ranks(), bytes / 8), space);
  if (!schedule) return;
  const Timed flow = timed(*schedule, machine, Model::flow), exact = timed(*schedule, machine, Model::exact);
  if (!flow.prediction || !exact.prediction) {
    fmt::print("{:18} {}\n", variant.name, (flow.prediction ? exact : flow).prediction.error().sentence());
    return;
  }
  const double a = flow.prediction->seconds.value, b = exact.prediction->seconds.value;
  fmt::print("{:10} {:18} {:8} {:10} {:12.6f} {:12.6f} {:+7.1f} % {:9.3f} {:9.3f}  {}\n", name_of(variant.kind),
             variant.name, machine.shape.text(), bytes, a * 1e3, b * 1e3, (a / b - 1) * 100, flow.wall, exact.wall,
             flow.prediction->accuracy);
}

int run(const char* machine_name) {
  const std::filesystem::path folder = KUMIHIMO_MACHINES;
  const auto machine = load_machine(machine_name, std::span(&folder, 1));
  if (!machine) return fmt::print(stderr, "{}\n", machine.error().sentence()), 2;
  fmt::print("{:10} {:18} {:8} {:>10} {:>12} {:>12} {:>9} {:>9} {:>9}\n", "", machine_name, "", "bytes", "flow ms",
             "exact ms", "error", "flow s", "exact s");
  for (const char* shape : {"7x3", "4x4x4", "6x5x4", "16x2x4", "8x8x8"}) {
    std::fflush(stdout);
    const auto job = machine->with_shape(*Shape::parse(shape));
    if (!job) continue;
    for (const Variant& variant : Registry::standard().variants())
      for (int exponent : {10, 14, 20, 24, 28})
        if (variant.kind == CollectiveKind::allreduce || exponent == 24)
          compare(variant, *job, std::int64_t{1} << exponent);
  }
  return 0;
}

} // namespace
} // namespace kumihimo

int main(int argc, char** argv) { return kumihimo::run(argc > 1 ? argv[1] : "k-computer"); }
