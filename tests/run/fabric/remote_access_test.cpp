// Remote memory of users' programs over the providers of libfabric that this machine has.
#include "access_ranks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>

namespace kumihimo::fabric {
namespace {

using namespace testing; // NOLINT(google-build-using-namespace)

// --- puts that a flag follows, against a golden copy

enum class Sabotage { none, lost_put, second_put, wrong_place };

constexpr std::int64_t area = 20'000; // bytes that one rank puts into another's memory in a round
constexpr std::int32_t rounds = 6;

std::vector<std::byte> golden_area(std::int32_t source, std::int32_t target, std::int32_t round) {
  std::mt19937_64 random(static_cast<std::uint64_t>(source * 1'000'003 + target * 1'009 + round));
  std::vector<std::byte> bytes(static_cast<std::size_t>(area));
  for (std::byte& each : bytes) each = static_cast<std::byte>(random());
  return bytes;
}

constexpr std::int64_t half = area / 2;

// What a rank has for all others: an area each, of which the second half may be in memory that is mapped.
struct Areas {
  std::vector<std::byte> registered;
  std::byte* halves[2] = {};
  std::vector<AccessKey> keys[2]; // of all ranks

  Areas(const AccessRank& self, bool is_mapped) : registered(static_cast<std::size_t>(area * self.ranks)) {
    halves[0] = halves[1] = registered.data();
    keys[0] = keys[1] = self.keys_of(registered.data(), area * self.ranks);
    AccessKey mine;
    if (!is_mapped) return;
    EXPECT_EQ(self.access.allocate(area * self.ranks, halves[1], mine).text, "");
    keys[1] = self.all_of(mine);
  }
  const AccessKey& key(std::int32_t rank, std::int64_t at) const {
    return keys[at < half ? 0 : 1][static_cast<std::size_t>(rank)];
  }
  bool is(const std::vector<std::byte>& golden, std::int64_t first) const {
    return std::memcmp(golden.data(), halves[0] + first, half) == 0 &&
           std::memcmp(golden.data() + half, halves[1] + first + half, static_cast<std::size_t>(area - half)) == 0;
  }
};

// Puts of chance lengths in a chance order cover the area; the last one has the flag.
void put_area(const AccessRank& self, const Areas& areas, std::int32_t target, const std::vector<std::byte>& data,
              std::int64_t first, AccessCompletion& open, Sabotage sabotage, std::mt19937_64& random) {
  std::vector<std::pair<std::int64_t, std::int64_t>> parts; // begin, end
  for (std::int64_t at = 0; at < area;) {
    const std::int64_t most = random() % 4 == 0 ? 9'000 : 200;
    const std::int64_t left = at < half ? half - at : area - at;
    const std::int64_t bytes = std::min(left, 1 + static_cast<std::int64_t>(random() % most));
    parts.emplace_back(at, at + bytes);
    at += bytes;
  }
  std::shuffle(parts.begin(), parts.end(), random);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (sabotage == Sabotage::lost_put && i == parts.size() / 2) continue;
    const bool is_flagged = i + 1 == parts.size();
    const std::int64_t shift = sabotage == Sabotage::wrong_place && i == 0 ? 1 : 0;
    const auto [begin, end] = parts[i];
    const std::optional<std::int32_t> flag = is_flagged ? std::optional(self.rank) : std::nullopt;
    for (int times = sabotage == Sabotage::second_put && is_flagged ? 2 : 1; times > 0; --times)
      EXPECT_EQ(self.access
                    .put(data.data() + begin, end - begin - shift, {&areas.key(target, begin), first + begin + shift},
                         flag, &open)
                    .text,
                "");
  }
}

// How many areas differ from the golden copy, or flags from their number, on all ranks.
int wrong_areas(const AccessRow& row, std::int32_t ranks, Sabotage sabotage, bool is_mapped) {
  std::atomic<int> wrong = 0;
  on_access(ranks, row.options, [&](const AccessRank& self) {
    const Areas areas(self, is_mapped);
    std::mt19937_64 random(static_cast<std::uint64_t>(self.rank) + 7);
    for (std::int32_t round = 1; round <= rounds; ++round) {
      std::vector<std::vector<std::byte>> sources(static_cast<std::size_t>(ranks));
      AccessCompletion open;
      for (std::int32_t target = 0; target < ranks; ++target) {
        std::vector<std::byte>& data = sources[static_cast<std::size_t>(target)];
        data = golden_area(self.rank, target, round);
        const bool spoils = self.rank == 0 && target == 1 && round == 3;
        if (self.access.use_engine(0).ok() && row.options.port.engines + row.options.port.rails.size() > 1)
          self.access.use_engine(round % 2);
        put_area(self, areas, target, data, area * self.rank, open, spoils ? sabotage : Sabotage::none, random);
      }
      for (std::int32_t source = 0; source < ranks; ++source) {
        EXPECT_EQ(self.access.wait_flag(source, round, source, limit).text, "");
        wrong += !areas.is(golden_area(source, self.rank, round), area * source);
      }
      EXPECT_EQ(self.access.wait(open, limit).text, "");
      EXPECT_EQ(self.access.fence(RemoteAccess::all_ranks, limit).text, "");
      // What the fence has delivered can be got.
      for (std::int32_t target = 0; target < ranks; ++target) {
        std::vector<std::byte> back(static_cast<std::size_t>(area));
        for (const std::int64_t at : {std::int64_t{0}, half})
          EXPECT_EQ(self.access
                        .get(back.data() + at, at == 0 ? half : area - half,
                             {&areas.key(target, at), area * self.rank + at}, &open)
                        .text,
                    "");
        EXPECT_EQ(self.access.wait(open, limit).text, "");
        wrong += back != sources[static_cast<std::size_t>(target)];
      }
      EXPECT_EQ(self.access.barrier(limit).text, "");
      for (std::int32_t source = 0; source < ranks; ++source) {
        std::int64_t count = 0;
        EXPECT_EQ(self.access.count_flags(source, count).text, "");
        wrong += count != round;
      }
      EXPECT_EQ(self.access.barrier(limit).text, "");
    }
  });
  return wrong;
}

class RemoteAccessTest : public ::testing::TestWithParam<AccessRow> {
 protected:
  void SetUp() override {
    if (const std::string why = testing::obstacle(GetParam().provider); !why.empty()) GTEST_SKIP() << why;
  }
};

TEST_P(RemoteAccessTest, FlagsFollowTheDataOfAllPutsBefore) {
  EXPECT_EQ(wrong_areas(GetParam(), 3, Sabotage::none, false), 0);
}

// Puts by stores come before earlier ones over the provider, unless the flag waits for these.
TEST_P(RemoteAccessTest, FlagsFollowTheDataOfPutsByStoresAndOverTheProvider) {
  EXPECT_EQ(wrong_areas(GetParam(), 3, Sabotage::none, true), 0);
}

TEST_P(RemoteAccessTest, TheGoldenCopyFindsWhatIsLostDoubledOrMisplaced) {
  for (const bool is_mapped : {false, true})
    for (const Sabotage sabotage : {Sabotage::lost_put, Sabotage::second_put, Sabotage::wrong_place})
      EXPECT_GT(wrong_areas(GetParam(), 2, sabotage, is_mapped), 0);
}

TEST_P(RemoteAccessTest, AFlagNeedsNoData) {
  on_access(2, GetParam().options, [&](const AccessRank& self) {
    std::int64_t memory = 0;
    const std::vector<AccessKey> keys = self.keys_of(reinterpret_cast<std::byte*>(&memory), 8);
    const std::int32_t other = 1 - self.rank;
    const std::int64_t value = 40 + self.rank;
    AccessCompletion open;
    const RemoteAccess::Place place{&keys[static_cast<std::size_t>(other)], 0};
    EXPECT_EQ(self.access.put(reinterpret_cast<const std::byte*>(&value), 8, place, std::nullopt, &open).text, "");
    EXPECT_EQ(self.access.put(nullptr, 0, place, RemoteAccess::flags - 1, &open).text, "");
    EXPECT_EQ(self.access.wait_flag(RemoteAccess::flags - 1, 1, other, limit).text, "");
    EXPECT_EQ(memory, 40 + other);
    EXPECT_EQ(self.access.wait(open, limit).text, "");
  });
}

// Rank 1 makes no calls: its thread serves rank 0.
TEST_P(RemoteAccessTest, ARankThatComputesIsServed) {
  on_access(2, GetParam().options, [&](const AccessRank& self) {
    std::vector<std::int64_t> memory(1000, 7 + self.rank);
    const std::vector<AccessKey> keys = self.keys_of(reinterpret_cast<std::byte*>(memory.data()), 8000);
    if (self.rank == 0) {
      std::vector<std::int64_t> found(1000);
      AccessCompletion open;
      EXPECT_EQ(self.access.get(reinterpret_cast<std::byte*>(found.data()), 8000, {&keys[1], 0}, &open).text, "");
      EXPECT_EQ(self.access.wait(open, limit).text, "");
      EXPECT_EQ(found, std::vector<std::int64_t>(1000, 8));
      found[0] = 99;
      EXPECT_EQ(
          self.access.put(reinterpret_cast<std::byte*>(found.data()), 8, {&keys[1], 16}, std::nullopt, nullptr).text,
          "");
      EXPECT_EQ(self.access.fence(1, limit).text, "");
    }
    std::byte mine{}, all[2];
    self.exchange(&mine, all, 1);
    if (self.rank == 1) {
      EXPECT_EQ(memory[2], 99);
    }
  });
}

TEST_P(RemoteAccessTest, ThreadsShareOneRank) {
  constexpr std::int32_t threads = 4, puts = 200;
  on_access(2, GetParam().options, [&](const AccessRank& self) {
    std::vector<std::int64_t> memory(threads * puts);
    const std::vector<AccessKey> keys = self.keys_of(reinterpret_cast<std::byte*>(memory.data()), 8 * threads * puts);
    const std::int32_t other = 1 - self.rank;
    {
      std::vector<std::jthread> own;
      for (std::int32_t thread = 0; thread < threads; ++thread)
        own.emplace_back([&, thread] {
          AccessCompletion open;
          std::vector<std::int64_t> values(puts);
          for (std::int32_t i = 0; i < puts; ++i) {
            values[static_cast<std::size_t>(i)] = thread * 1000 + i;
            const std::int64_t offset = 8 * (thread * puts + i);
            EXPECT_EQ(self.access
                          .put(reinterpret_cast<std::byte*>(&values[static_cast<std::size_t>(i)]), 8,
                               {&keys[static_cast<std::size_t>(other)], offset}, thread, &open)
                          .text,
                      "");
          }
          EXPECT_EQ(self.access.wait(open, limit).text, "");
          EXPECT_EQ(self.access.wait_flag(thread, puts, other, limit).text, "");
        });
    }
    for (std::int32_t thread = 0; thread < threads; ++thread)
      for (std::int32_t i = 0; i < puts; ++i)
        EXPECT_EQ(memory[static_cast<std::size_t>(thread * puts + i)], thread * 1000 + i);
    EXPECT_EQ(self.access.barrier(limit).text, "");
  });
}

// --- atomics

TEST_P(RemoteAccessTest, AtomicsLoseNothing) {
  AccessOptions options = GetParam().options;
  options.port.provider.atomics = true;
  constexpr std::int64_t times = 100;
  constexpr std::int32_t ranks = 3;
  std::array<std::atomic<int>, times * ranks> seen{};
  on_access(ranks, options, [&](const AccessRank& self) {
    std::array<std::int64_t, 2> counters{};
    const std::vector<AccessKey> keys = self.keys_of(reinterpret_cast<std::byte*>(counters.data()), sizeof counters);
    const RemoteAccess::Place counter{&keys[0], 0}, swapped{&keys[0], 8};
    for (std::int64_t i = 0; i < times; ++i) {
      AccessCompletion open;
      std::int64_t old = -1;
      FabricPort::Atomic add;
      add.value = 1, add.old = &old;
      const AccessOutcome outcome = self.access.change(add, counter, &open);
      if (outcome.code == AccessCode::not_supported) {
        EXPECT_NE(outcome.text.find("has no fetch-add and compare-and-swap"), std::string::npos) << outcome.text;
        return;
      }
      ASSERT_EQ(outcome.text, "");
      ASSERT_EQ(self.access.wait(open, limit).text, "");
      ASSERT_TRUE(old >= 0 && old < times * ranks) << old;
      ++seen[static_cast<std::size_t>(old)];
      // A lock-free addition.
      for (std::int64_t expected = 0;;) {
        FabricPort::Atomic swap;
        swap.kind = FabricPort::Atomic::Kind::compare_and_swap;
        swap.expected = expected, swap.value = expected + 2, swap.old = &old;
        ASSERT_EQ(self.access.change(swap, swapped, &open).text, "");
        ASSERT_EQ(self.access.wait(open, limit).text, "");
        if (old == expected) break;
        expected = old;
      }
    }
    EXPECT_EQ(self.access.barrier(limit).text, "");
    std::int64_t ends[2] = {};
    AccessCompletion open;
    EXPECT_EQ(self.access.get(reinterpret_cast<std::byte*>(ends), 16, counter, &open).text, "");
    EXPECT_EQ(self.access.wait(open, limit).text, "");
    EXPECT_EQ(ends[0], times * ranks);
    EXPECT_EQ(ends[1], 2 * times * ranks);
    for (const std::atomic<int>& each : seen) EXPECT_EQ(each, 1);
    EXPECT_EQ(self.access.barrier(limit).text, "");
  });
}

INSTANTIATE_TEST_SUITE_P(Providers, RemoteAccessTest, ::testing::ValuesIn(access_rows()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kumihimo::fabric
