// The rules of unequal nodes: processes of a node, the split of updates with a device, and the recurrence of panels.
#include "lu/block_cyclic.hpp"
#include "lu/node_processes.hpp"
#include "lu/pipeline.hpp"
#include "lu/update_split.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace kumihimo::lu {
namespace {

std::vector<std::int32_t> processes_of(const std::vector<double>& peaks, const std::vector<std::int32_t>& cores) {
  const std::vector<NodeProcesses> rule = *processes_of_nodes(peaks, cores);
  std::vector<std::int32_t> found;
  for (const NodeProcesses& each : rule) found.push_back(each.processes);
  return found;
}

// Shi et al.: 670 / 202 = 3.3 -> 4, nodes without a GPU 1.
TEST(ProcessesOfNodes, AreThoseThatWerePublished) {
  const std::vector<double> peaks{670, 670, 202, 202, 202};
  const std::vector<std::int32_t> cores(5, 12);
  EXPECT_EQ(processes_of(peaks, cores), (std::vector<std::int32_t>{4, 4, 1, 1, 1}));
  EXPECT_EQ(described(peaks, cores, *processes_of_nodes(peaks, cores)),
            "nodes 1-2: 670/202 = 3.32 + 0.68 = 4 processes of 12 cores; nodes 3-5: 202/202 = 1.00 + 0.00 = 1 process "
            "of 12 cores");
}

TEST(ProcessesOfNodes, AreTheSmallestDivisorThatIsEnough) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 500; ++round) {
    const std::int32_t cores = std::uniform_int_distribution<std::int32_t>(1, 64)(random);
    const double ratio = std::uniform_real_distribution<double>(1, 70)(random);
    const std::vector<NodeProcesses> rule =
        *processes_of_nodes(std::vector<double>{ratio, 1.0}, std::vector{cores, cores}, 0);
    const NodeProcesses& fast = rule[0];
    EXPECT_EQ(cores % fast.processes, 0);
    EXPECT_NEAR(fast.ratio + fast.beta, fast.processes, 1e-12);
    if (ratio > cores) {
      EXPECT_EQ(fast.processes, cores) << "no node has more processes than cores";
      continue;
    }
    EXPECT_GE(fast.processes, ratio);
    for (std::int32_t fewer = 1; fewer < fast.processes; ++fewer) EXPECT_TRUE(cores % fewer != 0 || fewer < ratio);
  }
}

TEST(ProcessesOfNodes, ForgiveAMeasuredRateThatIsALittleHigh) {
  EXPECT_EQ(processes_of({2.05, 1.0}, {4, 4}), (std::vector<std::int32_t>{2, 1}));
  EXPECT_EQ(processes_of({2.2, 1.0}, {4, 4}), (std::vector<std::int32_t>{4, 1}));
}

TEST(ProcessesOfNodes, RefuseWhatIsNoNode) {
  const std::vector<std::int32_t> cores{2, 2};
  EXPECT_FALSE(processes_of_nodes({}, {}).ok());
  EXPECT_FALSE(processes_of_nodes(std::vector{1.0}, cores).ok());
  for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_FALSE(processes_of_nodes(std::vector{1.0, wrong}, cores).ok());
  EXPECT_FALSE(processes_of_nodes(std::vector{1.0, 2.0}, std::vector<std::int32_t>{2, 0}).ok());
}

TEST(UsualGrid, IsTheMostSquare) {
  for (std::int32_t processes = 1; processes < 300; ++processes) {
    const auto [p, q] = usual_grid(processes);
    EXPECT_EQ(p * q, processes);
    EXPECT_LE(p, q);
    for (std::int32_t more = p + 1; more * more <= processes; ++more) EXPECT_NE(processes % more, 0);
  }
}

// A device and processors of these rates, as the split sees them after each panel.
struct Machine {
  double device = 1, processors = 1, noise = 0;
  std::mt19937_64 random{1};
  void panel(UpdateSplit& split, std::int64_t columns = 2000) {
    const std::int64_t first = split.device_columns(columns);
    std::uniform_real_distribution<double> factor(1 - noise, 1 + noise);
    const auto flops = static_cast<double>(first), rest = static_cast<double>(columns - first);
    split.measured({flops, flops / device * factor(random)}, {rest, rest / processors * factor(random)});
  }
};

