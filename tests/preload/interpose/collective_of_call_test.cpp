// What a call asks for, and that counts which no memory holds are the library's.
#include "collectives/registry.hpp"
#include "interpose/collective_of_call.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace kumihimo::interpose {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int32_t ranks = 3;

// Types are their own sizes but for those that are ours.
mpi::Library library() {
  mpi::Library library;
  for (std::size_t t = 0; t < library.constants.datatypes.size(); ++t)
    library.constants.datatypes[t] = static_cast<mpi::Handle>(1000 + t);
  for (std::size_t o = 0; o < library.constants.operations.size(); ++o)
    library.constants.operations[o] = static_cast<mpi::Handle>(2000 + o);
  library.call.Type_get_extent = [](mpi::Handle type, mpi::Address* low, mpi::Address* extent) {
    *low = 0, *extent = size_of(static_cast<DataType>(type - 1000));
    return 0;
  };
  library.call.Type_size_x = [](mpi::Handle type, long long* bytes) { return *bytes = type, 0; };
  return library;
}

std::variant<Collective, Reason> asked(CollectiveKind kind, const BufferSide& side, const RankNumbers& counts = {},
                                       mpi::Handle operation = 0) {
  static const mpi::Library there = library();
  static const mpi::Types types(there);
  BufferArguments call;
  call.send = call.receive = side;
  call.counts = counts;
  call.operation = operation ? operation : there.operation(Operation::sum);
  return collective_of_call(there, types, kind, call, view_of(kind, call, true, nullptr), ranks);
}

bool is_librarys(const std::variant<Collective, Reason>& answer) {
  const Reason* const reason = std::get_if<Reason>(&answer);
  return reason && *reason == Reason::no_plan;
}

int data = 0;
const mpi::Handle doubles = 1000 + static_cast<mpi::Handle>(DataType::float64);

TEST(CollectiveOfCall, IsOfElementsThatAreReducedAndOfBytesElse) {
  const auto reduced = asked(CollectiveKind::allreduce, {&data, 10, doubles});
  const auto moved = asked(CollectiveKind::allgather, {&data, 10, 24});
  ASSERT_TRUE(std::holds_alternative<Collective>(reduced) && std::holds_alternative<Collective>(moved));
  EXPECT_EQ(std::get<Collective>(reduced).counts.each, 10);
  EXPECT_EQ(std::get<Collective>(reduced).type, DataType::float64);
  EXPECT_EQ(std::get<Collective>(moved).bytes().value, 240);
}

TEST(CollectiveOfCall, IsOfWholeElementsByAUserDefinedOperation) {
  constexpr mpi::Handle by_user = 77;
  const auto found = asked(CollectiveKind::reduce, {&data, 10, 24}, {}, by_user);
  ASSERT_TRUE(std::holds_alternative<Collective>(found));
  const Collective& reduced = std::get<Collective>(found);
  EXPECT_EQ(reduced.counts.each, 10);
  EXPECT_EQ(reduced.type_bytes, 24);
  EXPECT_EQ(reduced.type, DataType::opaque);
  EXPECT_EQ(reduced.operation, Operation::user);
  EXPECT_TRUE(reduced.commutative);
  const auto derived = asked(CollectiveKind::reduce, {&data, 10, 24}); // by a predefined operation
  EXPECT_TRUE(std::holds_alternative<Reason>(derived) && std::get<Reason>(derived) == Reason::other_type);
}

TEST(CollectiveOfCall, CountsThatNoMemoryHoldsAreTheLibrarys) {
  // A multiple of 2^64 bytes, one that is small when it overflows, the most that a count says, and past memory alone.
  for (const std::int64_t count : {std::int64_t{1} << 61, (std::int64_t{1} << 61) + 1, most, most_bytes / 8})
    for (const CollectiveKind kind : all_collectives) {
      if (kind == CollectiveKind::barrier) continue;
      EXPECT_TRUE(is_librarys(asked(kind, {&data, count, doubles}))) << name_of(kind) << " of " << count;
    }
  EXPECT_TRUE(is_librarys(asked(CollectiveKind::alltoall, {&data, 2, most})));
}

TEST(CollectiveOfCall, WhatIsBlockByBlockNoLongerThanMemoryMayBeLongerTogether) {
  const std::int64_t half = most_bytes / 16;
  EXPECT_TRUE(std::holds_alternative<Collective>(asked(CollectiveKind::allreduce, {&data, half, doubles})));
  EXPECT_TRUE(is_librarys(asked(CollectiveKind::reduce_scatter, {&data, half, doubles})));
}

TEST(CollectiveOfCall, ALongBlockAmongShortOnesIsFound) {
  const std::array<std::int64_t, ranks> counts = {1, most, 1};
  const RankNumbers numbers{counts.data(), true};
  EXPECT_TRUE(is_librarys(asked(CollectiveKind::reduce_scatter, {&data, 1, doubles}, numbers)));
  BufferSide side{&data, 1, 8};
  side.counts = numbers;
  EXPECT_TRUE(is_librarys(asked(CollectiveKind::allgather, side)));
}

TEST(CollectiveOfCall, BytesStopAtTheMost) {
  EXPECT_EQ(limited_bytes(3, 8), 24);
  EXPECT_EQ(limited_bytes(0, most), 0);
  EXPECT_EQ(limited_bytes(most, most), most_bytes);
  EXPECT_EQ(limited_bytes(most_bytes, 1), most_bytes);
}

TEST(CallCounters, HaveRoomForEachAlgorithm) {
  for (const CollectiveKind kind : all_collectives)
    EXPECT_LE(Registry::standard().variants(kind).size(), most_variants) << name_of(kind);
}

} // namespace
} // namespace kumihimo::interpose
