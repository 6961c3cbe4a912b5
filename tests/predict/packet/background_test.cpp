#include "base/hash.hpp"
#include "goal/text.hpp"
#include "golden.hpp"
#include "packet/graphs.hpp"
#include "small_machine.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

namespace kumihimo::packet {
namespace {

goal::Graphs graphs_of(const std::string& text) {
  auto graphs = goal::parse_text(text, "a.goal");
  EXPECT_TRUE(graphs) << graphs.error().sentence();
  return *std::move(graphs);
}
// From rank 0 to rank 1. Software: 2 us for a send, 3 us after an arrival.
goal::Graphs one_message(int bytes) {
  return graphs_of(fmt::format("num_ranks 2\nrank 0 {{\nsend {0}b to 1\n}}\nrank 1 {{\nrecv {0}b from 0\n}}\n", bytes));
}
constexpr Time send_cost = 2'000'000, relay_latency = 3'000'000;

GraphOutcome outcome_of(const Machine& m, const goal::Graphs& graphs, const std::vector<std::int32_t>& nodes,
                        const Background& background, const PacketOptions& options = {}) {
  auto outcome = run(m, graphs, nodes, background, options);
  EXPECT_TRUE(outcome) << outcome.error().sentence();
  return *std::move(outcome);
}
PacketOptions packets_of(std::int64_t bytes) {
  PacketOptions options;
  options.packet_bytes = bytes;
  return options;
}
BackgroundJob sources(Pattern pattern, std::vector<std::int32_t> nodes, double load, std::uint64_t bytes,
                      std::uint64_t seed = 1) {
  return {std::move(nodes), pattern, bytes, load, seed, nullptr};
}
BackgroundJob recorded(goal::Graphs graphs, std::vector<std::int32_t> nodes) {
  return {std::move(nodes), {}, {}, {}, 1, std::make_shared<const goal::Graphs>(std::move(graphs))};
}
Background with(std::vector<BackgroundJob> jobs, std::optional<Time> warm_up = std::nullopt) {
  Background background;
  background.jobs = std::move(jobs), background.warm_up = warm_up;
  return background;
}
std::vector<std::int32_t> all_but(std::int32_t nodes, const std::set<std::int32_t>& watched) {
  std::vector<std::int32_t> others;
  for (std::int32_t node = 0; node < nodes; ++node)
    if (watched.count(node) == 0) others.push_back(node);
  return others;
}

// The sources once more, plainly: node by node a list of all its messages until `end`, then all lists in order.
std::vector<RawMessage> list_of(const BackgroundJob& job, std::uint32_t number, const Fabric& fabric, Time end) {
  std::vector<std::tuple<Time, std::size_t, RawMessage>> all;
  const std::size_t size = job.nodes.size();
  for (std::size_t place = 0; place < size; ++place) {
    const std::uint64_t own = mixed(mixed(job.seed, number), place + 1);
    const std::uint64_t begin = mixed(own, ~std::uint64_t{0}) % size;
    const double mean =
        static_cast<double>(job.bytes) * static_cast<double>(injection_of(fabric, job.nodes[place])) / 1000 / job.load;
    Time time = 0;
    for (std::uint64_t i = 0;; ++i) {
      const double drawn = static_cast<double>((mixed(own, 2 * i) >> 11) + 1) / 9007199254740992.0;
      time += static_cast<Time>(std::llround(-std::log(drawn) * mean));
      if (time >= end) break;
      const std::size_t step = job.pattern == Pattern::uniform     ? 1 + mixed(own, 2 * i + 1) % (size - 1)
                               : job.pattern == Pattern::neighbour ? (i % 2 == 0 ? 1 : size - 1)
                                                                   : 1 + (begin + i) % (size - 1);
      all.push_back({time, place, {job.nodes[place], job.nodes[(place + step) % size], job.bytes, time, 0, true}});
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  });
  std::vector<RawMessage> messages;
  for (const auto& each : all) messages.push_back(std::get<2>(each));
  return messages;
}

bool same(const RawMessage& a, const RawMessage& b) {
  return a.from == b.from && a.to == b.to && a.bytes == b.bytes && a.start == b.start && a.gap == b.gap;
}

const std::vector<Pattern> patterns{Pattern::uniform, Pattern::neighbour, Pattern::alltoall};

TEST(BackgroundSources, AreTheListMadeInAdvance) {
  const Machine m = torus("4x4", "[[slow_node]]\nnode = 5\nfactor = 0.5\n");
  const auto fabric = Fabric::make(m, {});
  for (const Pattern pattern : patterns) {
    const BackgroundJob job = sources(pattern, {1, 5, 2, 12, 7, 9}, 0.4, 3000, 7);
    const auto list = list_of(job, 3, *fabric, 2'000'000'000);
    ASSERT_GT(list.size(), 500U);
    Sources lazy(job, 3, *fabric);
    for (const RawMessage& expected : list) {
      EXPECT_EQ(lazy.next(), expected.start);
      ASSERT_TRUE(same(lazy.take().message, expected));
    }
    EXPECT_GE(lazy.next(), 2'000'000'000U);
  }
}

// The traffic of all patterns is the same at any time: at each, nodes send over all distances.
TEST(BackgroundSources, BeginAtPlacesOfTheirOwn) {
  const Machine m = torus("8x8");
  const auto fabric = Fabric::make(m, {});
  std::vector<std::int32_t> nodes(64);
  std::iota(nodes.begin(), nodes.end(), 0);
  const BackgroundJob job = sources(Pattern::alltoall, nodes, 0.4, 1000);
  Sources lazy(job, 0, *fabric);
  std::set<std::int32_t> steps;
  for (int i = 0; i < 64; ++i) {
    const RawMessage message = lazy.take().message;
    steps.insert((message.to - message.from + 64) % 64);
  }
  EXPECT_GT(steps.size(), 25U);
}

// Engines of 2 bytes a ns: at a load of 40 % a node offers 0.8 bytes a ns.
TEST(BackgroundSources, OfferTheirLoadToNodesOfTheirJob) {
  const Machine m = torus("8x8");
  const auto fabric = Fabric::make(m, {});
  const std::vector<std::int32_t> nodes{3, 60, 17, 8, 41};
  for (const Pattern pattern : patterns) {
    const BackgroundJob job = sources(pattern, nodes, 0.4, 1000);
    Sources lazy(job, 0, *fabric);
    constexpr Time end = 20'000'000'000;
    std::map<std::pair<std::int32_t, std::int32_t>, double> count;
    while (lazy.next() < end) {
      const RawMessage message = lazy.take().message;
      ASSERT_NE(message.from, message.to);
      for (const std::int32_t node : {message.from, message.to})
        ASSERT_TRUE(std::find(nodes.begin(), nodes.end(), node) != nodes.end());
      ++count[{message.from, message.to}];
    }
    const double expected = 20e6 * 0.8 / 1000; // messages of a node
    for (std::size_t place = 0; place < nodes.size(); ++place) {
      double sent = 0;
      for (std::size_t step = 1; step < nodes.size(); ++step) {
        const double each = count[{nodes[place], nodes[(place + step) % nodes.size()]}];
        const bool silent = pattern == Pattern::neighbour && step != 1 && step != nodes.size() - 1;
        const double share = pattern == Pattern::neighbour ? 0.5 : 0.25;
        EXPECT_NEAR(each, silent ? 0 : share * expected, 5 * std::sqrt(share * expected)) << name_of(pattern);
        sent += each;
      }
      EXPECT_NEAR(sent, expected, 5 * std::sqrt(expected));
    }
  }
}

// The list with the message watched, which starts at the warm-up's end and the send's cost later. Without software.
std::vector<RawMessage> with_watched(std::vector<RawMessage> list, const RawMessage& watched) {
  list.push_back(watched);
  std::stable_sort(list.begin(), list.end(),
                   [](const RawMessage& a, const RawMessage& b) { return a.start < b.start; });
  return list;
}
std::size_t place_of(const std::vector<RawMessage>& list) {
  const auto found = std::find_if(list.begin(), list.end(), [](const RawMessage& m) { return !m.background; });
  return static_cast<std::size_t>(found - list.begin());
}

struct ListCase {
  Machine machine;
  BackgroundJob job;
  PacketOptions options;
  std::vector<std::int32_t> nodes{0, 0};
  Time warm_up = 60'000'000;
};

ListCase list_case(std::uint64_t seed, Pattern pattern, Routing routing) {
  ListCase c{torus("5x4x2"), {}, packets_of(700), {0, 27}};
  c.options.routing = routing, c.options.seed = seed;
  c.job = sources(pattern, all_but(40, {0, 27}), 0.3, 2500, seed);
  return c;
}
Time end_by_list(const ListCase& c, const std::vector<RawMessage>& list) {
  const auto outcome = run(c.machine, list, c.options);
  EXPECT_TRUE(outcome) << outcome.error().sentence();
  return outcome->delivered[place_of(list)] + relay_latency - c.warm_up;
}
std::vector<RawMessage> list_of(const ListCase& c) {
  const auto fabric = Fabric::make(c.machine, c.options);
  return with_watched(list_of(c.job, 0, *fabric, 150'000'000),
                      {c.nodes[0], c.nodes[1], 20'000, c.warm_up + send_cost, 0, false});
}

// To the picosecond, and as the plain network of golden.hpp has it.
TEST(Background, IsAsTheListMadeInAdvance) {
  std::set<Time> times;
  for (const Pattern pattern : patterns)
    for (const Routing routing : {Routing::dimension_order, Routing::adaptive})
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const ListCase c = list_case(seed, pattern, routing);
        const auto outcome = outcome_of(c.machine, one_message(20'000), c.nodes, with({c.job}, c.warm_up), c.options);
        EXPECT_EQ(outcome.start, c.warm_up);
        const auto list = list_of(c);
        ASSERT_LT(outcome.start + outcome.last, list.back().start) << "the list must reach to the end";
        EXPECT_EQ(outcome.last, end_by_list(c, list));
        times.insert(outcome.last);
        if (seed > 1) continue;
        const auto fabric = Fabric::make(c.machine, c.options);
        const auto golden = Golden(*fabric, c.options, routing == Routing::adaptive ? 3 : 2).run(list);
        EXPECT_EQ(outcome.last, golden.delivered[place_of(list)] + relay_latency - c.warm_up);
      }
  EXPECT_GT(times.size(), 15U) << "the background must matter";
}

// What the comparison above must see: another seed, a message that is not sent, one that goes elsewhere.
TEST(Background, AnotherListIsNoticed) {
  int changed = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const ListCase c = list_case(seed, Pattern::uniform, Routing::dimension_order);
    const auto list = list_of(c);
    const Time right = end_by_list(c, list);
    ListCase other = c;
    other.job.seed = seed + 100;
    changed += end_by_list(c, list_of(other)) != right;
    bool one_matters = false;
    for (std::size_t i = 0; i < list.size() && !one_matters; ++i) {
      if (!list[i].background) continue;
      auto fewer = list;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      one_matters = end_by_list(c, fewer) != right;
    }
    EXPECT_TRUE(one_matters);
  }
  EXPECT_GT(changed, 2);
}

// By hand: the message watched has 4 packets of 1 us, the other one 2, which takes the link in turn with it from the
// same moment on: 0 to 3 comes to node 1 at 2 + 0.1 us, where 1 to 2 starts at 0.1 + 2 us.
TEST(Background, AMessageOnTheSameLinkTakesItsPacketsTime) {
  const Machine m = torus("8");
  const std::vector<std::int32_t> nodes{1, 2};
  const auto end = [&](const Background& background) {
    return outcome_of(m, one_message(4000), nodes, background, packets_of(1000)).last / 1000;
  };
  // Once in a long time: 1 ms of computing follows.
  const std::string once =
      "num_ranks 2\nrank 0 {\nsend 2000b to 1\n}\nrank 1 {\na: recv 2000b from 0\nb: calc 1000000\n"
      "b requires a\n}\n";
  EXPECT_EQ(end(with({})), 2000 + 100 + 4000 + 3000);
  EXPECT_EQ(end(with({recorded(graphs_of(once), {0, 3})}, 100'000)), 2000 + 100 + 4000 + 2000 + 3000);
  EXPECT_EQ(end(with({recorded(graphs_of(once), {0, 3})}, 50'000'000)), 2000 + 100 + 4000 + 3000) << "long gone";
  EXPECT_EQ(end(with({recorded(graphs_of(once), {3, 0})}, 100'000)), 2000 + 100 + 4000 + 3000) << "the other direction";
}

TEST(Background, WithoutAnyTimesAreAsAlone) {
  const Machine m = torus("4x4");
  const auto graphs =
      graphs_of("num_ranks 3\nrank 0 {\na: send 9000b to 1\nb: send 5000b to 2\nc: calc 700\nc requires b\n}\n"
                "rank 1 {\na: recv 9000b from 0\nb: send 100b to 2\nb requires a\n}\n"
                "rank 2 {\nrecv 5000b from 0\nrecv 100b from -1\n}\n");
  const std::vector<std::int32_t> nodes{2, 11, 6};
  const auto alone = run(m, graphs, nodes);
  ASSERT_TRUE(alone);
  // The second one has a source whose first message is years ahead.
  for (const Background& background : {with({}), with({sources(Pattern::uniform, {0, 1}, 1e-9, 1 << 30)}, 0),
                                       with({sources(Pattern::uniform, {0, 1}, 1e-9, 1 << 30)}, 77'000'000)}) {
    const auto outcome = outcome_of(m, graphs, nodes, background);
    EXPECT_EQ(outcome.end, alone->end);
    EXPECT_EQ(outcome.last, alone->last);
    EXPECT_EQ(outcome.last_rank, alone->last_rank);
    EXPECT_EQ(outcome.operations, alone->operations);
    EXPECT_EQ(outcome.traffic.packets, alone->traffic.packets);
    EXPECT_EQ(outcome.traffic.packet_hops, alone->traffic.packet_hops);
    EXPECT_EQ(outcome.traffic.packets_waited, alone->traffic.packets_waited);
    EXPECT_EQ(outcome.traffic.link_bytes, alone->traffic.link_bytes);
    EXPECT_EQ(outcome.traffic.background.packets, 0U);
  }
}

TEST(Background, OneSeedGivesOneTime) {
  const Machine m = torus("4x4x2");
  const std::vector<std::int32_t> nodes{0, 21};
  const auto outcome = [&](std::uint64_t seed) {
    return outcome_of(m, one_message(50'000), nodes,
                      with({sources(Pattern::uniform, all_but(32, {0, 21}), 0.4, 4000, seed)}));
  };
  std::set<Time> times;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto first = outcome(seed), second = outcome(seed);
    EXPECT_EQ(first.last, second.last);
    EXPECT_EQ(first.traffic.link_bytes, second.traffic.link_bytes);
    EXPECT_EQ(first.background[0].delivered, second.background[0].delivered);
    times.insert(first.last);
  }
  EXPECT_GE(times.size(), 5U);
}

// The more load, the longer in the mean; never shorter than alone, since one message meets only others.
TEST(Background, LoadTakesTime) {
  const Machine m = torus("4x4x2");
  const std::vector<std::int32_t> nodes{0, 21};
  const Time alone = outcome_of(m, one_message(50'000), nodes, {}).last;
  double before = static_cast<double>(alone);
  for (const double load : {0.05, 0.2, 0.6}) {
    double sum = 0, waited = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const auto outcome = outcome_of(m, one_message(50'000), nodes,
                                      with({sources(Pattern::uniform, all_but(32, {0, 21}), load, 4000, seed)}));
      EXPECT_GE(outcome.last, alone);
      sum += static_cast<double>(outcome.last), waited += outcome.traffic.own_packets_waiting_share();
    }
    EXPECT_GT(sum / 20, before);
    before = sum / 20;
    EXPECT_GT(waited, 0);
  }
}

// A line of a few nodes cannot carry what all its nodes offer: messages beyond the limit of a node are lost.
TEST(Background, AboveSaturationNodesKeepFewMessages) {
  const Machine m = torus("16");
  const std::vector<std::int32_t> nodes{0, 8};
  const auto graphs = graphs_of("num_ranks 2\nrank 0 {\na: calc 3000000\nb: send 8b to 1\nb requires a\n}\n"
                                "rank 1 {\nrecv 8b from 0\n}\n");
  for (const std::uint32_t most : {2U, 20U}) {
    Background background = with({sources(Pattern::uniform, all_but(16, {0, 8}), 1, 4000)}, 0);
    background.most_waiting = most;
    const auto outcome = outcome_of(m, graphs, nodes, background);
    const BackgroundUse& use = outcome.background[0];
    EXPECT_NEAR(static_cast<double>(use.offered), 14 * 2.0 * static_cast<double>(outcome.last) / 1000, 0.1 * 84e6);
    EXPECT_LT(use.delivered, 7 * use.offered / 10);
    EXPECT_GT(use.delivered, use.offered / 20);
    const BackgroundTraffic& traffic = outcome.traffic.background;
    EXPECT_LT(traffic.bytes, use.offered) << "some are lost";
    // What is under way is waiting, or in the buffers of 32 links: 2 channels of 4 packets, 2 of which are a message.
    EXPECT_LE(traffic.bytes - use.delivered, 4000 * (14 * most + 32 * 4));
    EXPECT_GE(traffic.bytes - use.delivered, 4000 * 14 * (most - 1) / 2);
  }
}

// The recorded job alone takes 2 + 0.1 + 1 + 3 us, and then starts again.
TEST(Background, RecordedJobsRunAgainAndAgain) {
  const Machine m = torus("16");
  const auto graphs = graphs_of("num_ranks 2\nrank 0 {\na: calc 100000\nb: send 8b to 1\nb requires a\n}\n"
                                "rank 1 {\nrecv 8b from 0\n}\n");
  const std::vector<std::int32_t> nodes{0, 1};
  const auto outcome = outcome_of(m, graphs, nodes, with({recorded(one_message(1000), {4, 5})}, 0));
  EXPECT_EQ(outcome.last / 1000, 100'000 + 2000 + 108 + 3000);
  EXPECT_EQ(outcome.background[0].runs, 105'108 / 6'100);
  EXPECT_EQ(outcome.background[0].delivered, outcome.background[0].runs * 1000);
}

// By rule the job watched starts in the second run of the recorded one, by the seed.
TEST(Background, TheWarmUpIsARunAndAPart) {
  const Machine m = torus("16");
  const std::vector<std::int32_t> nodes{0, 1};
  std::set<Time> starts;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    BackgroundJob job = recorded(one_message(1000), {4, 5});
    job.seed = seed;
    const Time start = outcome_of(m, one_message(8), nodes, with({job})).start;
    EXPECT_GE(start, 6'100'000U);
    EXPECT_LE(start, 12'200'000U);
    starts.insert(start);
  }
  EXPECT_EQ(starts.size(), 5U);
  // Of sources 16 times what they leave between two messages: 1000 bytes at 2 a ns, and a tenth of that.
  const auto job = sources(Pattern::uniform, {4, 5}, 0.1, 1000);
  EXPECT_EQ(outcome_of(m, one_message(8), nodes, with({job})).start, 16 * 5'000'000U);
}

// A machine that is shared by all kinds at once; the own counters are those of the job watched.
TEST(Background, SeveralJobs) {
  const Machine m = torus("4x4x2");
  const std::vector<std::int32_t> nodes{0, 21};
  const auto outcome =
      outcome_of(m, one_message(50'000), nodes,
                 with({sources(Pattern::alltoall, {1, 2, 3, 4, 5, 6}, 0.5, 4000), recorded(one_message(3000), {7, 8}),
                       sources(Pattern::neighbour, {9, 10, 11, 12}, 0.5, 4000)}));
  ASSERT_EQ(outcome.background.size(), 3U);
  for (const BackgroundUse& use : outcome.background) EXPECT_GT(use.delivered, 0U);
  EXPECT_GT(outcome.background[1].runs, 0U);
  EXPECT_EQ(outcome.traffic.packets - outcome.traffic.background.packets, 25U) << "of 2048 bytes";
}

std::string problem(const Background& background, const std::vector<std::int32_t>& nodes = {0, 1}) {
  const auto outcome = run(torus("8"), one_message(8), nodes, background);
  EXPECT_FALSE(outcome);
  return outcome ? "" : outcome.error().sentence();
}

TEST(Background, WrongInput) {
  const auto uniform = [](std::vector<std::int32_t> nodes, double load = 0.5, std::uint64_t bytes = 100) {
    return with({sources(Pattern::uniform, std::move(nodes), load, bytes)});
  };
  EXPECT_EQ(problem(uniform({1, 2})), "a node must belong to one job alone (got 1)");
  EXPECT_EQ(problem(with({sources(Pattern::uniform, {2, 3}, 0.5, 1), sources(Pattern::uniform, {4, 3}, 0.5, 1)})),
            "a node must belong to one job alone (got 3)");
  EXPECT_EQ(problem(uniform({2, 3, 2})), "a background job must have each of its nodes once (got 2)");
  EXPECT_EQ(problem(uniform({2, 8})), "background jobs must be on nodes 0 to 7 (got 8)");
  EXPECT_EQ(problem(uniform({2})), "a background job must have at least 2 nodes (got 1)");
  EXPECT_EQ(problem(uniform({2, 3}, 0)), "the load of a background job must be above 0 and at most 100 % (got 0 %)");
  EXPECT_EQ(problem(uniform({2, 3}, 1.5)),
            "the load of a background job must be above 0 and at most 100 % (got 150 %)");
  EXPECT_EQ(problem(uniform({2, 3}, std::nan(""))).substr(0, 30), "the load of a background job m");
  EXPECT_EQ(problem(uniform({2, 3}, 0.5, 0)), "messages of a background job must have 1 to 1073741824 bytes (got 0)");
  EXPECT_EQ(problem(with({recorded(one_message(8), {2, 3, 4})})),
            "a recorded job of 2 ranks must have a node for each (got 3)");
  EXPECT_EQ(problem(with({recorded(graphs_of("num_ranks 2\nrank 0 {\n}\n"), {2, 3})})),
            "a recorded background job must take time (got 0 s)");
  const auto lonely = graphs_of("num_ranks 2\nrank 0 {\nsend 8b to 1\n}\n");
  EXPECT_EQ(problem(with({recorded(lonely, {2, 3})})).substr(0, 53),
            "a recorded background job: rank 0: send operation 0 (");
  EXPECT_FALSE(pattern_of("shift"));
  EXPECT_EQ(*pattern_of("alltoall"), Pattern::alltoall);
}

TEST(Background, NodesDoNotDieBesideOthers) {
  PacketOptions options;
  options.deaths = {{0, 1000}};
  const std::vector<std::int32_t> nodes{0, 1};
  const auto outcome =
      run(torus("8"), one_message(8), nodes, with({sources(Pattern::uniform, {2, 3}, 0.5, 1000)}), options);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().problem, "nodes die only on a machine without background jobs");
}

// What never matches in the job watched is an error, although other jobs go on.
TEST(Background, AJobThatNeverEndsIsNoticed) {
  const std::vector<std::int32_t> nodes{0, 1};
  const auto outcome = run(
      torus("8"), graphs_of("num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 3\n}\nrank 1 {\nrecv 8b from 0 tag 4\n}\n"),
      nodes, with({sources(Pattern::uniform, {2, 3}, 0.5, 1000)}));
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().problem.find("has no matching receive"), std::string::npos);
}

} // namespace
} // namespace kumihimo::packet