TEST(UpdateSplit, ConvergesToTheRatioOfSpeedsAndHolds) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    Machine machine{.device = std::exp(std::uniform_real_distribution<double>(-3, 3)(random)),
                    .noise = round % 2 == 0 ? 0.0 : 0.05};
    machine.random.seed(static_cast<std::uint64_t>(round));
    UpdateSplit split(std::uniform_real_distribution<double>(0, 1)(random));
    for (int panel = 0; panel < 40; ++panel) machine.panel(split);
    const double wanted = machine.device / (machine.device + 1);
    EXPECT_NEAR(split.share(), wanted, 0.03) << machine.device;
    EXPECT_TRUE(split.holds()) << machine.device;
    const double held = split.share();
    for (int panel = 0; panel < 40; ++panel) machine.panel(split);
    EXPECT_EQ(split.share(), held) << "noise does not move it";
  }
}

TEST(UpdateSplit, GivesAStalledDeviceLittleAndTakesItBack) {
  Machine machine{.device = 4};
  UpdateSplit split;
  for (int panel = 0; panel < 20; ++panel) machine.panel(split);
  EXPECT_NEAR(split.share(), 0.8, 0.02);
  machine.device = 0.001;
  for (int panel = 0; panel < 10; ++panel) machine.panel(split);
  EXPECT_LT(split.share(), 0.02);
  EXPECT_GT(split.device_columns(2000), 0) << "so that it is measured again";
  machine.device = 4;
  for (int panel = 0; panel < 12; ++panel) machine.panel(split);
  EXPECT_NEAR(split.share(), 0.8, 0.03);
}

TEST(UpdateSplit, StaysBetween0And1WhateverItIsTold) {
  std::mt19937_64 random(9);
  const double odd[] = {
      0, -1, 1e-300, 1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 3};
  std::uniform_int_distribution<std::size_t> pick(0, std::size(odd) - 1);
  for (int round = 0; round < 2000; ++round) {
    UpdateSplit split(odd[pick(random)]);
    for (int panel = 0; panel < 8; ++panel) {
      split.measured({odd[pick(random)], odd[pick(random)]}, {odd[pick(random)], odd[pick(random)]});
      ASSERT_GE(split.share(), 0);
      ASSERT_LE(split.share(), 1);
      ASSERT_GE(split.device_columns(100), 0);
      ASSERT_LE(split.device_columns(100), 100);
    }
  }
}

TEST(UpdateSplit, KeepsRatesOfPartsThatHadNoWork) {
  UpdateSplit split;
  split.measured({300, 1}, {100, 1});
  const double before = split.share();
  split.measured({0, 0}, {100, 1});
  EXPECT_GT(split.share(), before) << "it goes on to the rates that it knows";
  EXPECT_LE(split.share(), 0.75);
}

// --- the recurrence

PipelineQuestion question_of(std::int64_t rows, std::int64_t block, std::int32_t p, std::int32_t q) {
  return {.rows = rows,
          .block = block,
          .p = p,
          .q = q,
          .update_rate = 5e10,
          .panel_rate = 2e10,
          .solution_rate = 2e9,
          .message_seconds = 0,
          .byte_seconds = 0,
          .speeds = {},
          .broadcasts = {}};
}

TEST(Pipeline, OneProcessTakesWhatItsWorkTakes) {
  for (const auto& [rows, block] : {std::pair{1000, 50}, {1001, 64}, {30, 100}}) {
    const PipelineQuestion asked = question_of(rows, std::min(rows, block), 1, 1);
    double panels = 0, updates = 0;
    const BlockCyclic d{rows, asked.block, 1};
    for (std::int64_t b = 0; b < d.blocks(); ++b) {
      const auto width = static_cast<double>(d.block_size(b)), from = static_cast<double>(rows - b * asked.block);
      panels += from * width * width;
      updates += (from - width + 1) * (width * width + 2 * width * (from - width)); // with the right side
    }
    const double wanted = panels / 2e10 + updates / 5e10 + 1.0 * rows * rows / 2e9;
    const PipelineTimes found = *pipeline(asked);
    EXPECT_NEAR(found.seconds / wanted, 1, 1e-12);
    EXPECT_EQ(found.seconds, found.most_work);
  }
}

