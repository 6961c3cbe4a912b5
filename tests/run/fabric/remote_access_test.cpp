// Remote memory of users' programs over the providers of libfabric that this machine has: ranks are threads.
#include "fabric/remote_access.hpp"
#include "port_threads.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <cstring>
#include <random>
#include <thread>

namespace kumihimo::fabric {
namespace {

constexpr double limit = 20; // seconds

struct AccessRow {
  std::string name, provider;
  AccessOptions options;
};

std::vector<AccessRow> access_rows() {
  std::vector<AccessRow> rows = {{"rxm", "tcp;ofi_rxm", {}}, {"shm", "shm", {}}, {"net", "net", {}}};
  for (AccessRow& row : rows) row.options.port.engines = 1;
  AccessRow engines = rows[0], by_messages = rows[0], unordered = rows[0], neither = rows[0], atomics = rows[0],
            rails = rows[0];
  engines.name = "rxm_with_engines", engines.options.port.engines = 2;
  by_messages.name = "rxm_with_flags_by_messages", by_messages.options.port.flags_by_messages = true;
  unordered.name = "rxm_without_order", unordered.options.port.orders_nothing = true;
  neither.name = "rxm_by_delivery";
  neither.options.port.flags_by_messages = neither.options.port.orders_nothing = true;
  atomics.name = "rxm_with_atomics", atomics.options.port.provider.atomics = true;
  rails.name = "rxm_on_two_rails", rails.options.port.rails = {"lo", "lo"};
  for (AccessRow* row : {&engines, &by_messages, &unordered, &neither, &atomics, &rails}) rows.push_back(*row);
  for (AccessRow& row : rows) row.options.port.provider.provider = row.provider;
  return rows;
}

// Shared by the ranks of a test: the exchange that a program gives.
class Meeting {
 public:
  explicit Meeting(std::int32_t ranks) : ranks_(ranks), barrier_(ranks) {}
  RemoteAccess::Exchange of(std::int32_t rank) {
    return [this, rank](const void* mine, void* all, std::size_t bytes) {
      if (rank == 0) gathered_.resize(bytes * static_cast<std::size_t>(ranks_));
      barrier_.arrive_and_wait();
      std::memcpy(gathered_.data() + bytes * static_cast<std::size_t>(rank), mine, bytes);
      barrier_.arrive_and_wait();
      std::memcpy(all, gathered_.data(), gathered_.size());
      barrier_.arrive_and_wait();
      return 0;
    };
  }

 private:
  std::int32_t ranks_;
  std::barrier<> barrier_;
  std::vector<std::byte> gathered_;
};

struct AccessRank {
  std::int32_t rank = 0, ranks = 0;
  RemoteAccess& access;
  RemoteAccess::Exchange exchange;

  std::vector<AccessKey> keys_of(std::byte* memory, std::int64_t bytes) const {
    AccessKey mine;
    EXPECT_EQ(access.register_memory(memory, bytes, mine).text, "");
    return all_of(mine);
  }
  std::vector<AccessKey> all_of(const AccessKey& mine) const {
    std::vector<AccessKey> all(static_cast<std::size_t>(ranks));
    exchange(&mine, all.data(), sizeof mine);
    return all;
  }
};

using Work = std::function<void(const AccessRank&)>;

// `work` of each rank between an opening and a closing that must succeed.
void on_access(std::int32_t ranks, const AccessOptions& options, const Work& work) {
  Meeting meeting(ranks);
  std::vector<std::jthread> threads;
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      auto opened = RemoteAccess::open(rank, ranks, meeting.of(rank), options);
      ASSERT_TRUE(opened.ok()) << opened.error().sentence();
      work({rank, ranks, **opened, meeting.of(rank)});
      EXPECT_EQ((*opened)->close(limit).text, "");
    });
}

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

// Memory of a rank for all others: an area each, of which the second half may be in memory that is mapped.
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
      // A get returns the data that the fence has delivered.
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

// --- what is refused, time limits, failures

class RemoteAccessFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = testing::obstacle("tcp;ofi_rxm"); !why.empty()) GTEST_SKIP() << why;
    options_ = access_rows()[0].options;
  }
  AccessOptions options_;
};

TEST_F(RemoteAccessFaults, MemoryThatIsAllocatedIsFreedByItsOwnKey) {
  on_access(2, options_, [&](const AccessRank& self) {
    std::byte* memory = nullptr;
    AccessKey mine;
    EXPECT_EQ(self.access.allocate(0, memory, mine).text, "memory to allocate needs at least 1 byte (got 0)");
    ASSERT_EQ(self.access.allocate(64, memory, mine).text, "");
    EXPECT_EQ(static_cast<int>(memory[63]), 0);
    EXPECT_EQ(self.access.deregister_memory(mine).text,
              "the key must be of memory that this rank has registered (got another key)");
    const std::vector<AccessKey> keys = self.all_of(mine);
    const std::int64_t value = 7 + self.rank;
    const AccessKey& other = keys[static_cast<std::size_t>(1 - self.rank)];
    EXPECT_EQ(self.access.put(reinterpret_cast<const std::byte*>(&value), 8, {&other, 8}, 5, nullptr).text, "");
    EXPECT_EQ(self.access.wait_flag(5, 1, 1 - self.rank, limit).text, "");
    std::int64_t found = 0;
    std::memcpy(&found, memory + 8, 8);
    EXPECT_EQ(found, 8 - self.rank);
    EXPECT_EQ(self.access.free(other).text, "the key must be of memory that this rank has allocated (got another key)");
    EXPECT_EQ(self.access.barrier(limit).text, "");
    EXPECT_EQ(self.access.free(mine).text, "");
    EXPECT_NE(self.access.free(mine).text, "") << "twice";
  });
}

TEST_F(RemoteAccessFaults, MistakesAreOneSentenceEach) {
  on_access(2, options_, [&](const AccessRank& self) {
    std::byte memory[16], data[32];
    const std::vector<AccessKey> keys = self.keys_of(memory, 16);
    if (self.rank == 1) return;
    RemoteAccess& access = self.access;
    const AccessKey none{}, *const key = &keys[1];
    AccessKey changed = keys[1], gone, other;
    changed.bytes = 1000;
    EXPECT_TRUE(access.register_memory(data, 32, gone).ok());
    EXPECT_TRUE(access.deregister_memory(gone).ok());
    const auto refused = [](const AccessOutcome& outcome, const std::string& text,
                            AccessCode code = AccessCode::bad_argument) {
      EXPECT_EQ(outcome.text, text);
      EXPECT_EQ(outcome.code, code);
    };
    const std::string made = "the key must be one that kumihimo_rma_register or kumihimo_rma_allocate has made (got ";
    refused(access.put(data, 8, {&none, 0}, std::nullopt, nullptr), made + "other bytes)");
    refused(access.put(data, 8, {&changed, 0}, std::nullopt, nullptr), made + "other bytes)");
    refused(access.put(data, 8, {nullptr, 0}, std::nullopt, nullptr), made + "a null pointer)");
    refused(access.put(data, 8, {&gone, 0}, std::nullopt, nullptr),
            "the memory of the key must be registered (got a key of memory that was deregistered)");
    const std::string within = "an access must lie within the 16 bytes that rank 1 has registered (got ";
    refused(access.put(data, 17, {key, 0}, std::nullopt, nullptr), within + "17 bytes at 0)");
    refused(access.put(data, 8, {key, 9}, std::nullopt, nullptr), within + "8 bytes at 9)");
    refused(access.put(data, 8, {key, -1}, std::nullopt, nullptr), within + "8 bytes at -1)");
    refused(access.put(data, -8, {key, 0}, std::nullopt, nullptr), within + "-8 bytes at 0)");
    refused(access.put(data, 1, {key, INT64_MAX}, std::nullopt, nullptr), within + "1 bytes at 9223372036854775807)");
    refused(access.get(data, 17, {key, 0}, nullptr), within + "17 bytes at 0)");
    refused(access.put(nullptr, 8, {key, 0}, std::nullopt, nullptr),
            "a put needs the address of its source (got a null pointer)");
    refused(access.get(nullptr, 8, {key, 0}, nullptr), "a get needs the address of its result (got a null pointer)");
    refused(access.put(data, 8, {key, 0}, 32768, nullptr), "the flag must be from 0 to 32767 (got 32768)");
    refused(access.wait_flag(-1, 1, 1, 0), "the flag must be from 0 to 32767 (got -1)");
    refused(access.wait_flag(0, 1, 2, 0), "the rank must be from 0 to 1, or KUMIHIMO_RMA_ALL_RANKS (got 2)");
    refused(access.fence(7, 0), "the rank must be from 0 to 1, or KUMIHIMO_RMA_ALL_RANKS (got 7)");
    refused(access.use_engine(1), "the engine must be from 0 to 0 (got 1)");
    refused(access.register_memory(nullptr, 8, other),
            "memory to register needs an address and at least 1 byte (got 8)");
    refused(access.register_memory(data, 0, other), "memory to register needs an address and at least 1 byte (got 0)");
    refused(access.deregister_memory(*key),
            "the key must be of memory that this rank has registered (got another key)");
    refused(access.change({}, {key, 0}, nullptr),
            "atomics must be asked for when remote memory is opened; add atomics=1 to the options",
            AccessCode::not_supported);
  });
}

