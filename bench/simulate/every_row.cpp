// Every row of the registry on one shape of the K computer: how long its prediction takes on one core, and how much
// memory. Each in a process of its own, so that peak memory is its own, and one that asks for more than it may have
// fails alone.
//
//   simulate_every_row SHAPE MOST_MIB [COLLECTIVE [ALGORITHM]]
//
// One vector has 1 GiB, a block 64 KiB. Exit code 1 where a row fails: its process asked for more memory than
// MOST_MIB, say.
#include "collectives/registry.hpp"
#include "machine/load.hpp"
#include "simulate/simulate.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace kumihimo {
namespace {

constexpr std::int64_t vector_bytes = std::int64_t{1} << 30, block_bytes = std::int64_t{64} << 10;

// What the row's process says of itself, as the cells of the table after its name.
std::string predict(const Variant& variant, const Machine& machine) {
  const RankSpace space = Job(machine).rank_space();
  std::int64_t bytes = variant.kind == CollectiveKind::barrier ? 0
                       : variant.kind->is_vector()             ? vector_bytes
                                                               : block_bytes;
  if (variant.offloads && bytes > 8) bytes = 8; // engines take no more
  const auto schedule = variant.build(make_collective(variant.kind, space.ranks(), bytes / 8), space);
  if (!schedule) return "- " + schedule.error().sentence();
  const auto p = simulate(*schedule, machine);
  if (!p) return (p.error().kind == Error::Kind::not_applicable ? "- " : "! ") + p.error().sentence();
  std::string share = "every round", doubts = p->accuracy;
  if (p->sampled) {
    doubts = doubts.substr(doubts.find(p->sampled->leaves_out)); // what is before it stands in the column beside
    share = fmt::format("{} samples of {} of {} rounds, ±{:.1f} %", p->sampled->samples, p->sampled->rounds,
                        p->sampled->of, 100 * (p->sampled->high.value / p->seconds.value - 1));
  }
  return fmt::format("+ {:.4g} s | {} | {}", p->seconds.value, share, doubts);
}

void limit_memory(std::int64_t mib) {
  const rlim_t most = static_cast<rlim_t>(mib) << 20;
  const rlimit limit{most, most};
  setrlimit(RLIMIT_AS, &limit);
}

[[noreturn]] void be_a_row(const Variant& variant, const Machine& machine, std::int64_t most_mib, int answer) {
  limit_memory(most_mib);
  std::string said;
  try {
    said = predict(variant, machine);
  } catch (const std::bad_alloc&) {
    said = fmt::format("! more than {} MiB of memory", most_mib);
  }
  const bool written = write(answer, said.data(), said.size()) == static_cast<ssize_t>(said.size());
  _exit(written ? 0 : 1);
}

double seconds_of(const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); }

std::string read_all(int from) {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(from, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  return text;
}

bool could_not(std::string_view call) {
  fmt::print(stderr, "{}: {}\n", call, std::strerror(errno));
  return false;
}

// Whether it was predicted, or does not fit this machine.
bool measure(const Variant& variant, const Machine& machine, std::int64_t most_mib) {
  int ends[2];
  if (pipe(ends) != 0) return could_not("pipe");
  const pid_t child = fork();
  if (child == -1) return close(ends[0]), close(ends[1]), could_not("fork");
  if (child == 0) be_a_row(variant, machine, most_mib, ends[1]);
  close(ends[1]);
  std::string said = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, 0, &usage) == -1)
    if (errno != EINTR) return could_not("wait4");
  const double took = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  const std::string name = fmt::format("{} {}", name_of(variant.kind), variant.name);
  if (said.empty())
    said = WIFSIGNALED(status) ? fmt::format("! ended by signal {}", WTERMSIG(status)) : "! ended without an answer";
  if (said[0] == '+')
    fmt::print("| {} | {:.1f} s | {} MiB | {} |\n", name, took, usage.ru_maxrss >> 10, said.substr(2));
  else
    fmt::print("| {} | {:.1f} s | {} MiB | {} | | |\n", name, took, usage.ru_maxrss >> 10, said.substr(2));
  std::fflush(stdout);
  return said[0] != '!';
}

int run(int argc, char** argv) {
  const auto shape = argc >= 3 ? Shape::parse(argv[1]) : missing("a shape", "");
  const std::int64_t most_mib = argc >= 3 ? std::atoll(argv[2]) : 0;
  if (!shape || most_mib <= 0) {
    fmt::print(stderr, "usage: {} SHAPE MOST_MIB [COLLECTIVE [ALGORITHM]]\n", argv[0]);
    return 2;
  }
  const std::filesystem::path folder = KUMIHIMO_MACHINES;
  const auto machine = load_machine("k-computer", std::span(&folder, 1))->with_shape(*shape);
  if (!machine) {
    fmt::print(stderr, "{}\n", machine.error().sentence());
    return 2;
  }
  fmt::print(
      "| row | processor time | memory | predicted | by | may be more than 20 % off |\n|---|---:|---:|---:|---|---|\n");
  bool well = true;
  for (const Variant& variant : Registry::standard().variants()) {
    if (argc > 3 && name_of(variant.kind) != argv[3]) continue;
    if (argc > 4 && variant.name != argv[4]) continue;
    well = measure(variant, *machine, most_mib) && well;
  }
  return well ? 0 : 1;
}

} // namespace
} // namespace kumihimo

int main(int argc, char** argv) { return kumihimo::run(argc, argv); }
