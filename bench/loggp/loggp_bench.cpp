// The model loggp on one core: how long graphs take to be made or read, and to be run, and the peak memory.
//
//   loggp_bench COLLECTIVE ALGORITHM RANKS BYTES     a schedule of the registry, ranks in a row
//   loggp_bench FILE [PARAMETERS]                    a GOAL file, text or binary
//
// One line a process, so that peak memory is its own. An event is a send, a receive or a calc that was completed.
#include "collectives/registry.hpp"
#include "goal/binary.hpp"
#include "goal/programs.hpp"
#include "goal/text.hpp"
#include "loggp/engine.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>

namespace kumihimo {
namespace {

// CPU time, which a shared machine distorts less.
class Watch {
 public:
  double seconds() const { return static_cast<double>(std::clock() - begin_) / CLOCKS_PER_SEC; }

 private:
  std::clock_t begin_ = std::clock();
};

// The parameters of LogGOPSim's default, but eager: what the times of the published tables take.
constexpr std::string_view usual = "L=2500,o=1500,g=1000,G=6,O=0,S=70368744177664";

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

Result<goal::Graphs> graphs_of_file(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return goal::is_binary(bytes) ? goal::parse_binary(bytes, name) : goal::parse_text(bytes, name);
}

Result<goal::Graphs> graphs_of_collective(char** words) {
  const auto kind = TRY(parse_collective(words[0]));
  const Variant& variant = *TRY(Registry::standard().find(kind, words[1]));
  const auto ranks = static_cast<std::int32_t>(std::strtol(words[2], nullptr, 10));
  const std::int64_t bytes = std::strtoll(words[3], nullptr, 10);
  Parameters parameters;
  parameters.default_segment_bytes = std::max<std::int64_t>(bytes, 8);
  const auto schedule = TRY(variant.build(make_collective(kind, ranks, bytes / 8), RankSpace::row(ranks), parameters));
  return goal::graphs_of(schedule);
}

Status measure(const std::string& name, const Result<goal::Graphs>& graphs, double made, std::string_view parameters) {
  if (!graphs) return graphs.error();
  const auto p = TRY(loggp::parse_parameters(parameters, *loggp::parse_parameters(usual, {})));
  loggp::EngineOptions options;
  options.loggopsim_order = true;
  const Watch watch;
  const auto outcome = TRY(loggp::run(*graphs, p, options));
  const double ran = watch.seconds();
  const auto events = static_cast<double>(outcome.operations);
  fmt::print("{:40} {:>9} {:>8} {:>12} {:>9.2f} {:>9.2f} {:>11.2f} {:>9.0f} {:>16.3f}\n", name, graphs->ranks(),
             graphs->different(), outcome.operations, made, ran, events / ran * 1e-6, peak_mib(),
             static_cast<double>(outcome.last) * 1e-6);
  return Nothing{};
}

int run(int count, char** words) {
  if (count != 1 && count != 2 && count != 4) {
    fmt::print("{:40} {:>9} {:>8} {:>12} {:>9} {:>9} {:>11} {:>9} {:>16}\n", "", "ranks", "graphs", "events", "made s",
               "run s", "M events/s", "peak MiB", "simulated us");
    return 0;
  }
  const Watch watch;
  const auto graphs = count == 4 ? graphs_of_collective(words) : graphs_of_file(words[0]);
  const std::string name = count == 4 ? fmt::format("{} {} of {} bytes", words[0], words[1], words[3]) : words[0];
  if (const Status s = measure(name, graphs, watch.seconds(), count == 2 ? words[1] : ""); !s)
    return fmt::print(stderr, "{}: {}\n", name, s.error().sentence()), 2;
  return 0;
}

} // namespace
} // namespace kumihimo

int main(int count, char** words) { return kumihimo::run(count - 1, words + 1); }