TEST_F(RemoteAccessFaults, AWaitEndsAtItsLimitAndGoesOn) {
  on_access(2, options_, [&](const AccessRank& self) {
    std::byte memory[8];
    const std::vector<AccessKey> keys = self.keys_of(memory, 8);
    std::byte mine{}, all[2];
    if (self.rank == 0) {
      const AccessOutcome flag = self.access.wait_flag(5, 1, 1, 0.01);
      EXPECT_EQ(flag.code, AccessCode::timed_out);
      EXPECT_EQ(flag.text, "flag 5 has been put 0 of 1 times: the wait did not end within 0.01 s");
      const AccessOutcome barrier = self.access.barrier(0.01);
      EXPECT_EQ(barrier.code, AccessCode::timed_out);
      EXPECT_EQ(barrier.text, "a barrier, which waits for rank 1, did not end within 0.01 s");
    }
    self.exchange(&mine, all, 1);
    if (self.rank == 1) {
      EXPECT_EQ(self.access.put(nullptr, 0, {&keys[0], 0}, 5, nullptr).text, "");
    } else {
      EXPECT_EQ(self.access.wait_flag(5, 1, 1, limit).text, "");
    }
    EXPECT_EQ(self.access.barrier(limit).text, "");
  });
}

TEST_F(RemoteAccessFaults, RanksThatDoNotFitAreFoundWhenTheyOpen) {
  const auto sentences = [&](const std::function<void(std::int32_t, AccessOptions&)>& change, bool swaps = false) {
    Meeting meeting(2);
    std::vector<std::string> found(2);
    {
      std::vector<std::jthread> threads;
      for (std::int32_t rank = 0; rank < 2; ++rank)
        threads.emplace_back([&, rank] {
          AccessOptions options = options_;
          change(rank, options);
          const auto opened = RemoteAccess::open(rank, 2, meeting.of(swaps ? 1 - rank : rank), options);
          found[static_cast<std::size_t>(rank)] = opened ? "" : opened.error().sentence();
        });
    }
    return found;
  };
  const auto swapped = sentences([](std::int32_t, AccessOptions&) {}, true);
  EXPECT_EQ(swapped[0],
            "the exchange must give what each rank gave, in the order of ranks (got rank 1 of 2 at place 0 of 2)");
  const auto engines = sentences([](std::int32_t rank, AccessOptions& options) { options.port.engines = 1 + rank; });
  EXPECT_NE(engines[0].find("all ranks must have the same provider, engines, rails and atomics"), std::string::npos);
  const auto rails = sentences([](std::int32_t rank, AccessOptions& options) {
    options.port.rails = rank == 0 ? std::vector<std::string>{"lo"} : std::vector<std::string>{"lo", "lo"};
    options.port.engines = 2;
  });
  EXPECT_NE(rails[0].find("rank 1 has tcp;ofi_rxm with 2 on 2, this one tcp;ofi_rxm with 2 on 1"), std::string::npos)
      << rails[0];
  const auto unknown = sentences([](std::int32_t rank, AccessOptions& options) {
    if (rank == 1) options.port.provider.provider = "carrier_pigeon";
  });
  EXPECT_NE(unknown[0].find("rank 1 could not open a provider: the provider carrier_pigeon"), std::string::npos)
      << unknown[0];
  EXPECT_NE(unknown[1].find("the provider carrier_pigeon of libfabric has no puts"), std::string::npos) << unknown[1];
}