TEST(Pipeline, NoMessagesNoWaitingButForPanels) {
  for (const std::int32_t q : {2, 4}) {
    const PipelineTimes found = *pipeline(question_of(8000, 50, 2, q));
    EXPECT_GE(found.seconds, found.most_work);
    EXPECT_LT(found.seconds, 1.05 * found.most_work) << "look-ahead hides panels";
  }
}

TEST(Pipeline, SlowerMessagesOrProcessesNeverTakeLess) {
  std::mt19937_64 random(11);
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  for (int round = 0; round < 100; ++round) {
    PipelineQuestion asked = question_of(draw(100, 3000), draw(1, 100), static_cast<std::int32_t>(draw(1, 5)),
                                         static_cast<std::int32_t>(draw(1, 6)));
    asked.byte_seconds = 1e-9;
    asked.message_seconds = 1e-6;
    const double before = pipeline(asked)->seconds;
    asked.speeds.assign(static_cast<std::size_t>(asked.p) * static_cast<std::size_t>(asked.q), 1.0);
    EXPECT_EQ(pipeline(asked)->seconds, before);
    asked.speeds[static_cast<std::size_t>(draw(0, asked.p * asked.q - 1))] = 0.5;
    const double slower = pipeline(asked)->seconds;
    EXPECT_GE(slower, before);
    EXPECT_LT(slower, 2 * before + 1e-9);
    asked.byte_seconds *= 3;
    EXPECT_GE(pipeline(asked)->seconds, slower);
  }
}

TEST(Pipeline, OneSlowProcessHoldsUpAll) {
  PipelineQuestion asked = question_of(20000, 100, 4, 4);
  const double equal = pipeline(asked)->seconds;
  asked.speeds.assign(16, 1.0);
  asked.speeds[5] = 0.5;
  EXPECT_NEAR(pipeline(asked)->seconds / equal, 2, 0.1) << "the matrix is dealt in equal parts";
}

// A chain that is slower than the updates: panel after panel over the same link.
TEST(Pipeline, SlowLinksPassOnePanelAfterAnother) {
  PipelineQuestion asked = question_of(1000, 50, 1, 4);
  asked.byte_seconds = 1e-3;
  double bytes = 0; // over the link from column 1 to column 2: all panels but those that begin at column 2
  for (std::int64_t b = 0; b < 20; ++b)
    if (b % 4 != 2) bytes += 8.0 * (2 + 50 * (1 + 50 + (1000 - (b + 1) * 50)));
  EXPECT_GE(pipeline(asked)->seconds, bytes * 1e-3);
}

// A broadcast by messages (from, to, share), each of which is waited for at once.
std::vector<BroadcastEvent> one_by_one(const std::vector<std::tuple<int, int, double>>& messages) {
  std::vector<BroadcastEvent> events;
  for (const auto& [from, to, share] : messages) {
    const auto number = static_cast<std::int32_t>(events.size() / 2);
    events.push_back({.process = from, .share = share});
    events.push_back({.process = to, .sends = false, .message = number});
  }
  return events;
}

