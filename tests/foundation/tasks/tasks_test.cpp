// Every schedule runs every task once, after what it waits for; the checker finds those that do not.
#include "measure/clock.hpp"
#include "tasks/injected_noise.hpp"
#include "tasks/run_tasks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace kumihimo::tasks {
namespace {

using Schedule = Result<TaskLog> (*)(const TaskGraph&, int, const TaskWork&, TaskMessages*);

struct NamedSchedule {
  const char* name;
  Schedule schedule;
  bool keeps_owners;
  Result<TaskLog> run(const TaskGraph& graph, int threads, const TaskWork& work,
                      TaskMessages* messages = nullptr) const {
    return schedule(graph, threads, work, messages);
  }
};
const NamedSchedule schedules[] = {
    {"own", &run_tasks, true}, {"openmp", &run_by_openmp, false}, {"tbb", &run_by_tbb, false}};

// False: this build has no TBB.
bool is_here(const NamedSchedule& each) {
  if (std::string(each.name) != "tbb") return true;
  return run_by_tbb(TaskGraph(), 1, [](TaskId, int) { return Status(Nothing{}); }).ok();
}

// Columns of tasks as those of a factorisation: the first part of them is static.
TaskGraph random_graph(std::mt19937& random, std::int32_t size, double share, int threads, double messages = 0) {
  std::vector<double> costs(static_cast<std::size_t>(size));
  for (double& each : costs) each = std::uniform_real_distribution<double>(0.1, 10)(random);
  const std::vector<std::int32_t> owners = owners_of(costs, threads, share);
  TaskGraph graph;
  for (std::int32_t id = 0; id < size; ++id) {
    std::vector<TaskId> after;
    const int count = id == 0 ? 0 : std::uniform_int_distribution<int>(0, 4)(random);
    for (int i = 0; i < count; ++i) after.push_back(std::uniform_int_distribution<TaskId>(0, id - 1)(random));
    const bool is_message = std::bernoulli_distribution(messages)(random);
    const std::int32_t owner = is_message ? no_thread : owners[static_cast<std::size_t>(id)];
    graph.add({costs[static_cast<std::size_t>(id)], owner}, after);
  }
  return graph;
}

TEST(TaskGraphs, CriticalPathsAreTheLongest) {
  TaskGraph graph; // 0 -> 1 -> 3, 0 -> 2 -> 3, 4
  graph.add({1}, {});
  graph.add({5}, std::vector<TaskId>{0});
  graph.add({2}, std::vector<TaskId>{0, 0});
  graph.add({3}, std::vector<TaskId>{1, 2});
  graph.add({4}, {});
  const CriticalPaths paths(graph);
  EXPECT_EQ(paths.length, (std::vector<double>{9, 8, 5, 3, 4}));
  EXPECT_EQ(paths.urgency, (std::vector<std::int32_t>{0, 1, 2, 4, 3}));
  EXPECT_EQ(graph.before(2).size(), 1U);
  EXPECT_EQ(paths.after(0).size(), 2U);
}

TEST(TaskGraphs, TheFirstPartOfTheCostIsStatic) {
  const std::vector<double> costs(10, 1.0);
  EXPECT_EQ(owners_of(costs, 3, 0.0), std::vector<std::int32_t>(10, any_thread));
  const std::vector<std::int32_t> half = owners_of(costs, 3, 0.5);
  EXPECT_EQ(half, (std::vector<std::int32_t>{0, 1, 2, 0, 1, -1, -1, -1, -1, -1}));
  EXPECT_EQ(owners_of(costs, 3, 1.0).back(), 0);
}

TEST(Schedules, RunEveryTaskOnceAfterThoseItWaitsFor) {
  std::mt19937 random(1);
  for (const NamedSchedule& each : schedules) {
    if (!is_here(each)) continue;
    for (const int threads : {1, 2, 3, 5})
      for (const double share : {0.0, 0.3, 0.7, 1.0})
        for (const std::int32_t size : {0, 1, 7, 300}) {
          const TaskGraph graph = random_graph(random, size, share, threads);
          std::vector<std::atomic<int>> ended(static_cast<std::size_t>(size));
          std::vector<int> plain(static_cast<std::size_t>(size)); // unordered writes are a race
          const Result<TaskLog> log = each.run(graph, threads, [&](TaskId task, int) -> Status {
            int sum = 1;
            for (const TaskId before : graph.before(task)) {
              EXPECT_EQ(ended[static_cast<std::size_t>(before)], 1);
              sum += plain[static_cast<std::size_t>(before)] % 7;
            }
            plain[static_cast<std::size_t>(task)] = sum;
            ++ended[static_cast<std::size_t>(task)];
            return Nothing{};
          });
          ASSERT_TRUE(log.ok()) << each.name << ": " << log.error().sentence();
          const Status checked = check(*log, graph, each.keeps_owners);
          EXPECT_TRUE(checked.ok()) << each.name << ", " << threads << " threads: " << checked.error().sentence();
          for (const std::atomic<int>& count : ended) EXPECT_EQ(count, 1);
        }
  }
}

TEST(Schedules, AnErrorEndsTheRun) {
  std::mt19937 random(2);
  for (const NamedSchedule& each : schedules) {
    if (!is_here(each)) continue;
    for (const int threads : {1, 3}) {
      const TaskGraph graph = random_graph(random, 200, 0.5, threads);
      std::atomic<int> runs = 0;
      const Result<TaskLog> log = each.run(graph, threads, [&](TaskId task, int) -> Status {
        ++runs;
        return task == 20 ? Status(failed("task 20 broke")) : Status(Nothing{});
      });
      ASSERT_FALSE(log.ok()) << each.name;
      EXPECT_EQ(log.error().sentence(), "task 20 broke");
      EXPECT_LE(runs, 200);
    }
    EXPECT_THROW((void)each.run(random_graph(random, 50, 0.5, 2), 2,
                                [](TaskId task, int) -> Status {
                                  if (task == 7) throw std::runtime_error("thrown");
                                  return Nothing{};
                                }),
                 std::runtime_error)
        << each.name;
  }
}

TEST(Schedules, OneThreadGoesByCriticalPaths) {
  TaskGraph graph;
  graph.add({1}, {});
  graph.add({2}, {});
  graph.add({5}, std::vector<TaskId>{0});
  std::vector<TaskId> order;
  const Result<TaskLog> log = run_tasks(graph, 1, [&](TaskId task, int) {
    order.push_back(task);
    return Status(Nothing{});
  });
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(order, (std::vector<TaskId>{0, 2, 1}));
}

// Messages that end some polls after they began, in a random order.
class DelayedMessages final : public TaskMessages {
 public:
  explicit DelayedMessages(const TaskGraph& graph, std::int64_t broken_poll = -1)
      : graph_(graph), broken_poll_(broken_poll), caller_(std::this_thread::get_id()) {}
  Status begin(TaskId task) override {
    EXPECT_EQ(graph_.task(task).owner, no_thread);
    EXPECT_EQ(std::this_thread::get_id(), caller_);
    under_way_.emplace_back(task, std::uniform_int_distribution<int>(0, 20)(random_));
    return Nothing{};
  }
  Status poll(std::vector<TaskId>& ended) override {
    EXPECT_EQ(std::this_thread::get_id(), caller_);
    if (polls++ == broken_poll_) return failed("the network is gone");
    std::erase_if(under_way_, [&](std::pair<TaskId, int>& each) {
      if (each.second-- > 0) return false;
      ended.push_back(each.first);
      return true;
    });
    return Nothing{};
  }
  std::int64_t polls = 0;

