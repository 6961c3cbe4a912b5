// Extents mean what design says: parts nest in segments, refined parts nest in parts, blocks lie one after the other.
#include "program/binding.hpp"
#include "program/builder.hpp"
#include "schedule/data.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <random>

namespace kumihimo {
namespace {

using Runs = std::vector<ElementRun>;

Runs runs_of(const Binding& b, const Extent& e, std::int64_t segment = 0) {
  Runs runs;
  b.append_runs(e, std::array{segment}, runs);
  return runs;
}

Binding vector_of(std::int64_t count, std::int64_t segments) {
  return {data_of(make_collective(CollectiveKind::allreduce, 4, count)), {segments}, Rank{0}};
}

Counts listed(Counts::Known known, std::vector<std::int64_t> table) {
  return {known, 0, std::make_shared<const std::vector<std::int64_t>>(std::move(table))};
}

Collective blocks_of(CollectiveKind kind, std::int32_t ranks, Counts counts) {
  Collective c = make_collective(kind, ranks, 0);
  c.counts = std::move(counts);
  return c;
}

TEST(Parts, SegmentsAndPartsCoverTheVectorOnceInOrder) {
  std::mt19937_64 random(5);
  for (int n = 0; n < 300; ++n) {
    const std::int64_t count = random() % 200, segments = 1 + random() % 9, m = 1 + random() % 9;
    const Binding b = vector_of(count, segments);
    std::int64_t at = 0;
    for (std::int64_t s = 0; s < segments; ++s)
      for (std::int64_t i = 0; i < m; ++i)
        for (const ElementRun& run : runs_of(b, part(i, m), s)) {
          ASSERT_EQ(run.first, at);
          at += run.count;
        }
    ASSERT_EQ(at, count);
  }
}

TEST(Parts, PartJOfKOfPartIIsPartIkPlusJ) {
  std::mt19937_64 random(6);
  for (int n = 0; n < 300; ++n) {
    const std::int64_t count = random() % 1000, segments = 1 + random() % 5, m = 1 + random() % 7, k = 1 + random() % 7;
    const std::int64_t s = random() % segments, i = random() % m;
    const Binding b = vector_of(count, segments);
    EXPECT_EQ(runs_of(b, part(i, m), s), runs_of(b, parts(i * k, k, m * k), s));
  }
}

TEST(Parts, LengthsOfPartsDifferByOneAtMost) {
  const Binding b = vector_of(1'000'003, 7);
  std::int64_t low = 1 << 30, high = 0;
  for (std::int64_t s = 0; s < 7; ++s)
    for (std::int64_t i = 0; i < 11; ++i) {
      const std::int64_t n = b.length(part(i, 11), std::array{s});
      low = std::min(low, n), high = std::max(high, n);
    }
  EXPECT_LE(high - low, 1);
}

TEST(Parts, LongVectorsDoNotOverflow) {
  const std::int64_t count = std::int64_t{1} << 40;
  const Binding b = vector_of(count, 1 << 20);
  EXPECT_EQ(runs_of(b, part(82'943, 82'944), (1 << 20) - 1).back().first +
                runs_of(b, part(82'943, 82'944), (1 << 20) - 1).back().count,
            count);
}

TEST(Runs, StridesRepeatAndReverse) {
  Extent e = blocks(Layout::output_blocks, 1);
  e.runs[0].inner = {3, 2};
  const Binding b(data_of(make_collective(CollectiveKind::allgather, 6, 5)), {1}, Rank{0});
  EXPECT_EQ(runs_of(b, e), (Runs{{5, 5}, {20, 5}}));
  e.runs[0].first = 4;
  e.runs[0].inner = {-3, 2};
  EXPECT_EQ(runs_of(b, e), (Runs{{20, 5}, {5, 5}}));
  e.runs[0] = {0, 1, {1, 2}, {3, 2}}; // 0 1 3 4
  EXPECT_EQ(runs_of(b, e), (Runs{{0, 10}, {15, 10}}));
}

TEST(Runs, ACyclicRangeIsTwoListsInOrder) {
  Extent e = blocks(Layout::output_blocks, 4, 2);
  e.runs.push_back({0, 1, {}, {}});
  const Binding b(data_of(make_collective(CollectiveKind::allgather, 6, 2)), {1}, Rank{0});
  EXPECT_EQ(runs_of(b, e), (Runs{{8, 4}, {0, 2}}));
}

TEST(Runs, ASegmentOfBlocksIsTheSegmentOfEach) {
  const Binding b(data_of(blocks_of(CollectiveKind::allgather, 3, listed(Counts::Known::global, {4, 0, 6}))), {2},
                  Rank{0});
  EXPECT_EQ(runs_of(b, blocks(Layout::output_blocks, 0, 3), 0), (Runs{{0, 2}, {4, 3}}));
  EXPECT_EQ(runs_of(b, blocks(Layout::output_blocks, 0, 3), 1), (Runs{{2, 2}, {7, 3}}));
}

TEST(Counts, LocalRowsAndColumns) {
  const std::vector<std::int64_t> table = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const Binding b(data_of(blocks_of(CollectiveKind::alltoall, 3, listed(Counts::Known::local, table))), {1}, Rank{1});
  EXPECT_EQ(runs_of(b, blocks(Layout::input_blocks, 2)), (Runs{{9, 6}}));  // row 1: 4 5 6
  EXPECT_EQ(runs_of(b, blocks(Layout::output_blocks, 2)), (Runs{{7, 8}})); // column 1: 2 5 8
  EXPECT_EQ(b.input_elements(), 15);
  EXPECT_EQ(b.output_elements(), 15);
}

TEST(Chunks, AnOwnBlockAloneBeginsAtTheStartOfItsBuffer) {
  const Counts counts = listed(Counts::Known::global, {4, 5, 6});
  const std::array<std::int64_t, 1> segment{0};
  const Binding gather(data_of(blocks_of(CollectiveKind::allgather, 3, counts)), {1}, Rank{2});
  Runs runs;
  gather.append_chunk({}, in[blocks(Layout::input_blocks, 2)], segment, runs);
  gather.append_chunk({}, out[blocks(Layout::output_blocks, 2)], segment, runs);
  EXPECT_EQ(runs, (Runs{{0, 6}, {9, 6}}));
  EXPECT_EQ(gather.input_within_output(), 9);
  EXPECT_EQ(gather.input_elements(), 6);

  const Binding scatter(data_of(blocks_of(CollectiveKind::scatter, 3, counts)), {1}, Rank{1});
  runs.clear();
  scatter.append_chunk({}, out[blocks(Layout::output_blocks, 1)], segment, runs);
  EXPECT_EQ(runs, (Runs{{0, 5}}));
  EXPECT_EQ(scatter.input_within_output(), -4);
}

// Whatever the remainders, data of a cell's units fit it, and slots and cells do not overlap.
TEST(Scratch, CellsHoldTheirUnitsAndLieApart) {
  std::mt19937_64 random(7);
  for (int n = 0; n < 300; ++n) {
    const std::int64_t count = random() % 300, segments = 1 + random() % 6, m = 1 + random() % 8;
    const std::int64_t units = 1 + random() % m, window = 1 + random() % segments;
    const Binding b = vector_of(count, segments);
    const Scratch scratch{LaneId{0}, false, Layout::vector, m, units, 3};
    const std::int64_t cell = b.cell_elements(scratch);
    for (std::int64_t s = 0; s < segments; ++s)
      for (std::int64_t i = 0; i + units <= m; ++i) ASSERT_LE(b.length(parts(i, units, m), std::array{s}), cell);
    for (std::int64_t s = 0; s + 1 < window; ++s)
      ASSERT_GE(b.scratch_first(scratch, window, 0, s + 1), b.scratch_first(scratch, window, 2, s) + cell);
    ASSERT_LE(b.scratch_first(scratch, window, 2, window - 1) + cell, b.scratch_elements(scratch, window));
    ASSERT_EQ(b.scratch_first(scratch, window, 1, 0), b.scratch_first(scratch, window, 1, window));
  }
}

TEST(Scratch, WindowsArePrivateOrTheLargest) {
  Program p;
  p.lanes = {Lane{LaneId{0}, 2, {}, "", {}}, Lane{LaneId{1}, 5, {}, "", {}}};
  Scratch scratch{LaneId{0}, false, Layout::vector, 1, 1, 1};
  EXPECT_EQ(scratch_window(p, scratch, {100}), 2);
  scratch.shared = true;
  EXPECT_EQ(scratch_window(p, scratch, {100}), 5);
  EXPECT_EQ(scratch_window(p, scratch, {3}), 3); // never more slots than segments
}

} // namespace
} // namespace kumihimo