// Who uses memory that its owner has deregistered is told at the latest by a time limit, and other ranks are served.
TEST_F(RemoteAccessFaults, MemoryThatWasDeregisteredIsNotWritten) {
  Meeting meeting(3);
  std::vector<std::jthread> threads;
  for (std::int32_t rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      auto opened = RemoteAccess::open(rank, 3, meeting.of(rank), options_);
      ASSERT_TRUE(opened.ok()) << opened.error().sentence();
      const AccessRank self{rank, 3, **opened, meeting.of(rank)};
      std::int64_t memory = 5;
      const std::vector<AccessKey> keys = self.keys_of(reinterpret_cast<std::byte*>(&memory), 8);
      std::byte mine{}, all[3];
      if (rank == 1) {
        EXPECT_EQ(self.access.deregister_memory(keys[1]).text, "");
      }
      self.exchange(&mine, all, 1);
      if (rank == 0) {
        const std::int64_t value = 9;
        AccessCompletion open;
        const auto* const data = reinterpret_cast<const std::byte*>(&value);
        EXPECT_EQ(self.access.put(data, 8, {&keys[1], 0}, std::nullopt, &open).text, "");
        EXPECT_FALSE(self.access.fence(1, 0.5).ok()); // tcp;ofi_rxm says nothing: its connection stands still
        open = {};
        EXPECT_EQ(self.access.put(data, 8, {&keys[2], 0}, std::nullopt, &open).text, "");
        EXPECT_EQ(self.access.wait(open, limit).text, "");
        EXPECT_EQ(self.access.fence(2, limit).text, "");
      }
      self.exchange(&mine, all, 1);
      EXPECT_EQ(memory, rank == 2 ? 9 : 5);
      self.exchange(&mine, all, 1);
    });
}

// --- stores into memory that is mapped

// A page of the source of a put that cannot be read until another thread has made a call.
struct LockedPage {
  static inline std::byte* memory = nullptr;
  static inline std::atomic<bool> is_read = false, is_answered = false;
  static constexpr std::size_t page = 4096, bytes = 16 * page;