 private:
  const TaskGraph& graph_;
  std::int64_t broken_poll_;
  std::thread::id caller_;
  std::mt19937 random_{5};
  std::vector<std::pair<TaskId, int>> under_way_;
};

TEST(Schedules, MessagesGoOnBesideTasks) {
  std::mt19937 random(3);
  for (const NamedSchedule& each : schedules)
    for (const int threads : {1, 2, 3})
      for (const double share : {0.0, 0.5, 1.0}) {
        if (!is_here(each)) continue;
        const TaskGraph graph = random_graph(random, 300, share, threads, 0.2);
        std::atomic<int> runs = 0;
        const auto work = [&](TaskId task, int) -> Status {
          EXPECT_NE(graph.task(task).owner, no_thread);
          ++runs;
          return Nothing{};
        };
        DelayedMessages messages(graph);
        const Result<TaskLog> log = each.run(graph, threads, work, &messages);
        ASSERT_TRUE(log.ok()) << each.name << log.error().sentence();
        const Status checked = check(*log, graph, each.keeps_owners);
        EXPECT_TRUE(checked.ok()) << each.name << checked.error().sentence();
        const auto sent = std::ranges::count(log->events, no_thread, &TaskEvent::thread);
        EXPECT_GT(sent, 30);
        EXPECT_EQ(runs + sent, 300);
        if (each.keeps_owners) {
          EXPECT_GE(messages.polls, std::ranges::count(log->events, 0, &TaskEvent::thread));
        }
      }
}

TEST(Schedules, ABrokenMessageEndsTheRun) {
  std::mt19937 random(4);
  const TaskGraph graph = random_graph(random, 300, 0.5, 2, 0.2);
  for (const NamedSchedule& each : schedules)
    for (const int threads : {1, 2})
      for (const std::int64_t poll : {0, 7}) {
        if (!is_here(each)) continue;
        DelayedMessages messages(graph, poll);
        const TaskWork nothing = [](TaskId, int) { return Status(Nothing{}); };
        const Result<TaskLog> stopped = each.run(graph, threads, nothing, &messages);
        ASSERT_FALSE(stopped.ok()) << each.name;
        EXPECT_EQ(stopped.error().sentence(), "the network is gone");
      }
}

// A static task waits for its owner; a dynamic one does not.
TEST(Schedules, OthersTakeTheDynamicPartOfASlowThread) {
  TaskGraph graph;
  for (int i = 0; i < 40; ++i) graph.add({1.0, i < 8 ? i % 2 : any_thread}, {});
  const Result<TaskLog> log = run_tasks(graph, 2, [](TaskId, int thread) {
    std::this_thread::sleep_for(std::chrono::milliseconds(thread == 1 ? 20 : 1));
    return Status(Nothing{});
  });
  ASSERT_TRUE(log.ok());
  if (log->threads < 2) GTEST_SKIP();
  int of_fast = 0;
  for (const TaskEvent& each : log->events) of_fast += each.thread == 0;
  EXPECT_GT(of_fast, 25);
}

TEST(TaskLogs, AThreadWaitsForTheTaskThatEndedLast) {
  TaskGraph graph;
  graph.add({1}, {});
  graph.add({1}, {});
  graph.add({1}, std::vector<TaskId>{0, 1});
  TaskLog log{.threads = 2,
              .events = {{.task = 0, .thread = 0, .begin = 0, .end = 10},
                         {.task = 1, .thread = 1, .begin = 0, .end = 30},
                         {.task = 2, .thread = 0, .begin = 31, .end = 40}},
              .end = 40};
  add_waits(log, graph);
  EXPECT_EQ(log.events[2].idle, 21);
  EXPECT_EQ(log.events[2].waited_for, 1);
  EXPECT_EQ(log.events[1].waited_for, no_task);
  EXPECT_TRUE(check(log, graph).ok());
}

TEST(Sabotage, TheCheckFindsADependenceThatTheScheduleLacks) {
  TaskGraph whole, sabotaged;
  for (TaskGraph* const graph : {&whole, &sabotaged}) {
    graph->add({1}, {});
    graph->add({9}, graph == &whole ? std::vector<TaskId>{0} : std::vector<TaskId>{});
  }
  const Result<TaskLog> log = run_tasks(sabotaged, 1, [](TaskId, int) { return Status(Nothing{}); });
  ASSERT_TRUE(log.ok());
  EXPECT_TRUE(check(*log, sabotaged).ok());
  const Status found = check(*log, whole);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().problem, "task 1 began before task 0 ended");
}

