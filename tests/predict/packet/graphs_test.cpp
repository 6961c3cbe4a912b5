#include "goal/text.hpp"
#include "machine/machine.hpp"
#include "packet/graphs.hpp"
#include "small_machine.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <tuple>

namespace kumihimo::packet {
namespace {

// Software: 2 us for a send, 3 us after an arrival. 1 byte a ns, 100 ns a hop; ranks r on nodes r unless given.
std::vector<std::uint64_t> ends(const std::string& text, std::vector<std::int32_t> nodes = {},
                                const PacketOptions& options = {}) {
  const auto graphs = goal::parse_text(text, "a.goal");
  EXPECT_TRUE(graphs) << graphs.error().sentence();
  if (nodes.empty()) {
    nodes.resize(static_cast<std::size_t>(graphs->ranks()));
    std::iota(nodes.begin(), nodes.end(), 0);
  }
  const auto outcome = run(torus("8"), *graphs, nodes, options);
  EXPECT_TRUE(outcome) << outcome.error().sentence();
  std::vector<std::uint64_t> times;
  for (const Time end : outcome->end) times.push_back(end / 1000);
  return times;
}

// The send ends when its bytes have left, the receive after the hop and the software.
TEST(PacketGraphs, OneMessage) {
  EXPECT_EQ(ends("num_ranks 2\nrank 0 {\nsend 1000b to 1\n}\nrank 1 {\nrecv 1000b from 0\n}\n"),
            (std::vector<std::uint64_t>{3000, 2000 + 100 + 1000 + 3000}));
}

// Beyond eager_bytes, 1000 here, the receiver has to say first where to.
TEST(PacketGraphs, LongMessagesHaveARendezvous) {
  Machine machine = torus("8");
  machine.software.eager_bytes = Quantity{Bytes{1000}, Provenance::assumed, "a test"};
  machine.software.rendezvous_latency = Quantity{Seconds{7e-6}, Provenance::assumed, "a test"};
  const std::vector<std::int32_t> nodes{0, 1};
  const auto end = [&](int bytes) {
    const auto graphs = goal::parse_text(
        fmt::format("num_ranks 2\nrank 0 {{\nsend {0}b to 1\n}}\nrank 1 {{\nrecv {0}b from 0\n}}\n", bytes), "a.goal");
    return run(machine, *graphs, nodes)->end[1] / 1000;
  };
  EXPECT_EQ(end(1000), 2000 + 100 + 1000 + 3000);
  EXPECT_EQ(end(1001), 2000 + 100 + 1001 + 3000 + 7000);
}

// Operations wait for their interface in the order in which they came, also when many do.
TEST(PacketGraphs, ManyMessagesWaitForOneInterface) {
  constexpr int count = 20'000;
  std::string sends, receives;
  for (int i = 0; i < count; ++i) {
    sends += fmt::format("send 8b to 1 tag {}\n", i);
    receives += fmt::format("recv 8b from 0 tag {}\n", i);
  }
  const auto times = ends("num_ranks 2\nrank 0 {\n" + sends + "}\nrank 1 {\n" + receives + "}\n");
  EXPECT_EQ(times[1], std::uint64_t{count} * 2000 + 100 + 8 + 3000);
}

// The receive is posted later than the message comes.
TEST(PacketGraphs, ALateReceiveEndsAtOnce) {
  EXPECT_EQ(ends("num_ranks 2\nrank 0 {\nsend 1000b to 1\n}\nrank 1 {\na: calc 50000\nb: recv 1000b from 0\nb requires "
                 "a\n}\n"),
            (std::vector<std::uint64_t>{3000, 50000}));
}

PacketOptions waiting() {
  PacketOptions options;
  options.waits_for_receive = true;
  return options;
}

// Then the software of the sender comes behind the receive too.
TEST(PacketGraphs, ASendMayWaitForItsReceive) {
  const std::string late = "num_ranks 2\nrank 0 {\nsend 1000b to 1\n}\nrank 1 {\na: calc 50000\nb: recv 1000b from 0\n"
                           "b requires a\n}\n";
  EXPECT_EQ(ends(late, {}, waiting()), (std::vector<std::uint64_t>{53000, 50000 + 2000 + 1100 + 3000}));
  const std::string early = "num_ranks 2\nrank 0 {\na: calc 50000\nb: send 1000b to 1\nb requires a\n}\nrank 1 {\n"
                            "recv 1000b from 0\n}\n";
  EXPECT_EQ(ends(early, {}, waiting()), ends(early));
  EXPECT_EQ(ends(late, {3, 3}, waiting())[1], 50000U + 250 + 1000) << "a copy of 4 bytes a ns and 1 us";
}

// But not if its message is kept where nobody has asked for it yet.
TEST(PacketGraphs, AnUnexpectedMessageDoesNotWaitForItsReceive) {
  const auto both = [](int bytes, int late) { // after how many ns the receive of each is posted
    PacketOptions options = waiting();
    options.unexpected = 1000;
    return ends(fmt::format("num_ranks 2\nrank 0 {{\nsend {0}b to 1\n}}\nrank 1 {{\na: calc {1}\nb: recv {0}b from "
                            "0\nb requires a\n}}\n",
                            bytes, late),
                {}, options);
  };
  EXPECT_EQ(both(1000, 50000), (std::vector<std::uint64_t>{3000, 50000}));
  EXPECT_EQ(both(1001, 50000), (std::vector<std::uint64_t>{53001, 50000 + 2000 + 1101 + 3000}));
  EXPECT_EQ(both(1000, 4000), (std::vector<std::uint64_t>{3000, 6100}))
      << "it is posted while the message is under way";
}

goal::Graphs with_puts(const goal::Graphs& graphs) {
  goal::Graphs made(graphs.ranks());
  for (std::int32_t rank = 0; rank < graphs.ranks(); ++rank) {
    goal::Graph of = graphs.of(rank);
    for (goal::GraphOperation& each : of.operations) each.put = each.kind == goal::Kind::send;
    made.set(rank, std::move(of));
  }
  return made;
}

// Of 3 us a message. Those of other interfaces, and puts, are taken beside them.
TEST(PacketGraphs, AReceiverTakesOneMessageAfterTheOther) {
  Machine machine = torus("8");
  const auto measured = [](Seconds seconds) { return Quantity{seconds, Provenance::assumed, "a test"}; };
  machine.software.receive_cost = measured({3e-6});
  const std::vector<std::int32_t> nodes{0, 1, 7, 2};
  const auto last = [&](std::string_view nic, bool put = false) {
    const auto graphs = *goal::parse_text(fmt::format("num_ranks 4\nrank 0 {{\nrecv 8b from 1\nrecv 8b from 2{0}\n}}\n"
                                                      "rank 1 {{\nsend 8b to 0\n}}\nrank 2 {{\nsend 8b to 0{0}\n}}\n",
                                                      nic),
                                          "a.goal");
    if (put) machine.software.put_setup = measured({1e-6});
    return run(machine, put ? with_puts(graphs) : graphs, nodes)->end[0] / 1000;
  };
  const std::uint64_t arrival = 2000 + 100 + 8 + 3000;
  EXPECT_EQ(last(""), arrival + 3000 + 3000);
  EXPECT_EQ(last(" nic 1"), arrival + 3000);
  EXPECT_EQ(last("", true), arrival + 3000);
}

// An interface that takes a message sends none meanwhile; who waits first is first.
TEST(PacketGraphs, TakingAMessageHoldsUpSends) {
  Machine machine = torus("8");
  machine.software.receive_cost = Quantity{Seconds{5e-6}, Provenance::assumed, "a test"};
  const std::vector<std::int32_t> nodes{0, 1};
  const auto graphs =
      goal::parse_text("num_ranks 2\nrank 0 {\nsend 8b to 1\nrecv 8b from 1 tag 5\n}\n"
                       "rank 1 {\nrecv 8b from 0\na: calc 6000\nb: send 8b to 0 tag 5\nb requires a\n}\n",
                       "a.goal");
  const auto outcome = run(machine, *graphs, nodes);
  ASSERT_TRUE(outcome);
  const Time taken = (2000 + 100 + 8 + 3000 + 5000) * Time{1000}; // at 10.1 us, when the send of 6 us begins
  EXPECT_EQ(outcome->end[1], taken + (2000 + 8) * Time{1000});
}

// The first receive takes the first send of a pair, also where sends wait.
TEST(PacketGraphs, SendsThatWaitAreTakenInTheirOrder) {
  EXPECT_EQ(ends("num_ranks 2\nrank 0 {\na: send 1000b to 1\nb: send 3000b to 1\nb irequires a\n}\nrank 1 {\n"
                 "a: recv 1000b from 0\nb: recv 3000b from 0\nb requires a\n}\n",
                 {}, waiting()),
            (std::vector<std::uint64_t>{6100 + 2000 + 3000, 6100 + 2000 + 3100 + 3000}));
}

TEST(PacketGraphs, RanksWhoseSendsWaitForEachOtherAreNamed) {
  const auto graphs =
      goal::parse_text("num_ranks 2\nrank 0 {\na: send 8b to 1\nb: recv 8b from 1\nb requires a\n}\nrank 1 {\n"
                       "a: send 8b to 0\nb: recv 8b from 0\nb requires a\n}\n",
                       "a.goal");
  const std::vector<std::int32_t> nodes{0, 1};
  EXPECT_TRUE(run(torus("8"), *graphs, nodes));
  const auto outcome = run(torus("8"), *graphs, nodes, waiting());
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().problem.find("ranks wait for each other"), std::string::npos) << outcome.error().problem;
}

// A copy of 4 bytes a ns and 1 us; no network, and no software behind it.
TEST(PacketGraphs, RanksOfANodeCopy) {
  EXPECT_EQ(ends("num_ranks 2\nrank 0 {\nsend 4000b to 1\n}\nrank 1 {\nrecv 4000b from 0\n}\n", {3, 3}),
            (std::vector<std::uint64_t>{2000, 2000}));
}

// One interface issues messages one after the other, two at once; both engines then share the link, 1000 ns each.
TEST(PacketGraphs, AnInterfaceIssuesOneMessageAtATime) {
  const std::string receives = "}\nrank 1 {\nrecv 1000b from 0 tag 1\nrecv 1000b from 0 tag 2\n}\n";
  EXPECT_EQ(ends("num_ranks 2\nrank 0 {\nsend 1000b to 1 tag 1\nsend 1000b to 1 tag 2\n" + receives)[1],
            4000 + 1100 + 3000);
  EXPECT_EQ(ends("num_ranks 2\nrank 0 {\nsend 1000b to 1 tag 1\nsend 1000b to 1 tag 2 cpu 0 nic 1\n" + receives)[1],
            2000 + 2100 + 3000);
}

// Messages of an interface to one rank do not overtake or share: 10 us each, the first one done after 10,100 ns. To two
// ranks, or by two interfaces, they share the first link.
TEST(PacketGraphs, MessagesOfAChannelAreInOrder) {
  const auto text = [](int second, const std::string& nic) {
    return "num_ranks 3\nrank 0 {\na: send 10000b to 1 tag 1\nb: send 10000b to " + std::to_string(second) +
           " tag 2 cpu 0 nic " + nic + "\n}\nrank 1 {\nrecv 10000b from 0 tag 1\n" +
           (second == 1 ? "recv 10000b from 0 tag 2\n}\nrank 2 {\n}\n" : "}\nrank 2 {\nrecv 10000b from 0 tag 2\n}\n");
  };
  EXPECT_EQ(ends(text(1, "0"))[1], 2000 + 20000 + 100 + 3000);
  EXPECT_EQ(ends(text(1, "0"))[0], 2000 + 20000);
  EXPECT_GT(ends(text(2, "0"))[1], 2000 + 15000);
  EXPECT_GT(ends(text(2, "1"))[1], 2000 + 15000);
}

// 10 packets of 1000 bytes, behind each a pause of half its time; the send ends with the last packet, not its pause.
TEST(PacketGraphs, AGapIsAPauseBehindEachPacket) {
  goal::Graphs graphs(2);
  goal::GraphBuilder sender, receiver;
  sender.add({.size = 10000, .peer = 1, .kind = goal::Kind::send, .gap = 500});
  receiver.add({.size = 10000, .peer = 1, .kind = goal::Kind::receive});
  graphs.set(0, sender.finish()), graphs.set(1, receiver.finish());
  const std::vector<std::int32_t> nodes{0, 1};
  PacketOptions options;
  options.packet_bytes = 1000;
  const auto outcome = run(torus("8"), graphs, nodes, options);
  ASSERT_TRUE(outcome) << outcome.error().sentence();
  EXPECT_EQ(outcome->end[0] / 1000, 2000U + 9 * 1500 + 1000);
  EXPECT_EQ(outcome->end[1] / 1000, 2000U + 9 * 1500 + 1000 + 100 + 3000);
}

// A pause is a share of its packet: of messages of one byte it is the same however long packets may be.
TEST(PacketGraphs, AShortPacketHasAShortPause) {
  const auto end = [](std::int64_t packet_bytes) {
    goal::Graphs graphs(2);
    goal::GraphBuilder sender, receiver;
    for (std::uint32_t i = 0; i < 5; ++i) {
      sender.add({.size = 1, .peer = 1, .tag = i, .kind = goal::Kind::send, .gap = 5'000'000});
      receiver.add({.size = 1, .peer = 1, .tag = i, .kind = goal::Kind::receive});
    }
    graphs.set(0, sender.finish()), graphs.set(1, receiver.finish());
    const std::vector<std::int32_t> nodes{0, 1};
    PacketOptions options;
    options.packet_bytes = packet_bytes;
    return run(torus("8"), graphs, nodes, options)->end[1];
  };
  EXPECT_EQ(end(1000), end(60000));
  EXPECT_GT(end(1000), Time{2 * 5'000'000}) << "two engines, five pauses of 5 us";
}

// A relay: calc and dependencies, irequires too.
TEST(PacketGraphs, DependenciesHold) {
  EXPECT_EQ(
      ends("num_ranks 3\nrank 0 {\nsend 1000b to 1\n}\n"
           "rank 1 {\na: recv 1000b from 0\nb: calc 500\nb requires a\nc: send 1000b to 2\nc requires b\nd: calc 700\n"
           "d irequires c\n}\nrank 2 {\nrecv 1000b from 1\n}\n"),
      (std::vector<std::uint64_t>{3000, 6600 + 3000, 6600 + 6100}));
}

TEST(PacketGraphs, WildcardsTakeWhatComesFirst) {
  EXPECT_EQ(ends("num_ranks 3\nrank 0 {\na: calc 9000\nb: send 8b to 1\nb requires a\n}\nrank 2 {\nsend 8b to 1\n}\n"
                 "rank 1 {\na: recv 8b from -1\nb: recv 8b from -1\nb requires a\n}\n")[1],
            9000 + 2000 + 108 + 3000);
}

TEST(PacketGraphs, WhatNeverMatchesIsNamed) {
  const auto graphs = goal::parse_text(
      "num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 3\n}\nrank 1 {\nrecv 8b from 0 tag 4\n}\n", "a.goal");
  const std::vector<std::int32_t> nodes{0, 1}, few{0}, wrong{0, 9};
  const auto outcome = run(torus("8"), *graphs, nodes);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().problem,
            "rank 0: send 'l1' (8 bytes to rank 1, tag 3) has no matching receive; in all 1 sends were "
            "never received, 1 receives never got a message, and 1 operations were not completed");
  EXPECT_FALSE(run(torus("8"), *graphs, few));
  EXPECT_FALSE(run(torus("8"), *graphs, wrong));
}

