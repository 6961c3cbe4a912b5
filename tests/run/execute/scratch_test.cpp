// Memory of runs: used again, never shared, and given up where there is more of it than is worth keeping.
#include "execute/scratch.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <vector>

namespace kumihimo::execute {
namespace {

constexpr std::int64_t kib = 1 << 10, mib = 1 << 20;

void forget_the_large_one() {
  for (std::int64_t i = 0; i <= ScratchMemory::most_takings_unused; ++i) ScratchMemory{64};
}

TEST(ScratchMemory, IsUsedAgain) {
  for (const std::int64_t bytes : {5 * kib, 100 * kib, 3 * mib, 20 * mib}) {
    std::byte* first = nullptr;
    {
      const ScratchMemory scratch(bytes);
      first = scratch.data();
      std::memset(first, 1, static_cast<std::size_t>(bytes));
    }
    EXPECT_EQ(ScratchMemory(bytes).data(), first) << bytes;
    EXPECT_EQ(ScratchMemory(bytes - 8).data(), first) << "of nearly the same length";
  }
  forget_the_large_one();
}

TEST(ScratchMemory, OfThousandRunsAtOnceLittleIsKept) {
  std::vector<ScratchMemory> many;
  for (int i = 0; i < 1000; ++i) many.emplace_back(64 * kib);
  many.clear();
  EXPECT_LE(ScratchMemory::kept_bytes(), ScratchMemory::most_kept_bytes);
  // And what is kept does not crowd out a length that is asked for now.
  std::byte* const first = ScratchMemory(2 * mib).data();
  EXPECT_EQ(ScratchMemory(2 * mib).data(), first);
}

TEST(ScratchMemory, OneLargeBlockIsKeptAsLongAsItIsUsed) {
  { const ScratchMemory a(30 * mib), b(40 * mib); }
  EXPECT_GE(ScratchMemory::kept_bytes(), 40 * mib);
  EXPECT_LE(ScratchMemory::kept_bytes(), 64 * mib + ScratchMemory::most_kept_bytes);
  for (int i = 0; i < 1000; ++i) { // by turns with many small ones
    if (i % 50 == 0) ScratchMemory{40 * mib};
    ScratchMemory{8 * kib};
  }
  EXPECT_GE(ScratchMemory::kept_bytes(), 40 * mib);
  forget_the_large_one();
  EXPECT_LE(ScratchMemory::kept_bytes(), ScratchMemory::most_kept_bytes);
}

TEST(ScratchMemory, IsNobodyElses) {
  std::mt19937_64 random(7);
  struct Held {
    ScratchMemory scratch;
    std::int64_t bytes;
    unsigned char filled;
  };
  std::vector<Held> held;
  for (int i = 0; i < 3000; ++i) {
    if (held.size() < 20 && random() % 2) {
      const auto bytes = static_cast<std::int64_t>(random() % (std::uint64_t{1} << (3 + random() % 21))) + 1;
      held.push_back({ScratchMemory(bytes), bytes, static_cast<unsigned char>(random())});
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(held.back().scratch.data()) % 64, 0U);
      std::memset(held.back().scratch.data(), held.back().filled, static_cast<std::size_t>(bytes));
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      const Held& last = held.back();
      for (std::int64_t at = 0; at < last.bytes; at += 61)
        ASSERT_EQ(static_cast<unsigned char>(last.scratch.data()[at]), last.filled);
      held.pop_back();
    }
  }
  held.clear();
  forget_the_large_one();
  EXPECT_LE(ScratchMemory::kept_bytes(), ScratchMemory::most_kept_bytes);
}

TEST(ScratchMemory, WhatTheSystemCannotGiveIsAnError) {
  EXPECT_THROW(ScratchMemory{std::int64_t{1} << 60}, std::bad_alloc);
  EXPECT_THROW(ScratchMemory{std::int64_t{1} << 62}, std::bad_alloc);
}

} // namespace
} // namespace kumihimo::execute
