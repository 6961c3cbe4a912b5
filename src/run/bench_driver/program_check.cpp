#include "bench_driver/program_check.hpp"

#include "bench_driver/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace kumihimo::bench_driver {
namespace {

constexpr std::uint64_t seed = 7;

Result<std::vector<Vector>> golden_of(const ProgramSet& set) {
  std::vector<Vector> inputs;
  for (std::int32_t r = 0; r < set.ranks(); ++r) inputs.push_back(initial_memory(set, Rank{r}, seed));
  return golden_outputs(set, inputs, {});
}

std::int64_t bytes_of_all(const ProgramSet& set) {
  std::int64_t bytes = 0;
  for (std::int32_t r = 0; r < set.ranks(); ++r) bytes += 2 * memory_of(set, Rank{r}).all_bytes();
  return bytes;
}

// What is wrong with one call; -1: nothing. A call that fails leaves the others waiting, so it ends the job.
std::int64_t run(const MpiJob& job, const ProgramSet& set, BenchCandidate& candidate, const GuardedBuffer& buffer,
                 const Vector& golden) {
  const Vector first = initial_memory(set, Rank{job.rank()}, seed);
  std::copy(first.begin(), first.end(), buffer.data());
  job.barrier();
  if (const Status s = candidate.call({buffer.data(), buffer.data()}); !s) job.give_up(s.error());
  if (!buffer.guard_holds()) return wrote_beyond;
  const auto at = std::mismatch(golden.begin(), golden.end(), buffer.data()).first;
  return at == golden.end() ? all_right : (at - golden.begin()) / set.data->type_bytes;
}

} // namespace

std::int64_t first_without_origin(const NamedPrograms& programs, Rank rank, std::uint64_t seed_of_run,
                                  const std::byte* found) {
  if (!programs.origins) return all_right;
  const std::int64_t each = programs.set.data->type_bytes;
  std::map<std::int32_t, Vector> first; // by rank
  for (const ElementOrigin& o : programs.origins(rank)) {
    const auto [at, fresh] = first.try_emplace(o.rank);
    if (fresh) at->second = initial_memory(programs.set, Rank{o.rank}, seed_of_run);
    const std::byte* const wanted = at->second.data() + o.position * each;
    const std::byte* const end = wanted + o.count * each;
    const std::byte* const differs = std::mismatch(wanted, end, found + o.first * each).first;
    if (differs != end) return o.first + (differs - wanted) / each;
  }
  return all_right;
}

Result<CheckOutcome> check_programs(const MpiJob& job, const NamedPrograms& programs,
                                    const std::vector<NamedCandidate>& candidates, std::int32_t repeats) {
  const ProgramSet& set = programs.set;
  const Rank me{job.rank()};
  const auto bytes = static_cast<std::size_t>(memory_of(set, me).all_bytes());
  const Result<Result<Vector>> golden =
      golden_from_rank_0(job, bytes_of_all(set), static_cast<std::int64_t>(bytes), [&] { return golden_of(set); });
  if (!golden) return golden.error();
  if (!*golden) return CheckOutcome{false, golden->error().sentence()};
  std::string wrong = first_of_all(job, first_without_origin(programs, me, seed, (*golden)->data()), "by the programs",
                                   "what its origin held");
  for (const NamedCandidate& c : candidates) {
    if (!wrong.empty()) break;
    if (Status s = job.agree(c.candidate->make_ready()); !s) return s.error();
    for (std::int32_t repeat = 1; repeat <= repeats && wrong.empty(); ++repeat) {
      const Need need{static_cast<std::int64_t>(bytes), "a rank's buffer"};
      const Result<GuardedBuffer> buffer = with_memory(need, [&] { return GuardedBuffer(bytes); });
      if (Status s = job.agree(buffer); !s) return s.error();
      wrong = first_of_all(job, run(job, set, *c.candidate, *buffer, **golden),
                           fmt::format("{}, run {}", c.name, repeat), "the golden copy's");
    }
  }
  return CheckOutcome{wrong.empty(), wrong};
}

} // namespace kumihimo::bench_driver
