#include "golden.hpp"
#include "machine/machine.hpp"
#include "packet/simulate.hpp"
#include "small_machine.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace kumihimo::packet {
namespace {

RawOutcome outcome_of(const Machine& m, const std::vector<RawMessage>& messages, const PacketOptions& options = {}) {
  auto outcome = run(m, messages, options);
  EXPECT_TRUE(outcome) << outcome.error().sentence();
  return *std::move(outcome);
}
std::vector<std::uint64_t> nanoseconds(const Machine& m, const std::vector<RawMessage>& messages,
                                       const PacketOptions& options = {}) {
  std::vector<std::uint64_t> times;
  for (const Time time : outcome_of(m, messages, options).delivered) times.push_back((time + 500) / 1000);
  return times;
}
PacketOptions small_packets(std::int64_t bytes, std::int64_t buffer = 4) {
  PacketOptions options;
  options.packet_bytes = bytes, options.buffer_packets = buffer;
  return options;
}

// By hand: h hops and the packet's bytes; each further packet adds its own on the slowest part, the link.
TEST(Packet, OneMessage) {
  const Machine m = torus("8x4");
  EXPECT_EQ(nanoseconds(m, {{0, 1, 1000, 0, 0}}, small_packets(1000)), (std::vector<std::uint64_t>{1100}));
  EXPECT_EQ(nanoseconds(m, {{0, 4 + 2, 1000, 50'000, 0}}, small_packets(1000)),
            (std::vector<std::uint64_t>{50 + 300 + 1000}));
  EXPECT_EQ(nanoseconds(m, {{0, 1, 4000, 0, 0}}, small_packets(1000)), (std::vector<std::uint64_t>{4100}));
  EXPECT_EQ(nanoseconds(m, {{0, 1, 4001, 0, 0}}, small_packets(1000)), (std::vector<std::uint64_t>{4101}));
  EXPECT_EQ(nanoseconds(m, {{0, 1, 0, 0, 0}}, small_packets(1000)), (std::vector<std::uint64_t>{100}));
  EXPECT_EQ(nanoseconds(m, {{3, 3, 4000, 0, 0}}, small_packets(1000)), (std::vector<std::uint64_t>{1000 + 1000}))
      << "a copy";
}

// The header is on the wire: 3 packets of 1000 and 100 bytes.
TEST(Packet, HeadersTakeTime) {
  PacketOptions options = small_packets(1000);
  options.header_bytes = 100;
  const RawOutcome outcome = outcome_of(torus("4"), {{0, 1, 3000, 0, 0}}, options);
  EXPECT_EQ(outcome.delivered, (std::vector<Time>{3'400'000}));
  EXPECT_EQ(std::accumulate(outcome.traffic.link_bytes.begin(), outcome.traffic.link_bytes.end(), 0ULL), 3000);
}

// The engine pauses after each packet: the last of 4 starts after 3 (1000 + 500).
TEST(Packet, AGapPacesAMessage) {
  EXPECT_EQ(nanoseconds(torus("4"), {{0, 1, 4000, 0, 500'000}}, small_packets(1000)),
            (std::vector<std::uint64_t>{4500 + 1100}));
}

// With one slot a packet may leave when the one before has left the slot, and word of it is back: every
// 100 + 1000 + 100 ns on a way of two hops. Two slots hide that.
TEST(Packet, ShortBuffersWaitForCredits) {
  const Machine m = torus("8");
  EXPECT_EQ(nanoseconds(m, {{0, 2, 5000, 0, 0}}, small_packets(1000, 1)),
            (std::vector<std::uint64_t>{4 * 1200 + 1200}));
  EXPECT_EQ(nanoseconds(m, {{0, 2, 5000, 0, 0}}, small_packets(1000, 2)), (std::vector<std::uint64_t>{5200}));
}

// Two nodes whose messages meet on one link: it serves them in turn, so that both take twice as long.
TEST(Packet, TwoMessagesShareALink) {
  const std::vector<RawMessage> both{{0, 2, 10000, 0, 0}, {1, 2, 10000, 0, 0}};
  const RawOutcome outcome = outcome_of(torus("8"), both, small_packets(1000));
  const auto [first, last] = std::minmax(outcome.delivered[0], outcome.delivered[1]);
  EXPECT_EQ(last, 20'100'000) << "the link is never idle";
  EXPECT_GT(first, 18'000'000);
  EXPECT_EQ(outcome.traffic.links_waited, 1);
  EXPECT_GT(outcome.traffic.packets_waited, 15);
  EXPECT_EQ(outcome_of(torus("8"), {both[0]}, small_packets(1000)).traffic.packets_waited, 0)
      << "its own packets do not count";
}

// Shifts by one along each axis share nothing: all end as if alone.
TEST(Packet, NeighboursShiftAsIfAlone) {
  const Machine m = torus("6x5x4");
  const Shape& shape = m.shape;
  for (const auto routing : {Routing::dimension_order, Routing::adaptive})
    for (std::int32_t axis = 0; axis < 3; ++axis) {
      std::vector<RawMessage> messages;
      for (std::int32_t v = 0; v < shape.places(); ++v) messages.push_back({v, shape.shifted(v, axis, 1), 64000, 0, 0});
      PacketOptions options = small_packets(1000);
      options.routing = routing;
      const RawOutcome outcome = outcome_of(m, messages, options);
      for (const Time time : outcome.delivered) EXPECT_EQ(time, 64'100'000);
      EXPECT_EQ(outcome.traffic.links_waited, 0);
    }
}

// A message that is stopped at its end stops the ones behind it, on links that it does not use itself. 0 to 3 fills the
// buffers of 1 and 2 while 2 to 3 takes turns with it; 0 to 1 alone would take 10,100 ns.
TEST(Packet, CreditsPassAStallOn) {
  PacketOptions options = small_packets(1000, 2);
  const std::vector<RawMessage> messages{
      {0, 3, 20000, 0, 0}, {1, 3, 20000, 0, 0}, {2, 3, 20000, 0, 0}, {0, 1, 10000, 1, 0}};
  const auto times = nanoseconds(torus("12"), messages, options);
  EXPECT_GT(times[3], 25'000);
  EXPECT_EQ(nanoseconds(torus("12"), {messages[3]}, options)[0], 10'100);
}

// Each message's bytes on each of its hops.
TEST(Packet, LinksCarryHopsTimesBytes) {
  std::mt19937 random(5);
  for (const auto routing : {Routing::dimension_order, Routing::adaptive}) {
    const Machine m = torus("5x4x3");
    PacketOptions options = small_packets(700, 2);
    options.routing = routing;
    std::vector<RawMessage> messages;
    std::uint64_t expected = 0, packets = 0;
    for (int i = 0; i < 300; ++i) {
      const auto from = static_cast<std::int32_t>(random() % 60),
                 to = static_cast<std::int32_t>((from + 1 + random() % 59) % 60);
      messages.push_back({from, to, random() % 5000, random() % 100'000'000, 0});
      const auto hops = static_cast<std::uint64_t>(m.topology->distance(NodeId{from}, NodeId{to}));
      expected += hops * messages.back().bytes;
      packets += hops * std::max<std::uint64_t>(1, (messages.back().bytes + 699) / 700);
    }
    const DeliveredTraffic traffic = outcome_of(m, messages, options).traffic;
    EXPECT_EQ(std::accumulate(traffic.link_bytes.begin(), traffic.link_bytes.end(), 0ULL), expected);
    EXPECT_EQ(traffic.packet_hops, packets);
  }
}

// All links carry 64,000 bytes, 64 us of the time; a bin that they fill is at 1.
TEST(Packet, UtilisationIsOfTheTimeOfAllLinks) {
  std::vector<RawMessage> messages;
  for (std::int32_t v = 0; v < 8; ++v) messages.push_back({v, (v + 1) % 8, 64000, 0, 0});
  PacketOptions options = small_packets(1000);
  options.bins = 10;
  const DeliveredTraffic traffic = outcome_of(torus("8"), messages, options).traffic;
  ASSERT_EQ(traffic.classes.size(), 1U);
  EXPECT_EQ(traffic.classes[0].links, 16);
  double busy = 0;
  for (const double use : traffic.classes[0].utilisation) busy += use * static_cast<double>(traffic.bin) * 16;
  EXPECT_NEAR(busy, 8 * 64e6, 1);
  EXPECT_DOUBLE_EQ(traffic.classes[0].utilisation[1], 0.5) << "links in the direction - are idle";
  EXPECT_LE(traffic.classes[0].utilisation.size(), 10U);
}

std::vector<RawMessage> random_messages(std::mt19937& random, std::int32_t nodes, int count) {
  std::vector<RawMessage> messages;
  const Time most = random() % 3 == 0 ? 1 : 30'000'000;
  for (int i = 0; i < count; ++i) {
    const auto from = static_cast<std::int32_t>(random() % static_cast<unsigned>(nodes));
    const auto step = static_cast<std::int32_t>(1 + random() % static_cast<unsigned>(nodes - 1));
    const Time gap = random() % 4 == 0 ? random() % 700'000 : 0;
    messages.push_back({from, (from + step) % nodes, random() % 6 == 0 ? 3000 : random() % 9000, random() % most, gap});
  }
  return messages;
}

// The same run with and without: classes are the sums of their links, and a link's busy time that of its bytes.
TEST(Packet, LinksOverTimeAddUpToTheirClasses) {
  std::mt19937 random(7);
  const Machine m = torus("4x3x2");
  const std::vector<RawMessage> messages = random_messages(random, 24, 80);
  PacketOptions options = small_packets(1000);
  options.bins = 16;
  const DeliveredTraffic by_class = outcome_of(m, messages, options).traffic;
  EXPECT_TRUE(by_class.link_utilisation.empty());
  options.links_over_time = true;
  const DeliveredTraffic traffic = outcome_of(m, messages, options).traffic;
  const std::size_t links = traffic.link_bytes.size(), bins = traffic.classes.front().utilisation.size();
  ASSERT_EQ(traffic.link_utilisation.size(), links * bins);
  const auto share = [&](std::size_t link, std::size_t bin) {
    return static_cast<double>(traffic.link_utilisation[link * bins + bin]);
  };
  for (std::size_t bin = 0; bin < bins; ++bin) {
    double sum = 0, of_classes = 0;
    for (std::size_t link = 0; link < links; ++link) sum += share(link, bin);
    for (std::size_t c = 0; c < traffic.classes.size(); ++c) {
      const double use = traffic.classes[c].utilisation[bin];
      EXPECT_NEAR(use, by_class.classes[c].utilisation[bin], 1e-12);
      of_classes += use * static_cast<double>(traffic.classes[c].links);
    }
    EXPECT_NEAR(sum, of_classes, 1e-5);
  }
  for (std::size_t link = 0; link < links; ++link) {
    double busy = 0; // nanoseconds, one a byte
    for (std::size_t bin = 0; bin < bins; ++bin) busy += share(link, bin) * static_cast<double>(traffic.bin) / 1000;
    EXPECT_NEAR(busy, static_cast<double>(traffic.link_bytes[link]), 0.01 + 1e-4 * busy);
  }
}

TEST(Packet, ThePictureOfLinksHasALimit) {
  PacketOptions options;
  options.links_over_time = true, options.bins = 1 << 20;
  const auto refused = run(torus("8x8x8"), {}, options);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().sentence().find("67108864 cells"), std::string::npos) << refused.error().sentence();
}

// What is compared, so that a test of the comparison can change it.
bool as_golden(const RawOutcome& outcome, const Golden::Result& golden) {
  const DeliveredTraffic& traffic = outcome.traffic;
  return outcome.delivered == golden.delivered && traffic.link_bytes == golden.link_bytes &&
         traffic.packets == golden.packets && traffic.packet_hops == golden.packet_hops &&
         traffic.packets_waited == golden.packets_waited &&
         traffic.links_waited == static_cast<std::int64_t>(golden.links_waited.size());
}

void compare_with_golden(const Machine& m, std::vector<Routing> routings, int rounds, unsigned seed) {
  std::mt19937 random(seed);
  for (int round = 0; round < rounds; ++round)
    for (const Routing routing : routings) {
      PacketOptions options = small_packets(500 + static_cast<std::int64_t>(random() % 3) * 250, 1 + random() % 3);
      options.routing = routing;
      options.seed = random();
      options.header_bytes = random() % 2 == 0 ? 0 : 50;
      const auto messages = random_messages(random, m.topology->nodes(), 20 + static_cast<int>(random() % 100));
      const auto fabric = Fabric::make(m, options);
      ASSERT_TRUE(fabric) << fabric.error().sentence();
      const std::uint32_t channels = fabric->torus           ? (routing == Routing::adaptive ? 3 : 2)
                                     : fabric->channels == 1 ? 1
                                                             : 8;
      const auto golden = Golden(*fabric, options, channels).run(messages);
      ASSERT_FALSE(golden.stuck);
      const RawOutcome outcome = outcome_of(m, messages, options);
      for (std::size_t i = 0; i < messages.size(); ++i)
        ASSERT_EQ(outcome.delivered[i], golden.delivered[i])
            << m.topology->name() << " " << name_of(routing) << " round " << round << " message " << i;
      EXPECT_TRUE(as_golden(outcome, golden))
          << m.topology->name() << " " << name_of(routing) << " round " << round << ": "
          << outcome.traffic.packets_waited << " and " << golden.packets_waited << " packets, "
          << outcome.traffic.links_waited << " and " << golden.links_waited.size() << " links";
    }
}

constexpr const char* slow_parts =
    "[[slow_node]]\nnode = 1\nfactor = 0.3\n[[slow_link]]\nfrom = 0\nto = 1\nfactor = 0.4\n";
const std::vector<Routing> both{Routing::dimension_order, Routing::adaptive}, in_order{Routing::dimension_order};

TEST(PacketGolden, Tori) {
  for (const char* shape : {"2", "3", "6", "4x3", "5x5", "4x4x2", "3x4x5", "1x4", "2x2x2x2"})
    compare_with_golden(torus(shape), both, 2, 11);
}
TEST(PacketGolden, Meshes) {
  for (const char* shape : {"6m", "4mx3m", "5x3m", "3mx4x2m"}) compare_with_golden(torus(shape), both, 2, 12);
}
TEST(PacketGolden, ManyAxesAreRoutesOfTheTopology) {
  compare_with_golden(torus("2x3x1x1x2x1x3"), in_order, 4, 13);
  compare_with_golden(torus("300"), in_order, 1, 13);
}
TEST(PacketGolden, SlowPartsAndSharedInjection) {
  const std::string all = "injection_bandwidth = { value = \"2.5 GB/s\", published = \"a\" }\n";
  compare_with_golden(torus("4x3", all), both, 4, 14);
  auto slow = parse_machine(file("family = \"torus\"\nshape = \"4x3\"", all) + slow_parts, "slow.toml");
  ASSERT_TRUE(slow) << slow.error().sentence();
  compare_with_golden(*slow, both, 4, 15);
  const std::string classes = "link_bandwidth_x = { value = \"3 GB/s\", published = \"a\" }\n"
                              "hop_latency_y = { value = \"30 ns\", published = \"a\" }\n";
  compare_with_golden(torus("4x3x3", classes), both, 4, 16);
}
// Each slow link has a speed of its own; that of the last one must not become another's.
TEST(Packet, ManySpeedsStayApart) {
  const std::string ring = "family = \"torus\"\nshape = \"300\"";
  const auto slow = [](int from, double factor) {
    return fmt::format("[[slow_link]]\nfrom = {}\nto = {}\nfactor = {}\n", from, from + 1, factor);
  };
  std::string many;
  for (int link = 0; link < 270; ++link) many += slow(link, 0.5 + link * 0.001);
  many += slow(290, 0.01);
  const Machine all = *parse_machine(file(ring) + many, "a.toml"),
                one = *parse_machine(file(ring) + slow(290, 0.01), "a.toml");
  const std::vector<RawMessage> message{{290, 291, 100'000, 0, 0}};
  EXPECT_EQ(nanoseconds(all, message), nanoseconds(one, message));
}
TEST(PacketGolden, Tofu) {
  const Machine k = machine("family = \"tofu\"\naxes = \"3x2mx3x2mx3x2m\"\nrelays = \"z=0\"");
  compare_with_golden(*k.with_shape(*Shape::parse("6x4x4")), both, 1, 17);
  auto whole = machine("family = \"tofu\"\naxes = \"2x2mx2x2mx3x2m\"").with_shape(*Shape::parse("4x6x4"));
  ASSERT_TRUE(whole) << whole.error().sentence();
  auto less = whole->without({{1, 1, 1}});
  ASSERT_TRUE(less) << less.error().sentence();
  compare_with_golden(*less, in_order, 2, 18);
}
TEST(PacketGolden, SwitchedNetworks) {
  compare_with_golden(
      machine("family = \"fat_tree\"\narity = \"4x3\"\nparents = \"1x2\"\ncables = \"1x2\"\nnodes = 10"), in_order, 8,
      19);
  const Machine dragonfly = machine("family = \"dragonfly\"\ngroups = 5\nrouters_per_group = 3\nnodes_per_router = 2");
  compare_with_golden(dragonfly, in_order, 5, 20);
  compare_with_golden(*dragonfly.with_routing("valiant"), in_order, 5, 21);
  compare_with_golden(
      machine("family = \"graph\"\nnodes = 4\nswitches = 4\nedges = [\"0-4\", \"1-5\", \"2-6\", \"3-7\", \"4-5\", "
              "\"5-6\", \"6-7\", \"7-4\"]"),
      in_order, 8, 22);
}

// Buffers that are so deep that the network fetches ahead; and so many nodes that start at once that lists of links
// that choose are sorted by bytes.
TEST(PacketGolden, NetworksThatTheCacheDoesNotHold) {
  const Machine m = torus("4x4x4");
  const auto messages = uniform_random(64, 4, 3000, 5);
  for (const Routing routing : both) {
    PacketOptions options = small_packets(500, 255);
    options.routing = routing;
    const auto golden = Golden(*Fabric::make(m, options), options, routing == Routing::adaptive ? 3 : 2).run(messages);
    EXPECT_TRUE(as_golden(outcome_of(m, messages, options), golden)) << name_of(routing);
  }
}

// The comparison sees a change of any of what it compares.
TEST(PacketGolden, SeesWhatIsWrong) {
  const Machine m = torus("4x3");
  std::mt19937 random(23);
  auto messages = random_messages(random, 12, 200);
  for (RawMessage& each : messages) each.start = 0;
  const PacketOptions options = small_packets(500, 2);
  const auto fabric = Fabric::make(m, options);
  const RawOutcome outcome = outcome_of(m, messages, options);
  const auto golden = Golden(*fabric, options, 2).run(messages);
  ASSERT_TRUE(as_golden(outcome, golden));
  auto wrong = golden;
  ++wrong.delivered[7];
  EXPECT_FALSE(as_golden(outcome, wrong));
  wrong = golden, ++wrong.link_bytes[3];
  EXPECT_FALSE(as_golden(outcome, wrong));
  wrong = golden, --wrong.packets_waited;
  EXPECT_FALSE(as_golden(outcome, wrong));
  Fabric small = *fabric;
  small.buffer_packets = 1;
  EXPECT_FALSE(as_golden(outcome, Golden(small, options, 2).run(messages)));
  PacketOptions other = options;
  int differ = 0; // first turns matter only where two ask for a link at once
  for (other = options; other.seed < 12; ++other.seed)
    differ += !as_golden(outcome, Golden(*fabric, other, 2).run(messages));
  EXPECT_GT(differ, 0);
}

// Every ring is full of packets that want to go round it, with the least buffers.
TEST(Packet, SaturatedToriDoNotDeadlock) {
  for (const char* shape : {"8", "4x4x4", "5x6", "3x3x3x3"})
    for (const Routing routing : both)
      for (const std::int64_t buffer : {1, 2}) {
        const Machine m = torus(shape);
        const std::int32_t nodes = m.topology->nodes();
        PacketOptions options = small_packets(500, buffer);
        options.routing = routing;
        std::vector<RawMessage> messages = uniform_random(nodes, 20, 4000, 3);
        for (std::int32_t v = 0; v < nodes; ++v)
          for (std::int32_t w = 0; w < nodes; ++w)
            if (v != w) messages.push_back({v, w, 1000, 0, 0});
        const RawOutcome outcome = outcome_of(m, messages, options);
        EXPECT_EQ(outcome.traffic.messages, messages.size());
        EXPECT_EQ(std::count(outcome.delivered.begin(), outcome.delivered.end(), Time{0}), 0)
            << shape << " " << name_of(routing);
      }
}

// No faster than the busiest link, nor than any message alone.
TEST(Packet, NoTimeIsBelowTheBound) {
  std::mt19937 random(31);
  const Machine m = torus("6x4x3");
  for (const Routing routing : both) {
    PacketOptions options = small_packets(1000, 3);
    options.routing = routing;
    const auto messages = random_messages(random, 72, 500);
    const RawOutcome outcome = outcome_of(m, messages, options);
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const auto hops = static_cast<Time>(m.topology->distance(NodeId{messages[i].from}, NodeId{messages[i].to}));
      EXPECT_GE(outcome.delivered[i], messages[i].start + hops * 100'000 + messages[i].bytes * 1000);
    }
    EXPECT_GE(outcome.traffic.last,
              1000 * *std::max_element(outcome.traffic.link_bytes.begin(), outcome.traffic.link_bytes.end()));
  }
}

// Hours later, beyond the range of the times that packets carry, all takes as long as at the start.
TEST(Packet, LateTrafficIsAsEarlyTraffic) {
  std::mt19937 random(37);
  const Machine m = torus("5x4");
  const auto early = random_messages(random, 20, 80);
  for (const Time later : {Time{549'755'813'888}, Time{1'099'511'627'776}, Time{7'200'000'000'000'000}}) {
    auto messages = early;
    for (const RawMessage& each : early) {
      messages.push_back(each);
      messages.back().start += later;
    }
    const PacketOptions options = small_packets(500, 1);
    const auto times = outcome_of(m, messages, options).delivered;
    // Which channel a packet takes and whose turn it is differ; with no others under way a message takes what it took.
    const auto alone = outcome_of(m, {early[0]}, options).delivered[0] - early[0].start;
    auto lone = std::vector<RawMessage>{early[1], early[0]};
    lone[1].start += later;
    EXPECT_EQ(outcome_of(m, lone, options).delivered[1] - lone[1].start, alone);
    for (std::size_t i = 0; i < early.size(); ++i) EXPECT_LT(times[i + early.size()] - later, 10'000'000'000U);
  }
}

TEST(Packet, IsTheSameForASeed) {
  const Machine m = torus("4x4");
  const auto messages = uniform_random(16, 30, 5000, 7);
  PacketOptions options = small_packets(500);
  EXPECT_EQ(outcome_of(m, messages, options).delivered, outcome_of(m, messages, options).delivered);
  options.seed = 2;
  EXPECT_NE(outcome_of(m, messages, options).delivered, outcome_of(m, messages, small_packets(500)).delivered);
}

TEST(Packet, ErrorsSayWhatToDo) {
  const std::vector<RawMessage> one{{0, 1, 8, 0, 0}};
  const auto error = [&](const Machine& m, const PacketOptions& options, const std::vector<RawMessage>& messages) {
    const auto outcome = run(m, messages, options);
    EXPECT_FALSE(outcome);
    return outcome ? std::string() : outcome.error().sentence();
  };
  const Machine tree = machine("family = \"fat_tree\"\narity = \"4x3\"\nparents = \"1x2\"\nnodes = 10");
  PacketOptions adaptive;
  adaptive.routing = Routing::adaptive;
  EXPECT_EQ(error(tree, adaptive, one),
            "adaptive routing needs a torus, a mesh or a Tofu without dead parts, of at most 6 axes (got " +
                tree.topology->name() + "); take dimension-order routing");
  EXPECT_EQ(error(torus("4"), small_packets(0), one),
            "a packet must have 1 to 65535 bytes with its header (got 0 and a header of 0)");
  EXPECT_EQ(error(torus("4"), small_packets(10, 256), one), "a buffer must hold 1 to 255 packets (got 256)");
  EXPECT_EQ(error(torus("4"), {}, {{0, 4, 8, 0, 0}}), "the ends of a message must be nodes 0 to 3 (got 4)");
  Machine single = torus("4");
  single.family = Family::single_node;
  EXPECT_NE(error(single, {}, one).find("needs a network between nodes"), std::string::npos);
}

// With 4 packets of 2 us a link of 10 us waited most of the time for credits.
TEST(Packet, BuffersCoverTheTimeInWhichCreditsComeBack) {
  Machine m = torus("4m");
  m.network.hop_latency.value = {10e-6};
  PacketOptions options;
  options.packet_bytes = 2000;
  EXPECT_EQ(buffer_packets_of(m, options), 12);
  const std::vector<RawMessage> one{{0, 3, 2'000'000, 0}};
  const Time alone = run(m, one, options)->delivered[0];
  EXPECT_NEAR(static_cast<double>(alone), 2e9 + 3 * 10e6, 1e7);
  options.buffer_packets = 4;
  EXPECT_GT(run(m, one, options)->delivered[0], 2 * alone);
  EXPECT_EQ(buffer_packets_of(torus("4m"), {}), 4);
}

} // namespace
} // namespace kumihimo::packet
