// The buffers of one rank's call: lengths, and where input and output lie in the one memory of a call in place.
#include "bench_driver/memory.hpp"
#include "schedule/data.hpp"

#include <gtest/gtest.h>

namespace kumihimo::bench_driver {
namespace {

CallMemory memory(CollectiveKind kind, std::int32_t rank, bool in_place = false) {
  return memory_of(make_collective(kind, 4, 10, DataType::float64, Operation::sum, Rank{1}, in_place), Rank{rank});
}

TEST(CallMemory, IsAsLongAsTheDefinitionSays) {
  struct Row {
    CollectiveKind kind;
    std::int64_t root_input, root_output, input, output; // in blocks or vectors
  };
  const Row rows[] = {{CollectiveKind::barrier, 0, 0, 0, 0},   {CollectiveKind::bcast, 1, 1, 0, 1},
                      {CollectiveKind::reduce, 1, 1, 1, 0},    {CollectiveKind::allreduce, 1, 1, 1, 1},
                      {CollectiveKind::scan, 1, 1, 1, 1},      {CollectiveKind::exscan, 1, 1, 1, 1},
                      {CollectiveKind::gather, 1, 4, 1, 0},    {CollectiveKind::scatter, 4, 1, 0, 1},
                      {CollectiveKind::allgather, 1, 4, 1, 4}, {CollectiveKind::reduce_scatter, 4, 1, 4, 1},
                      {CollectiveKind::alltoall, 4, 4, 4, 4}};
  for (const Row& row : rows) {
    const CallMemory root = memory(row.kind, 1), other = memory(row.kind, 2);
    EXPECT_EQ(root.input_bytes, 80 * row.root_input) << name_of(row.kind);
    EXPECT_EQ(root.output_bytes, 80 * row.root_output) << name_of(row.kind);
    EXPECT_EQ(other.input_bytes, 80 * row.input) << name_of(row.kind);
    EXPECT_EQ(other.output_bytes, 80 * row.output) << name_of(row.kind);
  }
  EXPECT_EQ(memory(CollectiveKind::exscan, 0).result_bytes, 0) << "undefined on rank 0";
  EXPECT_EQ(memory(CollectiveKind::exscan, 1).result_bytes, 80);
}

TEST(CallMemory, InPlaceHasEachRanksOwnBlockWhereMpiHasIt) {
  for (const CollectiveKind kind : {CollectiveKind::gather, CollectiveKind::allgather}) {
    const CallMemory m = memory(kind, 1, true);
    EXPECT_TRUE(m.aliased);
    EXPECT_EQ(m.shared_bytes, 320);
    EXPECT_EQ(m.input_at, 80) << "rank 1's block";
    EXPECT_EQ(m.output_at, 0);
  }
  const CallMemory scattered = memory(CollectiveKind::scatter, 1, true);
  EXPECT_EQ(scattered.shared_bytes, 320);
  EXPECT_EQ(scattered.input_at, 0);
  EXPECT_EQ(scattered.output_at, 80);
  EXPECT_TRUE(scattered.input_stays) << "MPI gives the root's send buffer to be read alone";
  EXPECT_FALSE(memory(CollectiveKind::gather, 2, true).aliased) << "only the root's call is in place";
  const CallMemory reduced = memory(CollectiveKind::reduce_scatter, 2, true);
  EXPECT_EQ(reduced.shared_bytes, 320);
  EXPECT_EQ(reduced.output_bytes, 80);
  EXPECT_EQ(reduced.output_at, 0) << "the result is at the start of the receive buffer";
}

TEST(CallMemory, TheLongestBufferIsThatOfAnyRank) {
  EXPECT_EQ(longest_buffer_bytes(make_collective(CollectiveKind::bcast, 4, 10)), 80);
  EXPECT_EQ(longest_buffer_bytes(make_collective(CollectiveKind::gather, 4, 10)), 320);
  EXPECT_EQ(longest_buffer_bytes(make_collective(CollectiveKind::barrier, 4, 10)), 0);
}

} // namespace
} // namespace kumihimo::bench_driver