TEST(Sabotage, TheCheckFindsWhatRunsTwiceNeverOrElsewhere) {
  TaskGraph graph;
  graph.add({1, 0}, {});
  graph.add({1, 1}, {});
  const TaskLog right{
      .threads = 2,
      .events = {{.task = 0, .thread = 0, .begin = 0, .end = 5}, {.task = 1, .thread = 1, .begin = 1, .end = 6}},
      .end = 6};
  ASSERT_TRUE(check(right, graph).ok());
  TaskLog twice = right, never = right, elsewhere = right, at_once = right, unknown = right, as_message = right;
  twice.events[1].task = 0;
  never.events.pop_back();
  elsewhere.events[1].thread = 0;
  elsewhere.events[1].begin = 5;
  at_once.events[1].thread = 0;
  unknown.events[1].task = 2;
  as_message.events[1].thread = no_thread;
  for (const TaskLog* const each : {&twice, &never, &elsewhere, &at_once, &unknown, &as_message})
    EXPECT_FALSE(check(*each, graph).ok());
  EXPECT_FALSE(check(at_once, graph, false).ok());
  EXPECT_TRUE(check(elsewhere, graph, false).ok());
}

TEST(Sabotage, TheCheckFindsAMessageOnAThread) {
  TaskGraph graph;
  graph.add({1, no_thread}, {});
  graph.add({1, 0}, std::vector<TaskId>{0});
  TaskLog log{.threads = 1,
              .events = {{.task = 0, .thread = no_thread, .begin = 0, .end = 5},
                         {.task = 1, .thread = 0, .begin = 6, .end = 8}},
              .end = 8};
  ASSERT_TRUE(check(log, graph).ok());
  add_waits(log, graph);
  EXPECT_EQ(log.events[1].idle, 6);
  EXPECT_EQ(log.events[1].waited_for, 0);
  log.events[0].thread = 0;
  EXPECT_FALSE(check(log, graph).ok());
  log.events[0] = {.task = 0, .thread = no_thread, .begin = 5, .end = 0};
  EXPECT_FALSE(check(log, graph).ok());
}