TEST(Pipeline, APanelComesByTheMessagesOfItsBroadcast) {
  PipelineQuestion asked = question_of(400, 100, 1, 4);
  asked.message_seconds = 1;
  const auto seconds = [&](const std::vector<BroadcastEvent>& events) { // none: along a chain
    asked.broadcasts.clear();
    if (!events.empty()) asked.broadcasts.push_back(events);
    return pipeline(asked)->seconds;
  };
  const auto chain = one_by_one({{0, 1, 1}, {1, 2, 1}, {2, 3, 1}}),
             star = one_by_one({{0, 1, 1}, {0, 2, 1}, {0, 3, 1}});
  const double along_chain = seconds({});
  EXPECT_EQ(seconds(chain), along_chain);
  EXPECT_NEAR(along_chain - seconds(star), 2, 0.1) << "the last panel reaches the last process two messages earlier";
  asked.byte_seconds = 1e-6;
  EXPECT_GT(seconds(one_by_one({{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {0, 3, 1}})), seconds(star))
      << "a process sends one message after another";
  EXPECT_GT(seconds(chain), along_chain);
}

TEST(Pipeline, APanelGoesByTheBroadcastOfItsOwner) {
  PipelineQuestion asked = question_of(200, 100, 1, 3); // two panels
  asked.message_seconds = 1;
  const auto chain = one_by_one({{0, 1, 1}, {1, 2, 1}}), star = one_by_one({{0, 1, 1}, {0, 2, 1}});
  const auto seconds = [&](std::vector<std::vector<BroadcastEvent>> of_owners) {
    asked.broadcasts = std::move(of_owners);
    return pipeline(asked)->seconds;
  };
  EXPECT_EQ(seconds({star, star, star}), seconds({star}));
  EXPECT_EQ(seconds({star, star, chain}), seconds({star})) << "process 2 owns no panel";
  EXPECT_NEAR(seconds({star, chain, star}) - seconds({star}), 1, 0.1) << "the last panel comes a message later";
}

// Two processes that exchange halves do so at once.
TEST(Pipeline, AnExchangeTakesTheTimeOfOneMessage) {
  PipelineQuestion asked = question_of(100, 100, 1, 2); // one panel
  asked.byte_seconds = 1e-3;
  const double bytes = 8.0 * (2 + 100 * 101);
  asked.broadcasts = {{{.process = 0, .share = 0.5},
                       {.process = 1, .sends = false, .message = 0},
                       {.process = 0, .share = 0.5},
                       {.process = 1, .share = 0.5},
                       {.process = 0, .sends = false, .message = 2},
                       {.process = 1, .sends = false, .message = 1}}};
  EXPECT_NEAR(pipeline(asked)->seconds, bytes * 1e-3, 1) << "not half as much again; the solution sends a little, too";
}

TEST(Pipeline, ATournamentHasOneExchangeAPanel) {
  PipelineQuestion asked = question_of(4000, 100, 4, 4);
  asked.message_seconds = 1e-4;
  const double rows = pipeline(asked)->seconds;
  asked.tournament = true;
  const double tournament = pipeline(asked)->seconds;
  EXPECT_GT(rows - tournament, 40 * 90 * 2 * 1e-4) << "40 panels of 100 columns, two rounds a pivot";
  asked.tasks = true;
  EXPECT_LT(pipeline(asked)->seconds, tournament) << "rows of the panel come with the exchange";
}

TEST(Pipeline, RefusesWhatIsNoFactorisation) {
  EXPECT_FALSE(pipeline(question_of(0, 1, 1, 1)).ok());
  EXPECT_FALSE(pipeline(question_of(10, 0, 1, 1)).ok());
  EXPECT_FALSE(pipeline(question_of(10, 1, 1, 0)).ok());
  PipelineQuestion asked = question_of(10, 1, 1, 2);
  asked.update_rate = 0;
  EXPECT_FALSE(pipeline(asked).ok());
  asked = question_of(10, 1, 1, 2);
  asked.speeds = {1.0};
  EXPECT_FALSE(pipeline(asked).ok());
  asked.speeds = {1.0, 0.0};
  EXPECT_FALSE(pipeline(asked).ok());
  asked = question_of(10, 1, 1, 2);
  for (const std::vector<BroadcastEvent>& wrong : {std::vector<BroadcastEvent>{{.process = 2}},
                                                   {{.process = -1}},
                                                   {{.process = 0, .share = -1}},
                                                   {{.process = 0}, {.process = 1, .sends = false, .message = 1}},
                                                   {{.process = 0, .sends = false}}}) {
    asked.broadcasts = {wrong};
    EXPECT_FALSE(pipeline(asked).ok());
  }
  asked.broadcasts = {{}, {}, {}};
  EXPECT_FALSE(pipeline(asked).ok()) << "of three owners in a row of two";
}

} // namespace
} // namespace kumihimo::lu
