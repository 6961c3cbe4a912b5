// Two-sided messages over remote memory: order, pieces, long elements, errors.
#include "loopback/loopback.hpp"
#include "loopback/put_messages.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <numeric>
#include <random>

namespace kumihimo::transport {
namespace {

constexpr std::int64_t segments = 40;

std::vector<std::byte> content(std::int64_t bytes, std::int64_t segment) {
  std::vector<std::byte> data(static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<std::byte>(i * 5 + static_cast<std::size_t>(segment) * 17);
  return data;
}

Status wait(Transport& transport, const std::int32_t& open) {
  while (open > 0) switch (transport.progress()) {
    case Transport::Progress::failed: return transport.error();
    case Transport::Progress::nothing: transport.idle(); break;
    case Transport::Progress::moved: break;
    }
  return Nothing{};
}

struct Sent : SendRequest {
  Sent(std::int64_t segment, std::vector<std::byte> bytes_sent, std::int64_t element, std::int32_t* count)
      : data(std::move(bytes_sent)) {
    key.peer = Rank{1};
    key.segment = segment;
    bytes = static_cast<std::int64_t>(data.size());
    element_bytes = element;
    open = count;
    // Two pieces that cut an element in the middle.
    const std::int64_t first = bytes / 2;
    parts = {Piece{data.data(), first}, Piece{data.data() + first, bytes - first}};
    first_piece = parts.data();
    piece_count = bytes > 1 ? 2 : 0;
    if (bytes == 1) first_piece = &parts[1], piece_count = 1;
  }
  std::vector<std::byte> data;
  std::array<Piece, 2> parts;
};

struct Received : ReceiveRequest {
  Received(std::int64_t segment, std::int64_t bytes_expected, std::int64_t element, std::int32_t* count)
      : data(static_cast<std::size_t>(bytes_expected)) {
    key.peer = Rank{0};
    key.segment = segment;
    bytes = bytes_expected;
    open = count;
    copy_into({data.data(), nullptr, 0}, element);
  }
  std::vector<std::byte> data;
};

// Rank 0 sends messages of 0 to 8 elements; rank 1 receives them in another order.
Status exchange(PutOptions options, std::int64_t element, unsigned seed, std::int64_t longer = 0) {
  LoopbackOptions loopback_options;
  loopback_options.delays = seed % 2 == 1;
  loopback_options.seed = seed;
  Loopback loopback(2, loopback_options);
  return run_ranks(loopback, 2, [&](Rank rank, Transport& below) -> Status {
    PutMessages transport(below, options);
    Demands demands;
    demands.peers = {Rank{1 - rank.value}};
    if (Status s = transport.prepare(demands); !s) return s;
    std::int32_t open = segments;
    std::deque<Sent> sent;
    std::deque<Received> received;
    std::vector<std::int64_t> order(segments);
    std::iota(order.begin(), order.end(), 0);
    if (rank == Rank{1}) std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    for (const std::int64_t segment : order) {
      const std::int64_t bytes = segment % 9 * element;
      if (rank == Rank{0}) {
        transport.send(sent.emplace_back(segment, content(bytes, segment), element, &open));
        continue;
      }
      const std::int64_t expected = bytes + (segment == 3 ? longer : 0);
      transport.receive(received.emplace_back(segment, expected, element, &open));
      if (seed % 3 == 0) transport.progress(); // so that some come before their receive
    }
    if (Status s = wait(transport, open); !s) return s;
    for (const Received& message : received)
      if (message.data != content(message.bytes, message.key.segment))
        return failed("the data of segment " + std::to_string(message.key.segment), "others");
    return Nothing{};
  });
}

TEST(PutMessages, Arrive_whatever_the_order_of_the_receives) {
  for (const std::int64_t slots : {1, 2, 5, 64})
    for (const std::int64_t element : {1, 8, 24}) // 24: whole elements leave a rest of the slot unused
      for (unsigned seed = 0; seed < 6; ++seed) {
        const Status status = exchange({.slots = slots, .slot_bytes = 64}, element, seed);
        EXPECT_TRUE(status.ok()) << slots << " slots, elements of " << element << ", seed " << seed << ": "
                                 << status.error().sentence();
      }
}

TEST(PutMessages, Carry_elements_that_are_longer_than_a_slot) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const Status status = exchange({.slots = 2, .slot_bytes = 64}, 200, seed);
    EXPECT_TRUE(status.ok()) << status.error().sentence();
  }
}

TEST(PutMessages, Refuse_a_message_of_another_length) {
  for (const std::int64_t element : {8, 200})
    for (unsigned seed = 0; seed < 4; ++seed) {
      const Status status = exchange({.slots = 2, .slot_bytes = 64}, element, seed, element);
      ASSERT_FALSE(status.ok());
      EXPECT_NE(status.error().sentence().find("segment 3 from rank 0"), std::string::npos)
          << status.error().sentence();
    }
}

} // namespace
} // namespace kumihimo::transport