  static void answer(int, siginfo_t*, void*) {
    is_read = true;
    for (int turn = 0; turn < 50'000 && !is_answered; ++turn) usleep(100);
    mprotect(memory + bytes - page, page, PROT_READ | PROT_WRITE);
  }
};

TEST_F(RemoteAccessFaults, A_long_copy_does_not_hold_up_the_calls_of_other_threads) {
  LockedPage::memory = static_cast<std::byte*>(
      mmap(nullptr, LockedPage::bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::memset(LockedPage::memory, 3, LockedPage::bytes);
  struct sigaction handler {
  }, before{};
  handler.sa_sigaction = LockedPage::answer;
  handler.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &handler, &before);
  on_access(2, options_, [&](const AccessRank& self) {
    std::byte* memory = nullptr;
    AccessKey mine;
    ASSERT_EQ(self.access.allocate(LockedPage::bytes, memory, mine).text, "");
    const std::vector<AccessKey> keys = self.all_of(mine);
    for (const std::size_t target : {1u, 0u}) { // another rank's memory, and this one's own
      if (self.rank == 1) continue;
      LockedPage::is_read = LockedPage::is_answered = false;
      mprotect(LockedPage::memory + LockedPage::bytes - LockedPage::page, LockedPage::page, PROT_NONE);
      std::jthread other([&] {
        while (!LockedPage::is_read) usleep(100);
        std::int64_t count = 0;
        self.access.count_flags(9, count);
        LockedPage::is_answered = true;
      });
      EXPECT_EQ(self.access.put(LockedPage::memory, LockedPage::bytes, {&keys[target], 0}, 5, nullptr).text, "");
      EXPECT_TRUE(LockedPage::is_answered) << target;
    }
    EXPECT_EQ(self.access.wait_flag(5, 1, 0, limit).text, "");
    EXPECT_EQ(memory[LockedPage::bytes - 1], std::byte{3});
    EXPECT_EQ(self.access.barrier(limit).text, "");
  });
  sigaction(SIGSEGV, &before, nullptr);
  munmap(LockedPage::memory, LockedPage::bytes);
}

// The memory of a process that has ended stays mapped by the others.
TEST_F(RemoteAccessFaults, A_put_by_stores_to_a_rank_that_has_died_ends_with_an_error_that_names_it) {
  struct Shared {
    std::atomic<int> turns;
    std::array<std::array<std::byte, 4096>, 2> gathered;
  };
  auto* const shared =
      static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const auto exchange_of = [&](std::int32_t rank) {
    return [shared, rank](const void* mine, void* all, std::size_t bytes) {
      const auto meet = [&] {
        const int goal = (shared->turns++ / 2 + 1) * 2;
        while (shared->turns < goal) usleep(100);
      };
      std::memcpy(shared->gathered[static_cast<std::size_t>(rank)].data(), mine, bytes);
      meet();
      for (std::size_t each = 0; each < 2; ++each)
        std::memcpy(static_cast<std::byte*>(all) + each * bytes, shared->gathered[each].data(), bytes);
      meet();
      return 0;
    };
  };
  const auto open_memory = [&](std::int32_t rank, std::unique_ptr<RemoteAccess>& access, AccessKey* keys) {
    auto opened = RemoteAccess::open(rank, 2, exchange_of(rank), options_);
    if (!opened) return false;
    access = std::move(*opened);
    std::byte* memory = nullptr;
    AccessKey mine;
    return access->allocate(4096, memory, mine).ok() && exchange_of(rank)(&mine, keys, sizeof mine) == 0;
  };
  const pid_t child = fork();
  std::unique_ptr<RemoteAccess> access;
  AccessKey keys[2];
  if (child == 0) {
    if (!open_memory(1, access, keys)) _exit(1);
    for (;;) pause();
  }
  ASSERT_TRUE(open_memory(0, access, keys));
  const std::int64_t value = 7;
  const auto put = [&] {
    return access->put(reinterpret_cast<const std::byte*>(&value), 8, {&keys[1], 0}, 3, nullptr);
  };
  EXPECT_EQ(put().text, "");
  EXPECT_EQ(access->fence(1, limit).text, "");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  usleep(20'000);
  const std::string named = "rank 1 cannot be reached over tcp;ofi_rxm: its process has ended";
  AccessOutcome fenced = access->fence(RemoteAccess::all_ranks, limit);
  EXPECT_EQ(fenced.code, AccessCode::peer_failed);
  EXPECT_NE(fenced.text.find(named), std::string::npos) << fenced.text;
  const AccessOutcome later = put();
  EXPECT_EQ(later.code, AccessCode::peer_failed);
  EXPECT_NE(later.text.find(named), std::string::npos) << later.text;
  access.reset();
  munmap(shared, sizeof(Shared));
}

} // namespace
} // namespace kumihimo::fabric
