// The conformance suite of remote memory: every check over every transport that has it, and over broken ones, which it
// must reject.
#include "loopback/loopback.hpp"
#include "remote_memory_checks.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>

namespace kumihimo::transport {
namespace {

using testing::RemoteMemoryCheck;
using testing::World;

class LoopbackWorld : public World {
 public:
  LoopbackWorld(std::int32_t ranks, const LoopbackOptions& options) : ranks_(ranks), loopback_(ranks, options) {}
  std::int32_t ranks() const override { return ranks_; }
  Status run(const std::function<Status(Rank, Transport&)>& fn) override { return run_ranks(loopback_, ranks_, fn); }

 private:
  std::int32_t ranks_;
  Loopback loopback_;
};

LoopbackOptions with_delays(std::uint64_t seed) {
  LoopbackOptions options;
  options.delays = true;
  options.seed = seed;
  return options;
}

// --- the transports

struct Row {
  std::string name;
  std::unique_ptr<World> (*make)(std::int32_t ranks);
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"loopback",
       [](std::int32_t ranks) -> std::unique_ptr<World> {
         return std::make_unique<LoopbackWorld>(ranks, LoopbackOptions{});
       }},
      {"loopback_with_delays_1",
       [](std::int32_t ranks) -> std::unique_ptr<World> {
         return std::make_unique<LoopbackWorld>(ranks, with_delays(1));
       }},
      {"loopback_with_delays_2",
       [](std::int32_t ranks) -> std::unique_ptr<World> {
         return std::make_unique<LoopbackWorld>(ranks, with_delays(2));
       }},
  };
  return all;
}

class RemoteMemoryTest : public ::testing::TestWithParam<std::tuple<Row, RemoteMemoryCheck>> {};

TEST_P(RemoteMemoryTest, Conforms) {
  const auto& [row, check] = GetParam();
  const std::unique_ptr<World> world = row.make(check.ranks);
  const Status status = check.run(*world);
  EXPECT_TRUE(status.ok()) << status.error().sentence();
}

INSTANTIATE_TEST_SUITE_P(Transports, RemoteMemoryTest,
                         ::testing::Combine(::testing::ValuesIn(rows()),
                                            ::testing::ValuesIn(testing::remote_memory_checks())),
                         [](const auto& tested) {
                           return std::get<0>(tested.param).name + "_" + std::get<1>(tested.param).name;
                         });

// --- sabotage

enum class Fault {
  flag_before_data,
  no_credits,
  flag_counted_twice,
  unflagged_puts_late,
  wrong_length,
  early_completion
};

// A transport whose remote memory does one thing wrong.
class Broken final : public Transport, public RemoteMemory {
 public:
  Broken(Transport& below, Fault fault) : below_(below), memory_(*below.remote_memory()), fault_(fault) {}

  Status prepare(const Demands& demands) override { return below_.prepare(demands); }
  std::uint64_t begin(Stream stream) override { return below_.begin(stream); }
  void send(SendRequest& message) override { below_.send(message); }
  void receive(ReceiveRequest& message) override { below_.receive(message); }
  Progress progress() override {
    const Progress moved = below_.progress();
    if (moved == Progress::failed || late_.empty()) return moved;
    if (may_issue(late_.front())) issue_first_late();
    return Progress::moved;
  }
  void idle() override {
    if (late_.empty()) below_.idle();
  }
  bool has_failed() const override { return below_.has_failed(); }
  Error error() const override { return below_.error(); }
  RemoteMemory* remote_memory() override { return this; }

  Result<MemoryKey> register_memory(std::byte* data, std::int64_t bytes) override {
    return memory_.register_memory(data, bytes);
  }
  void deregister_memory(MemoryKey key) override { memory_.deregister_memory(key); }
  void grant(Rank sender, std::int32_t channel, MemoryKey key, std::int64_t slots) override {
    memory_.grant(sender, channel, key, slots);
  }
  std::int64_t flags(Rank sender, std::int32_t channel) override {
    return memory_.flags(sender, channel) * (fault_ == Fault::flag_counted_twice ? 2 : 1);
  }
  Credits credits(Rank receiver, std::int32_t channel) override { return memory_.credits(receiver, channel); }

