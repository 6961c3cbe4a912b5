// Two-sided messages over the providers of libfabric that this machine has: matching, reductions, credits, lengths that
// differ, two communicators in two threads, a process that dies.
#include "fabric/messages.hpp"
#include "port_threads.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

namespace kumihimo::fabric {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::byte> content(std::int64_t bytes, std::uint32_t seed) {
  std::vector<std::byte> data(static_cast<std::size_t>(bytes));
  std::minstd_rand random(seed + 1);
  for (std::byte& b : data) b = static_cast<std::byte>(random());
  return data;
}

void exclusive_or(const void*, const void* left, const void* right, void* target, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    static_cast<unsigned char*>(target)[i] =
        static_cast<const unsigned char*>(left)[i] ^ static_cast<const unsigned char*>(right)[i];
}

// One message that both ends know.
struct Planned {
  std::int32_t from = 0, to = 0;
  std::int64_t segment = 0, bytes = 0;
  bool reduced = false, in_pieces = false;
};

struct MessageEnd {
  Planned plan;
  bool sends = false;
  std::int32_t open = 1;
  std::vector<std::byte> data, own;
  std::vector<transport::Piece> pieces;
  transport::SendRequest send;
  transport::ReceiveRequest receive;
  transport::Reduction reduction;

  MessageEnd(const Planned& planned, bool is_sender) : plan(planned), sends(is_sender) {
    transport::TransferRequest& common = sends ? static_cast<transport::TransferRequest&>(send) : receive;
    common.key.peer = Rank{sends ? plan.to : plan.from};
    common.key.segment = plan.segment;
    common.key.instance = 2;
    common.key.lane = LaneId{static_cast<std::int32_t>(plan.segment % 3)};
    common.key.signal = plan.bytes == 0;
    common.bytes = plan.bytes;
    common.open = &open;
    if (!sends) {
      data.assign(static_cast<std::size_t>(plan.bytes), std::byte{0xee});
      receive.copy_into({data.data(), nullptr, 0}, 1);
      if (!plan.reduced) return;
      own.assign(data.size(), std::byte{0x5a});
      reduction.function = exclusive_or;
      receive.reduce_into({data.data(), nullptr, 0}, {own.data(), nullptr, 0}, &reduction, false, 1);
      return;
    }
    data = content(plan.bytes, seed());
    const std::int64_t cut = plan.in_pieces ? plan.bytes / 3 + 1 : std::max<std::int64_t>(plan.bytes, 1);
    for (std::int64_t at = 0; at < plan.bytes; at += cut)
      pieces.push_back({data.data() + at, std::min(cut, plan.bytes - at)});
    if (!pieces.empty()) send.only = pieces.front();
    send.first_piece = pieces.data();
    send.piece_count = static_cast<std::int32_t>(pieces.size());
  }
  std::uint32_t seed() const { return static_cast<std::uint32_t>(plan.segment * 17 + plan.from * 5 + plan.to); }
  bool is_right() const {
    std::vector<std::byte> expected = content(plan.bytes, seed());
    if (plan.reduced)
      for (std::byte& b : expected) b ^= std::byte{0x5a};
    return data == expected;
  }
};

std::vector<Planned> all_pairs(std::int32_t ranks, const std::vector<std::int64_t>& sizes) {
  std::vector<Planned> plans;
  for (std::int32_t from = 0; from < ranks; ++from)
    for (std::int32_t to = 0; to < ranks; ++to)
      for (std::size_t i = 0; from != to && i < sizes.size(); ++i)
        plans.push_back({from, to, static_cast<std::int64_t>(i), sizes[i], i % 3 == 1, i % 4 == 2});
  return plans;
}

Status wait_for(FabricMessages& messages, const std::deque<MessageEnd>& ends) {
  const auto late = Clock::now() + testing::time_limit;
  while (std::any_of(ends.begin(), ends.end(), [](const MessageEnd& end) { return end.open != 0; })) {
    messages.progress();
    if (messages.error()) return *messages.error();
    if (Clock::now() > late) return failed("the time limit of a test is over");
    std::this_thread::yield();
  }
  return Nothing{};
}

// One rank's part, in a random order of starting.
Status exchange(FabricMessages& messages, std::int32_t rank, const std::vector<Planned>& plans, unsigned seed,
                bool sends_first = false) {
  std::deque<MessageEnd> ends;
  for (const Planned& plan : plans)
    for (const bool sends : {true, false})
      if ((sends ? plan.from : plan.to) == rank) ends.emplace_back(plan, sends);
  std::vector<std::size_t> order(ends.size());
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937 random(seed * 31 + static_cast<unsigned>(rank));
  std::shuffle(order.begin(), order.end(), random);
  if (sends_first) std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return ends[i].sends; });
  for (const std::size_t i : order) {
    MessageEnd& end = ends[i];
    end.sends ? messages.send(end.send) : messages.receive(end.receive);
    if (random() % 3 == 0) messages.progress();
  }
  if (sends_first) // so that some come long before their receive
    for (int turn = 0; turn < 1000; ++turn) messages.progress();
  if (Status status = wait_for(messages, ends); !status) return status;
  for (const MessageEnd& end : ends)
    if (!end.sends && !end.is_right()) return failed("wrong bytes", describe(end.receive.key, false));
  return Nothing{};
}

