// Places of buffers that receivers tell ahead: for all messages of a call, and for a buffer that is used again.
#include "message_ranks.hpp"

#include <map>

namespace kumihimo::fabric {
namespace {

using namespace testing; // NOLINT(google-build-using-namespace)

class PlacesOfBuffers : public FabricMessagesTest {};

INSTANTIATE_TEST_SUITE_P(Providers, PlacesOfBuffers, ::testing::ValuesIn(every_message_row),
                         [](const auto& tested) { return tested.param.name; });

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
TEST_P(PlacesOfBuffers, Calls_on_two_buffers_get_the_right_bytes_however_their_places_are_told) {
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
TEST_P(PlacesOfBuffers, No_put_comes_before_the_call_of_its_receiver) {
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
TEST_P(PlacesOfBuffers, Places_of_a_buffer_that_moves_are_forgotten) {
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
TEST_P(PlacesOfBuffers, Buffers_of_places_are_limited_for_all_communicators_together) {
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

TEST_P(PlacesOfBuffers, A_call_registers_no_more_at_once_than_the_limit_where_pages_are_pinned) {
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

TEST_P(PlacesOfBuffers, A_failed_communicator_gives_back_the_places_to_which_nothing_is_under_way) {
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

} // namespace
} // namespace kumihimo::fabric
