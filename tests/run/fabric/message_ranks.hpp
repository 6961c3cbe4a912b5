// Messages that both ends know, ranks that exchange them in threads, and the providers to try them on.
#pragma once

#include "fabric/messages.hpp"
#include "port_threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <numeric>
#include <random>

namespace kumihimo::fabric::testing {

using Clock = std::chrono::steady_clock;

inline std::vector<std::byte> content(std::int64_t bytes, std::uint32_t seed) {
  std::vector<std::byte> data(static_cast<std::size_t>(bytes));
  std::minstd_rand random(seed + 1);
  for (std::byte& b : data) b = static_cast<std::byte>(random());
  return data;
}

inline void exclusive_or(const void*, const void* left, const void* right, void* target, std::int64_t count) {
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

inline std::vector<Planned> all_pairs(std::int32_t ranks, const std::vector<std::int64_t>& sizes) {
  std::vector<Planned> plans;
  for (std::int32_t from = 0; from < ranks; ++from)
    for (std::int32_t to = 0; to < ranks; ++to)
      for (std::size_t i = 0; from != to && i < sizes.size(); ++i)
        plans.push_back({from, to, static_cast<std::int64_t>(i), sizes[i], i % 3 == 1, i % 4 == 2});
  return plans;
}

inline Status wait_for(FabricMessages& messages, const std::deque<MessageEnd>& ends) {
  const auto late = Clock::now() + time_limit;
  while (std::any_of(ends.begin(), ends.end(), [](const MessageEnd& end) { return end.open != 0; })) {
    messages.progress();
    if (messages.error()) return *messages.error();
    if (Clock::now() > late) { // `ends` may go with the caller
      messages.abandon(failed("the time limit of a test is over"));
      return *messages.error();
    }
    std::this_thread::yield();
  }
  return Nothing{};
}

// One rank's part, in a random order of starting.
inline Status exchange(FabricMessages& messages, std::int32_t rank, const std::vector<Planned>& plans, unsigned seed,
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
      : ports_(open_ports(ranks, options)), ranks_(ranks) {
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
    return run_threads(
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
  PortsOfRanks ports_;
  std::int32_t ranks_;
  std::vector<std::unique_ptr<FabricMessages>> all_;
};

struct MessageRow {
  std::string name, provider;
  bool flags_by_messages = false, orders_nothing = false;
  std::vector<std::string> rails = {};
};

inline PortOptions options_of(const MessageRow& row) {
  PortOptions options;
  options.provider.provider = row.provider;
  options.flags_by_messages = row.flags_by_messages;
  options.orders_nothing = row.orders_nothing;
  options.rails = row.rails;
  return options;
}

// Every provider here, each way that a provider may announce its orderings, and two rails.
inline const std::vector<MessageRow> every_message_row = {
    {"rxm", "tcp;ofi_rxm"},
    {"rxm_with_flags_by_messages", "tcp;ofi_rxm", true, false},
    {"rxm_by_delivery", "tcp;ofi_rxm", true, true},
    {"rxm_on_two_rails", "tcp;ofi_rxm", false, false, {"lo", "lo"}},
    {"net", "net"},
    {"shm", "shm"}};

class FabricMessagesTest : public ::testing::TestWithParam<MessageRow> {
 protected:
  void SetUp() override {
    if (const std::string why = obstacle(GetParam().provider); !why.empty()) GTEST_SKIP() << why;
  }
  PortOptions options() const { return options_of(GetParam()); }
};

} // namespace kumihimo::fabric::testing
