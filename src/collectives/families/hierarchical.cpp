// hierarchical: any algorithm between groups of ranks, composed with any within them.
//
// Idea: one rank of each node, or of each group of its ranks, leads it. A collective is made of stages, in the rows at
//   the end. They run one after the other, some within all groups at once, some among the leaders. Each is a schedule
//   of the registry, embedded as it is (patterns/levels/hierarchical.cpp). Segments are common to all stages. A
//   segment of a stage waits for the same segment of the stages before, and for no other: while the leaders exchange
//   one segment, the groups reduce the next and spread the last.
// Wins: nodes of many ranks: only leaders load the network, and the algorithm between them may be that of the network.
// Special cases: groups of unequal size, and leaders that are the only ranks of theirs. Leaders are the lowest ranks
//   of their groups, the root that of its own. Ranks of a group need not follow each other: where they do not, blocks
//   (allgather, ...) are put in order of groups, and back, by each rank for itself. A rank of a barrier is told by the
//   messages of a reduce and a broadcast, without their data. In an alltoall leaders hold what all ranks of their group
//   send and get, and exchange one message a pair of groups (the multicore form of CASTEP): it lies in one piece,
//   sorted by destination's group, destination and source. An algorithm by which leaders pass blocks on, or send
//   several at once (bruck, paced, by phases), needs groups of equal size and equal blocks, and a step that puts into
//   rows what has come. Of irregular blocks in an alltoall each rank must know the lengths of all.
// Reference: Karonis et al., IPDPS 2000 (levels); Träff, Rougier, EuroMPI/ASIA 2014 (any algorithm at each level).
#include "collectives/patterns/levels/hierarchical.hpp"

namespace kumihimo {
namespace {

using Kind = CollectiveKind;
using enum PartData;
using enum StageBuffer;

// A stage within all groups at once, and one among their leaders.
StageRow within(Kind kind, PartData data, StageBuffer from, StageBuffer to) { return {false, kind, data, from, to}; }
StageRow among_leaders(Kind kind, PartData data, StageBuffer from, StageBuffer to) {
  return {true, kind, data, from, to};
}

} // namespace

Variant bcast_hierarchical::row() {
  return hierarchical(Kind::bcast, {.stages = {among_leaders(Kind::bcast, same, output, output),
                                               within(Kind::bcast, same, output, output)},
                                    .inner = "binomial",
                                    .outer = "binomial"});
}

Variant reduce_hierarchical::row() {
  return hierarchical(Kind::reduce, {.stages = {within(Kind::reduce, same, input, partial),
                                                among_leaders(Kind::reduce, same, partial, partial)},
                                     .inner = "binomial",
                                     .outer = "binomial"});
}

Variant allreduce_hierarchical::row() {
  return hierarchical(Kind::allreduce, {.stages = {within(Kind::reduce, same, input, output),
                                                   among_leaders(Kind::allreduce, same, output, output),
                                                   within(Kind::bcast, same, output, output)},
                                        .inner = "binomial",
                                        .outer = "recursive_doubling"});
}

Variant allgather_hierarchical::row() {
  return hierarchical(Kind::allgather, {.stages = {within(Kind::gather, groups_of_blocks, input, output),
                                                   among_leaders(Kind::allgather, groups_of_blocks, output, output),
                                                   within(Kind::bcast, vector_of_blocks, output, output)},
                                        .inner = "binomial",
                                        .outer = "ring"});
}

Variant reduce_scatter_hierarchical::row() {
  return hierarchical(Kind::reduce_scatter,
                      {.stages = {within(Kind::reduce, vector_of_blocks, input, partial),
                                  among_leaders(Kind::reduce_scatter, groups_of_blocks, partial, own_results),
                                  within(Kind::scatter, groups_of_blocks, own_results, output)},
                       .inner = "binomial",
                       .outer = "ring"});
}

Variant alltoall_hierarchical::row() {
  return hierarchical(Kind::alltoall, {.stages = {within(Kind::gather, groups_of_blocks, input, partial),
                                                  among_leaders(Kind::alltoall, blocks_of_pairs, partial, own_results),
                                                  within(Kind::scatter, groups_of_blocks, own_results, output)},
                                       .inner = "binomial",
                                       .outer = "pairwise",
                                       .relays_blocks = true});
}

// A tree of ranges has no relay for those round the end of a group, whose root is another than its first rank: so
// gather and scatter are linear within groups.
Variant gather_hierarchical::row() {
  return hierarchical(Kind::gather, {.stages = {within(Kind::gather, groups_of_blocks, input, partial),
                                                among_leaders(Kind::gather, groups_of_blocks, partial, output)},
                                     .inner = "linear",
                                     .outer = "binomial",
                                     .relays_blocks = true});
}

Variant scatter_hierarchical::row() {
  return hierarchical(Kind::scatter, {.stages = {among_leaders(Kind::scatter, groups_of_blocks, input, own_results),
                                                 within(Kind::scatter, groups_of_blocks, own_results, output)},
                                      .inner = "linear",
                                      .outer = "binomial",
                                      .relays_blocks = true});
}

// The messages of a reduce, a barrier of the leaders, and the messages of a broadcast.
Variant barrier_hierarchical::row() {
  return hierarchical(Kind::barrier, {.stages = {within(Kind::reduce, signals, input, input),
                                                 among_leaders(Kind::barrier, signals, input, input),
                                                 within(Kind::bcast, signals, input, input)},
                                      .inner = "binomial",
                                      .outer = "dissemination"});
}

} // namespace kumihimo
