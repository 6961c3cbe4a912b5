// Halo exchanges over the MPI transport and by hand: every ghost cell has its owner's value, and a wrong one is found.
#include "bench_driver/program_task.hpp"
#include "checks.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace kumihimo::mpi {
namespace {

using bench_driver::NamedCandidate;
using mpi_job::MpiJob;

std::vector<std::array<std::int32_t, 3>> grids_of(std::int32_t ranks) {
  std::vector<std::array<std::int32_t, 3>> grids;
  for (std::int32_t x = 1; x <= ranks; ++x)
    for (std::int32_t y = 1; ranks % x == 0 && y <= ranks / x; ++y)
      if (ranks / x % y == 0) grids.push_back({x, y, ranks / x / y});
  return grids;
}

// What is wrong with the engine's run of one set and, beside it, with those by hand; compared with the golden copy of
// another.
std::string wrong_with(MpiJob& job, const NamedPrograms& run, const NamedPrograms& golden, const Halo& halo,
                       std::int32_t ranks_per_node) {
  mpi_transport::TransportOptions options;
  if (ranks_per_node > 0) options.node_of_rank = mpi_transport::nodes_of(job.ranks(), ranks_per_node);
  const Rank rank{job.rank()};
  const Result<transport::Transport*> transport = job.transport(options);
  if (!transport) return transport.error().sentence();
  std::vector<NamedCandidate> all;
  all.push_back(bench_driver::our_candidate(run.set, {}, rank, **transport));
  for (NamedCandidate& one : bench_driver::halo_by_hand(job.library(), job.world(), halo, rank))
    all.push_back(std::move(one));
  const auto outcome = bench_driver::check_programs(job, golden, all, 2);
  return outcome ? outcome->found : outcome.error().sentence();
}

// One cell further in one message of the last rank, or in a copy where it exchanges with itself alone.
NamedPrograms sabotaged(const Halo& halo) {
  NamedPrograms programs = programs_of(halo);
  programs.set.program = [right = programs.set.program, last = halo.rank_count() - 1](Rank rank) {
    Program program = right(rank);
    if (rank.value == last)
      for (Step& step : std::get<Round>(program.lanes[0].body[0]).steps)
        if (step.source.exists()) return step.source.extent.runs[0].first += 1, program;
    return program;
  };
  return programs;
}

bool complain(const MpiJob& job, const Halo& halo, const std::string& what) {
  if (job.prints()) std::fprintf(stderr, "halo:%s: %s\n", halo.text().c_str(), what.c_str());
  return false;
}

} // namespace

bool check_halos(MpiJob& job) {
  std::mt19937 random(11);
  const auto draw = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)) + 1; };
  bool good = true;
  for (const auto& grid : grids_of(job.ranks())) {
    Halo halo;
    halo.ranks = grid;
    for (std::size_t a = 0; a < 3; ++a) halo.cells[a] = draw(6), halo.periodic[a] = draw(3) > 1;
    halo.points = draw(2) == 1 ? 7 : 27;
    halo.fields = draw(3);
    halo.compute_seconds = draw(2) == 1 ? 0 : 1e-5;
    const NamedPrograms right = programs_of(halo);
    for (const std::int32_t ranks_per_node : {0, 1})
      if (const std::string wrong = wrong_with(job, right, right, halo, ranks_per_node); !wrong.empty())
        good = complain(job, halo, wrong);
  }
  return good;
}

bool check_that_wrong_ghosts_are_found(MpiJob& job) {
  Halo halo = *Halo::parse("3x3x3,points=27,fields=2");
  halo.ranks = {1, job.ranks(), 1};
  const NamedPrograms right = programs_of(halo), wrong = sabotaged(halo);
  bool good = true;
  if (wrong_with(job, wrong, right, halo, 0).find("kumihimo, run 1: element") == std::string::npos)
    good = complain(job, halo, "a wrong ghost of the engine's was not found");
  // The golden copy of wrong programs is not what the origins say.
  if (wrong_with(job, wrong, wrong, halo, 0).find("is not what its origin held") == std::string::npos)
    good = complain(job, halo, "wrong programs were not found");
  Halo other = halo; // by hand, of one field alone
  other.fields = 1;
  if (wrong_with(job, right, right, other, 0).find("MPI_Isend, derived types, run 1") == std::string::npos)
    good = complain(job, halo, "a wrong ghost of an exchange by hand was not found");
  return good;
}

} // namespace kumihimo::mpi