struct Noted : goal::Observer {
  std::vector<goal::ProcessorWork> work;
  void busy(const goal::ProcessorWork& each) override { work.push_back(each); }
};

// A calc occupies its processor, a send its interface; an arrival is in software from the last packet on.
TEST(PacketGraphs, ObserversSeeWhatRanksDo) {
  const auto graphs =
      goal::parse_text("num_ranks 2\nrank 0 {\na: calc 500 cpu 1\nb: send 1000b to 1 tag 0 cpu 0 nic 2\n"
                       "b requires a\n}\nrank 1 {\nrecv 1000b from 0\n}\n",
                       "a.goal");
  ASSERT_TRUE(graphs) << graphs.error().sentence();
  Noted noted;
  const std::array<goal::Observer*, 1> observers{&noted};
  const std::vector<std::int32_t> nodes{0, 1};
  ASSERT_TRUE(run(torus("8"), *graphs, nodes, {}, observers));
  std::vector<std::tuple<int, int, goal::Kind, int, Time, Time>> found;
  for (const goal::ProcessorWork& w : noted.work)
    found.emplace_back(w.rank, w.peer, w.kind, w.cpu, w.start / 1000, w.end / 1000);
  EXPECT_EQ(found, (std::vector<std::tuple<int, int, goal::Kind, int, Time, Time>>{
                       {0, 0, goal::Kind::calc, 1, 0, 500},
                       {0, 1, goal::Kind::send, 2, 500, 2500},
                       {1, 0, goal::Kind::receive, 2, 3600, 6600}}));
  noted.work.clear();
  const auto ideal = run_ideal(Job(torus("8")), *graphs, std::nullopt, {}, observers);
  ASSERT_TRUE(ideal);
  EXPECT_EQ(ideal->end, (std::vector<Time>{500000, 500000}));
  EXPECT_EQ(noted.work.back().end, 500000u);
}

// Nothing that needs a processor or the network is left, but what ranks wait for.
TEST(PacketGraphs, OnAnIdealNetworkWhatNeverMatchesIsStillNamed) {
  const auto graphs = goal::parse_text("num_ranks 2\nrank 0 {\nsend 8b to 1\n}\n", "a.goal");
  const auto ideal = run_ideal(Job(torus("8")), *graphs, std::nullopt);
  ASSERT_FALSE(ideal);
  EXPECT_NE(ideal.error().problem.find("has no matching receive"), std::string::npos);
}

} // namespace
} // namespace kumihimo::packet