TEST(InjectedNoises, AreReadAndRefused) {
  const Result<NoisePattern> pattern = parse_noise_pattern("1.5ms/20ms", "noise");
  ASSERT_TRUE(pattern.ok());
  EXPECT_EQ(pattern->length, 1'500'000);
  EXPECT_EQ(pattern->interval, 20'000'000);
  EXPECT_EQ(parse_noise_pattern("", "noise")->length, 0);
  for (const char* const text :
       {"1ms", "1ms/", "/1ms", "1/2", "-1ms/10ms", "1ms/10ms/2", "10ms/10ms", "1ms/nan", "inf/1s"})
    EXPECT_FALSE(parse_noise_pattern(text, "noise").ok()) << text;
}

TEST(InjectedNoises, TakeOneDetourFromEveryInterval) {
  const NoisePattern pattern{.length = 20, .interval = 100, .seed = 3};
  std::int64_t last = -1;
  for (std::int64_t detour = 0; detour < 50; ++detour) {
    const std::int64_t start = pattern.start_of(detour);
    EXPECT_GT(start, last);
    EXPECT_GE(start, 100 * detour);
    EXPECT_LE(start + 20, 100 * (detour + 1));
    EXPECT_EQ(pattern.resumed(start + 19), start + 20);
    EXPECT_EQ(pattern.resumed(start + 20), start + 20);
    EXPECT_EQ(pattern.delayed(start + 20, start + 20), start + 20);
    last = start;
  }
  // Piece by piece or at once, 4,000 of work take as much longer as the detours that meet it.
  std::int64_t now = 0;
  for (int i = 0; i < 4000; ++i) {
    now = pattern.resumed(now);
    now = pattern.delayed(now, now + 1);
  }
  EXPECT_EQ(pattern.delayed(pattern.resumed(0), pattern.resumed(0) + 4000), now);
  EXPECT_NEAR(static_cast<double>(now), 5000, 20);
  const NoisePattern other{.length = 20, .interval = 100, .seed = 4};
  EXPECT_NE(pattern.start_of(7) * 1000 + pattern.start_of(8), other.start_of(7) * 1000 + other.start_of(8));
}

TEST(InjectedNoises, DelayTheTasksOfOneThread) {
  InjectedNoise noise({.length = 1'000'000, .interval = 2'000'000, .seed = 3}, 0);
  const TaskWork work = [](TaskId, int) -> Status {
    const std::int64_t begin = measure::now_ns();
    while (measure::now_ns() - begin < 300'000) {
    }
    return Nothing{};
  };
  const TaskWork noisy = noise.around(work);
  noise.start();
  const std::int64_t begin = measure::now_ns();
  for (TaskId id = 0; id < 40; ++id) ASSERT_TRUE(noisy(id, 1).ok());
  EXPECT_TRUE(noise.taken().empty());
  for (TaskId id = 0; id < 40; ++id) ASSERT_TRUE(noisy(id, 0).ok());
  std::int64_t taken = 0;
  for (const InjectedNoise::Taken& each : noise.taken()) taken += each.end - each.begin;
  EXPECT_GT(taken, 6'000'000);
  EXPECT_GE(measure::now_ns() - begin, taken + 24'000'000);
}

} // namespace
} // namespace kumihimo::tasks