class RanksOfMessages {
 public:
  RanksOfMessages(std::int32_t ranks, const PortOptions& options, std::uint32_t networks = 1)
      : ports_(testing::open_ports(ranks, options)), ranks_(ranks) {
    for (std::uint32_t network = 1; network <= networks; ++network)
      for (std::int32_t r = 0; r < ranks; ++r)
        all_.push_back(
            std::make_unique<FabricMessages>(ports_.ports[static_cast<std::size_t>(r)], ports_.ranks(r, network)));
  }
  FabricMessages& of(std::int32_t rank, std::int32_t network = 0) {
    return *all_[static_cast<std::size_t>(network * ranks_ + rank)];
  }
  FabricPort& port(std::int32_t rank) { return *ports_.ports[static_cast<std::size_t>(rank)]; }
  Status run(const std::function<Status(std::int32_t, FabricMessages&)>& fn, std::int32_t network = 0) {
    std::atomic<bool> any_failed = false;
    return testing::run_threads(
        ranks_, [&](std::int32_t r) { return fn(r, of(r, network)); },
        [&](std::int32_t r) {
          FabricMessages& messages = of(r, network);
          return messages.progress(), messages.error() || messages.drained();
        },
        any_failed);
  }
  void close() { all_.clear(); } // the ports stay
  void free(std::int32_t rank, std::int32_t network) {
    all_[static_cast<std::size_t>(network * ranks_ + rank)].reset();
  }

 private:
  testing::PortsOfRanks ports_;
  std::int32_t ranks_;
  std::vector<std::unique_ptr<FabricMessages>> all_;
};

struct MessageRow {
  std::string name, provider;
  bool flags_by_messages = false, orders_nothing = false;
  std::vector<std::string> rails = {};
};

PortOptions options_of(const MessageRow& row) {
  PortOptions options;
  options.provider.provider = row.provider;
  options.flags_by_messages = row.flags_by_messages;
  options.orders_nothing = row.orders_nothing;
  options.rails = row.rails;
  return options;
}

