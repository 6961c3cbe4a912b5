// Remote memory of users' programs: what is refused, time limits, memory that is mapped, and ranks that have died.
#include "access_ranks.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>

namespace kumihimo::fabric {
namespace {

using namespace testing; // NOLINT(google-build-using-namespace)

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
