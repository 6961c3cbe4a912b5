// one_shot: allreduce in a single exchange; every rank sends its vector to all others and sums what arrives itself.
//
// Idea: one round of messages instead of log2 P; all ranks add the same operands in the same order, rank
//   0's first.
// Wins: the shortest messages on a few ranks of one node, above all when ranks share cores: one wait a
//   call.
// Special cases: up to 64 ranks; rank order is kept; P - 1 vectors of scratch.
// Reference: the flat exchange of shared-memory collectives; known as one-shot allreduce on GPUs.
#include "collectives/registry.hpp"
#include "program/builder.hpp"

#include <fmt/format.h>

namespace kumihimo::allreduce_one_shot {
namespace {

constexpr std::int32_t most_ranks = 64; // P - 1 vectors of scratch on every rank

Program program_of(Rank rank, std::int32_t P) {
  ProgramBuilder program;
  const LaneId id{0};
  LaneBuilder lane(id, "all exchange", 1);
  const Array others = program.scratch(id, 1, 1, P - 1);
  const auto value_of = [&](std::int32_t r) {
    return r == rank.value ? in[whole()] : others.at(r < rank.value ? r : r - 1, whole());
  };
  std::vector<Step> exchange;
  for (std::int32_t i = 1; i < P; ++i) exchange.push_back(send((rank.value + i) % P, in[whole()]));
  for (std::int32_t i = 1; i < P; ++i) {
    const std::int32_t from = (rank.value + P - i) % P;
    exchange.push_back(receive(from, value_of(from)));
  }
  lane.round(std::move(exchange));
  // The sum grows in rank 1's place (or in rank 0's, where that is scratch), so that our input stays whole until its
  // turn.
  Chunk sum = value_of(0);
  for (std::int32_t r = 1; r < P; ++r) {
    const Chunk target = r == P - 1 ? out[whole()] : sum.buffer.kind == Buffer::Kind::input ? value_of(1) : sum;
    lane.step(reduce(target, sum, value_of(r)));
    sum = target;
  }
  program.add(std::move(lane));
  return program.finish();
}

Result<Schedule> recipe(const Collective& c, const RankSpace&, const Parameters&) {
  if (c.ranks > most_ranks)
    return not_applicable(fmt::format("the algorithm is meant for at most {} ranks", most_ranks), c.ranks);
  Schedule s(c);
  s.claims.keeps_rank_order = true;
  s.program = [P = c.ranks](Rank r) { return program_of(r, P); };
  return s;
}

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "every rank sends its vector to all others and sums by itself",
          .cost = {(P - 1) * (alpha + n * beta + n * gamma)},
          .reference = "flat exchange; one-shot allreduce",
          .extension = true,
          .rounding = by_rank_numbers,
          .recipe = recipe};
}

} // namespace kumihimo::allreduce_one_shot