  void put(PutRequest& request) override {
    if (fault_ == Fault::early_completion && !late_.empty()) issue_first_late(); // its source has changed by now
    PutRequest changed = request;
    switch (fault_) {
    case Fault::flag_before_data:
      if (request.flag && request.bytes > 0) {
        PutRequest& flag = keep(changed);
        flag.bytes = 0;
        flag.open = &ignored_;
        memory_.put(flag);
        changed.flag = false;
        return delay(changed);
      }
      break;
    case Fault::no_credits: changed.slot = PutRequest::no_slot; break;
    case Fault::unflagged_puts_late:
      if (!request.flag) return delay(changed);
      break;
    case Fault::wrong_length:
      if (changed.bytes > 1) --changed.bytes;
      break;
    case Fault::early_completion:
      request.complete();
      changed.open = &ignored_;
      return delay(changed);
    case Fault::flag_counted_twice: break;
    }
    issue(changed);
  }

 private:
  struct Late {
    PutRequest put;
    std::chrono::steady_clock::time_point since;
  };
  // Once the receiver has accepted the slot without these data; or after a while, to end.
  bool may_issue(const Late& late) {
    const bool accepted =
        late.put.slot >= 0 && memory_.credits(late.put.target, late.put.channel).slots > late.put.slot + 1;
    return accepted || std::chrono::steady_clock::now() - late.since > std::chrono::seconds(2);
  }
  void issue_first_late() {
    const PutRequest put = late_.front().put;
    late_.pop_front();
    issue(put);
  }
  PutRequest& keep(const PutRequest& put) { return kept_.emplace_back(put); }
  void issue(const PutRequest& put) { memory_.put(keep(put)); }
  void delay(const PutRequest& put) { late_.push_back({put, std::chrono::steady_clock::now()}); }

  Transport& below_;
  RemoteMemory& memory_;
  Fault fault_;
  std::deque<PutRequest> kept_;
  std::deque<Late> late_;
  std::int32_t ignored_ = 0;
};

class BrokenWorld final : public LoopbackWorld {
 public:
  BrokenWorld(std::int32_t ranks, Fault fault) : LoopbackWorld(ranks, {}), fault_(fault) {}
  Status run(const std::function<Status(Rank, Transport&)>& fn) override {
    return LoopbackWorld::run([&](Rank rank, Transport& transport) {
      Broken broken(transport, fault_);
      return fn(rank, broken);
    });
  }

 private:
  Fault fault_;
};

bool rejects(const std::string& name, Fault fault) {
  for (const RemoteMemoryCheck& check : testing::remote_memory_checks())
    if (check.name == name) {
      BrokenWorld world(check.ranks, fault);
      return !check.run(world);
    }
  ADD_FAILURE() << "no check " << name;
  return false;
}

TEST(RemoteMemorySabotage, Is_found) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "broken transports race, and read freed memory";
#endif
  const std::vector<std::pair<Fault, std::string>> faults = {
      {Fault::flag_before_data, "shows_the_data_before_the_flag"},
      {Fault::no_credits, "holds_a_put_until_its_slot_is_granted"},
      {Fault::flag_counted_twice, "counts_each_flag_once"},
      {Fault::unflagged_puts_late, "shows_the_data_before_the_flag"},
      {Fault::wrong_length, "writes_the_bytes_and_no_others"},
      {Fault::early_completion, "lets_the_source_change_after_completion"},
  };
  for (const auto& [fault, check] : faults)
    EXPECT_TRUE(rejects(check, fault)) << check << " passes over a broken transport";
}

TEST(RemoteMemoryDeadlock, Is_an_error_that_names_the_missing_credit) {
  LoopbackWorld world(2, {});
  std::byte memory{};
  const Status status = world.run([&](Rank rank, Transport& transport) -> Status {
    RemoteMemory& remote = *transport.remote_memory();
    if (rank == Rank{1}) remote.grant(Rank{0}, 3, *remote.register_memory(&memory, 1), 1);
    std::int32_t open = 1;
    PutRequest put{.target = Rank{1}, .channel = 3, .slot = 5, .flag = true, .open = &open};
    if (rank == Rank{0}) remote.put(put);
    for (;;) {
      if (transport.progress() == Transport::Progress::failed) return transport.error();
      transport.idle();
    }
  });
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().sentence().find("rank 0 waits for the credit of slot 5 of channel 3 to rank 1"),
            std::string::npos)
      << status.error().sentence();
}

} // namespace
} // namespace kumihimo::transport