class FabricMessagesTest : public ::testing::TestWithParam<MessageRow> {
 protected:
  void SetUp() override {
    if (const std::string why = testing::obstacle(GetParam().provider); !why.empty()) GTEST_SKIP() << why;
  }
  PortOptions options() const { return options_of(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Providers, FabricMessagesTest,
                         ::testing::Values(MessageRow{"rxm", "tcp;ofi_rxm"},
                                           MessageRow{"rxm_with_flags_by_messages", "tcp;ofi_rxm", true, false},
                                           MessageRow{"rxm_by_delivery", "tcp;ofi_rxm", true, true},
                                           MessageRow{"rxm_on_two_rails", "tcp;ofi_rxm", false, false, {"lo", "lo"}},
                                           MessageRow{"net", "net"}, MessageRow{"shm", "shm"}),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(FabricMessagesTest, All_messages_of_three_ranks_arrive_in_any_order_of_starting) {
  const std::vector<std::int64_t> sizes = {0, 1, 200, 4096, 4097, 70'000, 300'000, 1 << 20, 524'288, 24, 0, 4100};
  RanksOfMessages ranks(3, options());
  for (unsigned seed = 0; seed < 5; ++seed) {
    const Status status = ranks.run([&](std::int32_t r, FabricMessages& messages) {
      std::vector<Planned> plans = all_pairs(3, sizes);
      for (Planned& plan : plans) plan.segment += seed * 100;
      return exchange(messages, r, plans, seed);
    });
    ASSERT_TRUE(status.ok()) << status.error().sentence();
  }
}

// More short messages than a peer has slots for, all before the first receive.
TEST_P(FabricMessagesTest, Short_messages_without_a_slot_wait_for_their_receivers) {
  RanksOfMessages ranks(2, options());
  const std::vector<std::int64_t> sizes(static_cast<std::size_t>(3 * ChannelSizes{}.large_slots), 40);
  const Status status = ranks.run(
      [&](std::int32_t r, FabricMessages& messages) { return exchange(messages, r, all_pairs(2, sizes), 3, true); });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
}

TEST_P(FabricMessagesTest, Channels_come_with_the_first_message_and_grow_with_their_use) {
  RanksOfMessages ranks(3, options());
  const auto pair_alone = [](std::int64_t first, std::size_t count) {
    std::vector<Planned> plans = all_pairs(2, std::vector<std::int64_t>(count, 500));
    for (Planned& plan : plans) plan.segment += first;
    return plans;
  };
  const auto run = [&](const std::vector<Planned>& plans) {
    const Status status =
        ranks.run([&](std::int32_t r, FabricMessages& messages) { return exchange(messages, r, plans, 4); });
    EXPECT_TRUE(status.ok()) << status.error().sentence();
  };
  EXPECT_EQ(ranks.port(0).channel_bytes(), 0);
  run(pair_alone(0, 3));
  EXPECT_EQ(ranks.port(0).channels().mode_of(0), ChannelMode::small);
  EXPECT_EQ(ranks.port(0).channel_bytes(), 2048);
  for (std::int64_t turn = 1; turn <= 3; ++turn) run(pair_alone(turn * 100, 20));
  EXPECT_EQ(ranks.port(0).channels().mode_of(0), ChannelMode::large);
  EXPECT_EQ(ranks.port(0).channel_bytes(), 1 << 20);
  EXPECT_EQ(ranks.port(2).channel_bytes(), 0) << "nobody sent to it";
}

TEST_P(FabricMessagesTest, The_receiver_alone_is_told_of_another_length_and_the_sender_goes_on) {
  for (const auto& [sent, expected, early] : {std::tuple{100, 400, false},
                                              {100, 100'000, false},
                                              {100'000, 100, false},
                                              {100'000, 200'000, false},
                                              {100, 100'000, true},
                                              {100'000, 200'000, true},
                                              {200'000, 100'000, true}}) {
    RanksOfMessages ranks(2, options());
    std::string found;
    ranks
        .run([&, sent = sent, expected = expected, early = early](std::int32_t r, FabricMessages& messages) -> Status {
          std::deque<MessageEnd> ends;
          ends.emplace_back(Planned{0, 1, 0, r == 0 ? sent : expected}, r == 0);
          const transport::EarlyReceive place{ends[0].receive.key, ends[0].data.data(), expected, 1};
          if (r == 1 && early) messages.expect(std::span(&place, 1));
          r == 0 ? messages.send(ends[0].send) : messages.receive(ends[0].receive);
          const Status status = wait_for(messages, ends);
          if (r == 0) return status;
          if (!status) found = status.error().sentence();
          const bool untouched =
              std::all_of(ends[0].data.begin(), ends[0].data.end(), [](std::byte b) { return b == std::byte{0xee}; });
          return untouched ? Status(Nothing{}) : Status(failed("bytes of another length were written"));
        })
        .ok();
    EXPECT_NE(found.find("from rank 0 needs " + std::to_string(expected) + " bytes"), std::string::npos) << found;
    EXPECT_NE(found.find(std::to_string(sent) + " bytes arrived"), std::string::npos) << found;
  }
}

// Each thread of a rank drives a communicator of its own, over one port.
TEST_P(FabricMessagesTest, Two_communicators_in_two_threads_share_a_port) {
  RanksOfMessages ranks(2, options(), 2);
  std::vector<std::thread> threads;
  std::atomic<int> ended = 0, good = 0;
  for (std::int32_t r = 0; r < 2; ++r)
    for (std::int32_t network = 0; network < 2; ++network)
      threads.emplace_back([&, r, network] {
        FabricMessages& messages = ranks.of(r, network);
        for (unsigned round = 0; round < 10; ++round) {
          std::vector<Planned> plans = all_pairs(2, {8, 5000, 100'000, 0, 300});
          for (Planned& plan : plans) plan.segment += round * 10 + static_cast<unsigned>(network) * 1000;
          good += exchange(messages, r, plans, round).ok();
        }
        ++ended;
        while (ended < 4) messages.progress(), std::this_thread::yield();
      });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 40);
}

TEST_P(FabricMessagesTest, A_peer_is_met_at_the_first_message_and_no_sooner) {
  RanksOfMessages ranks(3, options());
  EXPECT_EQ(ranks.of(0).met(), 0);
  const Status status = ranks.run([&](std::int32_t r, FabricMessages& messages) -> Status {
    return r == 2 ? Status(Nothing{}) : exchange(messages, r, {Planned{0, 1, 0, 100}}, 1);
  });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
  EXPECT_EQ(ranks.of(0).met(), 1);
  EXPECT_EQ(ranks.of(2).met(), 0);
}

// A time limit counts from the last message that moved.
TEST_P(FabricMessagesTest, Pings_to_a_rank_that_does_not_send_are_no_movement) {
  RanksOfMessages ranks(2, options());
  std::atomic<bool> over = false;
  std::int64_t moved = -1;
  const Status status = ranks.run([&](std::int32_t r, FabricMessages& messages) -> Status {
    if (Status s = exchange(messages, r, {Planned{1, 0, 0, 100}}, 1); !s) return s;
    const auto turn_until = [&](const auto& done) {
      std::int64_t turns = 0;
      for (; !done(); std::this_thread::yield()) turns += messages.progress();
      return turns;
    };
    std::deque<MessageEnd> late;
    late.emplace_back(Planned{1, 0, 1, 100}, r == 1);
    if (r == 0) {
      messages.receive(late[0].receive);
      turn_until([&, until = Clock::now() + std::chrono::milliseconds(100)] { return Clock::now() > until; });
      moved = turn_until([&, until = Clock::now() + std::chrono::milliseconds(1300)] { return Clock::now() > until; });
      over = true;
    } else {
      turn_until([&] { return over.load(); });
      messages.send(late[0].send);
    }
    return wait_for(messages, late);
  });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
  EXPECT_EQ(moved, 0);
}

// --- places told ahead

// A call: messages between all pairs, of which receivers expect some early; the buffers stay from call to call.
struct EarlyCall {
  std::vector<Planned> plans;
  std::vector<bool> early; // of each plan
  std::uint64_t instance = 0;
  bool uses_other_buffers = false;
};

std::vector<EarlyCall> random_calls(std::int32_t ranks, unsigned seed, int count) {
  std::mt19937 random(seed);
  std::vector<Planned> plans = all_pairs(ranks, {100'000, 300'001, 8, 17'000, 0, 20'000});
  std::vector<bool> early;
  for (std::size_t i = 0; i < plans.size(); ++i) early.push_back(random() % 4 != 0);
  std::vector<EarlyCall> calls;
  for (int call = 0; call < count; ++call) {
    EarlyCall& made = calls.emplace_back(EarlyCall{plans, early, 2 * static_cast<std::uint64_t>(call) + 2, false});
    made.uses_other_buffers = random() % 4 == 0;
  }
  return calls;
}

// One rank's part of a call. Sends and receives start in a random order, and what was expected comes before its
// receive.
Status call_once(FabricMessages& messages, std::int32_t rank, const EarlyCall& call,
                 std::map<std::size_t, std::vector<std::byte>>& buffers, unsigned seed) {
  std::deque<MessageEnd> ends;
  std::vector<transport::EarlyReceive> expected;
  for (std::size_t i = 0; i < call.plans.size(); ++i)
    for (const bool sends : {true, false}) {
      const Planned& plan = call.plans[i];
      if ((sends ? plan.from : plan.to) != rank) continue;
      MessageEnd& end = ends.emplace_back(plan, sends);
      transport::TransferRequest& common = sends ? static_cast<transport::TransferRequest&>(end.send) : end.receive;
      common.key.instance = call.instance;
      if (sends) continue;
      std::vector<std::byte>& buffer = buffers[2 * i + call.uses_other_buffers];
      buffer.resize(static_cast<std::size_t>(plan.bytes));
      std::fill(buffer.begin(), buffer.end(), std::byte{0xee});
      if (plan.reduced)
        end.receive.reduce_into({buffer.data(), nullptr, 0}, {end.own.data(), nullptr, 0}, &end.reduction, false, 1);
      else
        end.receive.copy_into({buffer.data(), nullptr, 0}, 1);
      if (call.early[i] && plan.bytes >= messages.early_bytes())
        expected.push_back({common.key, plan.reduced ? nullptr : buffer.data(), plan.bytes, 1});
    }
  messages.expect(expected);
  std::vector<std::size_t> order(ends.size());
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937 random(seed * 31 + static_cast<unsigned>(rank));
  std::shuffle(order.begin(), order.end(), random);
  for (const std::size_t i : order) {
    for (auto turns = random() % 60; turns > 0; --turns) messages.progress();
    ends[i].sends ? messages.send(ends[i].send) : messages.receive(ends[i].receive);
  }
  if (Status status = wait_for(messages, ends); !status) return status;
  std::size_t at = 0;
  for (std::size_t i = 0; i < call.plans.size(); ++i)
    for (const bool sends : {true, false}) {
      const Planned& plan = call.plans[i];
      if ((sends ? plan.from : plan.to) != rank) continue;
      MessageEnd& end = ends[at++];
      if (sends) continue;
      end.data = buffers[2 * i + call.uses_other_buffers];
      if (!end.is_right()) return failed("wrong bytes", describe(end.receive.key, false));
    }
  return Nothing{};
}

Status make_calls(FabricMessages& messages, std::int32_t rank, const std::vector<EarlyCall>& calls, unsigned seed) {
  std::map<std::size_t, std::vector<std::byte>> buffers;
  for (const EarlyCall& call : calls)
    if (Status status = call_once(messages, rank, call, buffers, ++seed); !status) return status;
  return Nothing{};
}

// With places told ahead, forgotten after each call, and told for each message: the same bytes.
TEST_P(FabricMessagesTest, Calls_on_two_buffers_get_the_right_bytes_however_their_places_are_told) {
  for (const auto& [opens, forgets] : {std::pair{true, false}, {true, true}, {false, false}}) {
    PortOptions how = options();
    how.opens_places = opens;
    how.forgets_places = forgets;
    RanksOfMessages ranks(3, how);
    for (unsigned seed = 0; seed < 2; ++seed) {
      std::vector<EarlyCall> calls = random_calls(3, seed, 5);
      for (EarlyCall& call : calls) call.instance += 1000 * seed;
      const Status status = ranks.run(
          [&](std::int32_t r, FabricMessages& messages) { return make_calls(messages, r, calls, seed * 100); });
      ASSERT_TRUE(status.ok()) << status.error().sentence();
    }
    if (forgets || !opens) {
      EXPECT_EQ(ranks.of(0).places(), 0u);
      EXPECT_EQ(ranks.of(0).descriptions() > 0, opens);
    } else {
      EXPECT_GT(ranks.of(0).places(), 0u);
      EXPECT_LE(ranks.of(0).descriptions(), 2 * 2 * 2) << "two buffers, two senders, two runs with memory of their own";
    }
  }
}

// The sender alone runs ahead: it waits until the receiver's call has begun.
TEST_P(FabricMessagesTest, No_put_comes_before_the_call_of_its_receiver) {
  RanksOfMessages ranks(2, options());
  std::atomic<int> sender_waits = 0;
  std::vector<std::byte> buffer(100'000);
  const Status status = ranks.run([&](std::int32_t r, FabricMessages& messages) -> Status {
    for (std::uint64_t call = 0; call < 5; ++call) {
      std::deque<MessageEnd> ends;
      MessageEnd& end = ends.emplace_back(Planned{0, 1, 0, 100'000}, r == 0);
      (r == 0 ? static_cast<transport::TransferRequest&>(end.send) : end.receive).key.instance = 2 * call + 2;
      if (r == 0) {
        messages.send(end.send);
        for (int turn = 0; turn < 200; ++turn) messages.progress();
        ++sender_waits;
      } else {
        std::fill(buffer.begin(), buffer.end(), std::byte{0xee});
        while (sender_waits <= static_cast<int>(call)) messages.progress(), std::this_thread::yield();
        for (int turn = 0; turn < 200; ++turn) messages.progress();
        if (std::any_of(buffer.begin(), buffer.end(), [](std::byte b) { return b != std::byte{0xee}; }))
          return failed("a put came before the call");
        end.receive.copy_into({buffer.data(), nullptr, 0}, 1);
        const transport::EarlyReceive expected{end.receive.key, buffer.data(), 100'000, 1};
        messages.expect(std::span(&expected, 1));
        messages.receive(end.receive);
      }
      if (Status ended = wait_for(messages, ends); !ended) return ended;
      if (r == 1 && buffer != content(100'000, end.seed())) return failed("wrong bytes");
    }
    return Nothing{};
  });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
  EXPECT_EQ(ranks.of(1).descriptions(), 1);
}

// A buffer that moves: what senders keep stays bounded, and numbers of the port come back.
TEST_P(FabricMessagesTest, Places_of_a_buffer_that_moves_are_forgotten) {
  PortOptions few = options();
  few.most_places = 4;
  RanksOfMessages ranks(2, few);
  constexpr std::int64_t bytes = 17'000, calls = 40;
  std::vector<std::byte> memory(static_cast<std::size_t>(bytes + calls));
  const Status status = ranks.run([&](std::int32_t r, FabricMessages& messages) -> Status {
    for (std::int64_t call = 0; call < calls; ++call) {
      std::deque<MessageEnd> ends;
      MessageEnd& end = ends.emplace_back(Planned{0, 1, call, bytes}, r == 0);
      if (r == 1) {
        end.receive.copy_into({memory.data() + call, nullptr, 0}, 1);
        const transport::EarlyReceive expected{end.receive.key, memory.data() + call, bytes, 1};
        messages.expect(std::span(&expected, 1));
      }
      r == 0 ? messages.send(end.send) : messages.receive(end.receive);
      if (Status ended = wait_for(messages, ends); !ended) return ended;
      const std::vector<std::byte> sent = content(bytes, end.seed());
      if (r == 1 && !std::equal(sent.begin(), sent.end(), memory.begin() + call)) return failed("wrong bytes");
    }
    return Nothing{};
  });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
  EXPECT_EQ(ranks.of(1).descriptions(), calls);
  EXPECT_LE(ranks.of(1).places(), 4u);
  EXPECT_LE(ranks.port(1).numbers_taken(), 4u);
}

EarlyCall call_of(std::vector<Planned> plans, std::uint64_t instance) {
  const std::size_t n = plans.size();
  return {std::move(plans), std::vector<bool>(n, true), instance, false};
}

// What one communicator keeps leaves no room for another, which tells its places one by one.
TEST_P(FabricMessagesTest, Buffers_of_places_are_limited_for_all_communicators_together) {
  PortOptions few = options();
  few.most_kept_bytes = 40'000;
  RanksOfMessages ranks(2, few, 2);
  const auto make = [&](std::int64_t bytes, std::uint64_t instance, std::int32_t network) {
    const std::vector<EarlyCall> calls{call_of({{0, 1, 0, bytes, true}, {0, 1, 1, bytes, true}}, instance)};
    return ranks.run([&](std::int32_t r, FabricMessages& messages) { return make_calls(messages, r, calls, 1); },
                     network);
  };
  ASSERT_TRUE(make(17'000, 2, 0).ok());
  EXPECT_EQ(ranks.port(1).kept_bytes(), 34'000);
  ASSERT_TRUE(make(17'000, 2, 1).ok());
  EXPECT_EQ(ranks.of(1, 1).descriptions(), 0);
  EXPECT_EQ(ranks.of(1, 0).places(), 2u) << "they are not another's to forget";
  ASSERT_TRUE(make(18'000, 4, 0).ok());
  EXPECT_EQ(ranks.port(1).kept_bytes(), 36'000) << "its own earlier list is forgotten";
  EXPECT_EQ(ranks.of(1, 0).descriptions(), 2);
}

TEST_P(FabricMessagesTest, A_call_registers_no_more_at_once_than_the_limit_where_pages_are_pinned) {
  for (const auto& [most, descriptions] : {std::pair{10'000, 0}, {20'000, 1}}) {
    PortOptions few = options();
    few.forgets_places = true;
    few.most_pinned_bytes = most;
    RanksOfMessages ranks(2, few);
    const std::vector<EarlyCall> calls{call_of({{0, 1, 0, 17'000}, {0, 1, 1, 17'000}}, 2)};
    const Status status =
        ranks.run([&](std::int32_t r, FabricMessages& messages) { return make_calls(messages, r, calls, 1); });
    ASSERT_TRUE(status.ok()) << status.error().sentence();
    EXPECT_EQ(ranks.of(1).descriptions(), descriptions);
  }
}

TEST_P(FabricMessagesTest, A_failed_communicator_gives_back_the_places_to_which_nothing_is_under_way) {
  RanksOfMessages ranks(2, options());
  const std::vector<EarlyCall> calls{call_of({{0, 1, 0, 17'000, true}, {0, 1, 1, 17'000}}, 2)};
  ASSERT_TRUE(
      ranks.run([&](std::int32_t r, FabricMessages& messages) { return make_calls(messages, r, calls, 1); }).ok());
  EXPECT_EQ(ranks.port(1).numbers_taken(), 2u);
  for (const std::int32_t r : {0, 1}) ranks.of(r).abandon(failed("somebody else failed"));
  ranks.close();
  EXPECT_EQ(ranks.port(1).numbers_taken(), 0u);
  EXPECT_EQ(ranks.port(1).kept_bytes(), 0);
}

// Communicators share the slots: what one of them leaves full, all others lack.
class SlotsOfAFailedCommunicator : public FabricMessagesTest {
 protected:
  static constexpr std::int32_t failing = 0, other = 1; // communicators
  static constexpr int count = 10;

  void SetUp() override {
    FabricMessagesTest::SetUp();
    if (IsSkipped()) return;
    ranks_ = std::make_unique<RanksOfMessages>(2, options(), 2);
    for (std::int64_t turn = 0; turn < 4; ++turn) ASSERT_TRUE(exchange_on(other, turn * 100)) << turn;
    ASSERT_EQ(ranks_->port(1).channels().mode_of(peer), ChannelMode::large);
  }
  bool exchange_on(std::int32_t network, std::int64_t first) {
    std::vector<Planned> plans = all_pairs(2, std::vector<std::int64_t>(20, 40));
    for (Planned& plan : plans) plan.segment += first;
    const auto part = [&](std::int32_t r, FabricMessages& messages) { return exchange(messages, r, plans, 1); };
    return ranks_->run(part, network).ok();
  }
  // Rank 0 sends messages that rank 1 does not expect, until all have come; rank 1 drives one communicator alone, so
  // those of the other stay in its inbox.
  void send(std::int32_t driven) {
    const std::int64_t slots_before = ranks_->port(0).channels().slots_to(peer);
    const std::int64_t arrived_before = filled();
    for (int i = 0; i < count; ++i)
      ranks_->of(0, failing).send(ends_.emplace_back(Planned{0, 1, 1000 + std::ssize(ends_), 40}, true).send);
    ASSERT_EQ(ranks_->port(0).channels().slots_to(peer), slots_before - count) << "not all are eager";
    const std::int64_t expected = arrived_before + (fails_at_once(driven) ? 0 : count);
    turn_until(driven, [&] { return ranks_->of(0, failing).drained() && filled() == expected; });
  }
  template <typename Done>
  void turn_until(std::int32_t driven, const Done& done) {
    const auto late = Clock::now() + testing::time_limit;
    for (int after = 0; after < 200; after += done() ? 1 : 0) {
      ASSERT_LT(Clock::now(), late);
      ranks_->of(0, failing).progress();
      ranks_->of(0, other).progress();
      ranks_->of(1, driven).progress();
    }
  }
  bool fails_at_once(std::int32_t driven) { return driven == failing && ranks_->of(1, failing).error(); }
  std::int64_t filled() { return ranks_->port(1).channels().slots_filled_by(peer); }
  void expect_all_slots_empty() {
    turn_until(other, [&] { return filled() == 0; });
    EXPECT_EQ(ranks_->port(1).kept_messages(), 0);
    EXPECT_EQ(ranks_->port(0).channels().slots_to(peer) + ranks_->port(1).channels().slots_owed_to(peer),
              ChannelSizes{}.large_slots);
    EXPECT_EQ(ranks_->port(1).channels().violation(), "");
    EXPECT_TRUE(exchange_on(other, 5000));
  }

  static constexpr PeerId peer = 0; // the one that each port has met
  std::unique_ptr<RanksOfMessages> ranks_;
  std::deque<MessageEnd> ends_;
};

INSTANTIATE_TEST_SUITE_P(Providers, SlotsOfAFailedCommunicator,
                         ::testing::Values(MessageRow{"rxm", "tcp;ofi_rxm"}, MessageRow{"net", "net"},
                                           MessageRow{"shm", "shm"}),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(SlotsOfAFailedCommunicator, Are_empty_of_messages_that_came_before_and_after) {
  send(failing);
  EXPECT_EQ(ranks_->port(1).kept_messages(), count);
  send(other);
  EXPECT_EQ(filled(), 2 * count) << "half of them in the inbox";
  ranks_->of(1, failing).abandon(failed("somebody else failed"));
  EXPECT_EQ(ranks_->port(1).kept_messages(), 0);
  EXPECT_EQ(filled(), count) << "those of the inbox";
  turn_until(failing, [&] { return filled() == 0; });
  send(failing);
  expect_all_slots_empty();
}

TEST_P(SlotsOfAFailedCommunicator, Are_empty_when_it_is_freed_with_messages_kept_and_in_its_inbox) {
  send(failing);
  send(other);
  ASSERT_EQ(filled(), 2 * count);
  ranks_->free(1, failing);
  EXPECT_EQ(filled(), 0);
  for (int i = 0; i < count; ++i) // to one that is no more
    ranks_->of(0, failing).send(ends_.emplace_back(Planned{0, 1, 1000 + std::ssize(ends_), 40}, true).send);
  turn_until(other, [&] { return ranks_->of(0, failing).drained(); });
  expect_all_slots_empty();
}

// Its messages have slots, so they come although it has failed.
TEST_P(SlotsOfAFailedCommunicator, Are_filled_by_a_sender_that_fails_and_emptied_by_its_receiver) {
  for (int i = 0; i < count; ++i)
    ranks_->of(0, failing).send(ends_.emplace_back(Planned{0, 1, 1000 + std::ssize(ends_), 40}, true).send);
  ranks_->of(0, failing).abandon(failed("somebody else failed"));
  turn_until(failing, [&] { return filled() == count; });
  ranks_->of(1, failing).abandon(failed("the sender failed"));
  expect_all_slots_empty();
}

// The check itself: content that is not the sender's is found.
TEST(FabricMessagesSabotage, Wrong_bytes_are_found) {
  MessageEnd end({0, 1, 0, 5000}, false);
  EXPECT_FALSE(end.is_right());
  end.data = content(5000, end.seed());
  EXPECT_TRUE(end.is_right());
  end.data[4999] ^= std::byte{1};
  EXPECT_FALSE(end.is_right());
}

// A process that is killed while this one waits for it.
TEST_P(FabricMessagesTest, A_killed_peer_is_an_error_that_names_it) {
  struct Meeting {
    std::atomic<int> here;
    std::atomic<int> exchanged;
    std::array<std::byte, 4096> cards;
    std::size_t card_bytes;
  };
  for (const bool waits_to_receive : {true, false}) {
    auto* const meeting = static_cast<Meeting*>(
        mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    const auto part = [&](std::int32_t rank) -> std::pair<std::shared_ptr<FabricPort>, FabricRanks> {
      PortOptions wanted = options();
      wanted.provider.one_machine = true;
      auto made = FabricPort::open(wanted);
      if (!made) return {};
      std::shared_ptr<FabricPort> port = std::move(*made);
      const std::vector<std::byte> card = port->card();
      std::copy(card.begin(), card.end(), meeting->cards.begin() + rank * static_cast<std::ptrdiff_t>(card.size()));
      meeting->card_bytes = card.size();
      ++meeting->here;
      while (meeting->here < 2) usleep(100);
      return {port, {1, rank, {meeting->cards.begin(), meeting->cards.begin() + 2 * card.size()}, card.size()}};
    };
    const pid_t child = fork();
    if (child == 0) {
      const auto [port, ranks] = part(1);
      if (!port) _exit(1);
      FabricMessages messages(port, ranks);
      if (!exchange(messages, 1, all_pairs(2, {100, 10'000}), 1)) _exit(1);
      ++meeting->exchanged;
      while (meeting->exchanged < 2) messages.progress();
      for (;;) pause(); // not in a lock of the provider `shm`, which a killed process would leave locked for its peers
    }
    const auto [port, ranks] = part(0);
    ASSERT_TRUE(port);
    FabricMessages messages(port, ranks);
    const Status before = exchange(messages, 0, all_pairs(2, {100, 10'000}), 1);
    ASSERT_TRUE(before.ok()) << before.error().sentence();
    ++meeting->exchanged;
    while (meeting->exchanged < 2) messages.progress();
    std::deque<MessageEnd> ends;
    ends.emplace_back(Planned{waits_to_receive ? 1 : 0, waits_to_receive ? 0 : 1, 50, 100'000}, !waits_to_receive);
    waits_to_receive ? messages.receive(ends[0].receive) : messages.send(ends[0].send);
    for (int turn = 0; turn < 100; ++turn) messages.progress();
    kill(child, SIGKILL);
    const auto killed = Clock::now();
    const Status after = wait_for(messages, ends);
    const double seconds = std::chrono::duration<double>(Clock::now() - killed).count();
    ASSERT_FALSE(after.ok());
    EXPECT_NE(after.error().sentence().find("rank 1 of the communicator"), std::string::npos)
        << after.error().sentence();
    EXPECT_LT(seconds, 5);
    EXPECT_TRUE(messages.has_lost_peers());
    waitpid(child, nullptr, 0);
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
      EXPECT_FALSE(entry.path().filename().string().starts_with(std::to_string(child) + ":")) << entry.path();
    munmap(meeting, sizeof(Meeting));
  }
}

} // namespace
} // namespace kumihimo::fabric
