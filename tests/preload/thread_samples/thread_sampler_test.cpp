#include "thread_samples/instruction_samples.hpp"
#include "thread_samples/started_threads.hpp"
#include "thread_samples/thread_sampler.hpp"
#include "thread_samples/thread_states.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <optional>
#include <thread>

namespace kumihimo::thread_samples {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

pid_t own_id() { return static_cast<pid_t>(syscall(SYS_gettid)); }

// A thread that keeps a processor busy, and one that waits, until it goes.
class Threads {
 public:
  Threads() : busy_id(busy_started_.get_future().get()), idle_id(idle_started_.get_future().get()) {
    while (is_running(idle_id)) std::this_thread::sleep_for(1ms); // it has told its number, and does not wait yet
  }
  ~Threads() {
    stop_ = true;
    stopped_.set_value();
    busy_.join(), idle_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::promise<void> stopped_;
  std::promise<pid_t> busy_started_, idle_started_;
  std::thread busy_{[this] {
    busy_started_.set_value(own_id());
    while (!stop_) {
    }
  }};
  std::thread idle_{[this] {
    idle_started_.set_value(own_id());
    stopped_.get_future().wait();
  }};

 public:
  const pid_t busy_id, idle_id;
};

json thread_in(const json& samples, pid_t id) {
  for (const json& thread : samples["threads"])
    if (thread["thread"] == id) return thread;
  return nullptr;
}

double share(const json& thread) { return thread["busy_seconds"].get<double>() / thread["seconds"].get<double>(); }

TEST(ThreadSampler, TellsBusyThreadsFromIdleOnes) {
  const Threads threads;
  std::promise<void> taken;
  ThreadSampler sampler({.after = 300ms, .then = [&] { taken.set_value(); }});
  ASSERT_EQ(taken.get_future().wait_for(60s), std::future_status::ready);
  sampler.finish();
  const json samples = sampler.samples();
  const json busy = thread_in(samples, threads.busy_id), idle = thread_in(samples, threads.idle_id);
  ASSERT_TRUE(busy.is_object() && idle.is_object());
  EXPECT_GT(share(busy), 0.05); // of a machine that others load
  EXPECT_LE(share(busy), 1.05);
  EXPECT_LT(share(idle), 0.01);
  EXPECT_TRUE(idle["instructions"].empty()); // a thread that waits gets no signal
  EXPECT_EQ(busy["processors"], busy["at_first"]["processors"]);
  EXPECT_TRUE(thread_in(samples, getpid())["main"].get<bool>());
  EXPECT_FALSE(samples["node"]["cores"].empty());
  for (const json& thread : samples["threads"]) EXPECT_NE(thread["name"], "kumihimo") << "samples itself";
}

TEST(ThreadSampler, TheEndOfTheProgramBringsTheSecondLook) {
  const Threads threads;
  ThreadSampler sampler({.after = 3600s, .tells_node = false, .then = [] { FAIL() << "called at the end"; }});
  sampler.finish();
  sampler.finish();
  const json samples = sampler.samples();
  EXPECT_TRUE(thread_in(samples, threads.busy_id).is_object());
  EXPECT_TRUE(samples["node"].is_null());
}

TEST(ThreadSampler, OnlyVariablesOfBindingAreTold) {
  setenv("OMP_PLACES", "{0}", 1);
  setenv("SECRET_TOKEN", "x", 1);
  ThreadSampler sampler({.after = 3600s});
  sampler.finish();
  const json samples = sampler.samples();
  unsetenv("OMP_PLACES"), unsetenv("SECRET_TOKEN");
  EXPECT_EQ(samples["environment"]["OMP_PLACES"], "{0}");
  EXPECT_FALSE(samples["environment"].contains("SECRET_TOKEN"));
}

TEST(InstructionSamples, AreOfThreadsThatRun) {
  const Threads threads;
  const auto found = instruction_samples(thread_states(), 20);
#if defined(__x86_64__) || defined(__aarch64__)
  ASSERT_TRUE(found.contains(threads.busy_id));
  EXPECT_FALSE(found.contains(threads.idle_id));
#endif
}

// Keeps the calling thread, and those that it starts, on its processor.
class OneProcessor {
 public:
  OneProcessor() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    sched_getaffinity(0, sizeof before_, &before_), sched_setaffinity(0, sizeof one, &one);
  }
  ~OneProcessor() { sched_setaffinity(0, sizeof before_, &before_); }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

 private:
  cpu_set_t before_{};
};

TEST(InstructionSamples, AreOfThreadsThatShareAProcessorToo) {
  std::optional<OneProcessor> shared(std::in_place);
  const Threads some, others, more, most;
  shared.reset(); // for the calling thread
  const auto found = instruction_samples(thread_states(), 1, [] { return true; });
#if defined(__x86_64__) || defined(__aarch64__)
  for (const Threads* each : {&some, &others, &more, &most}) {
    ASSERT_TRUE(found.contains(each->busy_id));
    EXPECT_GE(found.at(each->busy_id).size(), 2U);
    EXPECT_FALSE(found.contains(each->idle_id));
  }
#endif
}

TEST(ThreadSampler, TellsHowLongAThreadThatWasReadyHadNoProcessor) {
  std::optional<OneProcessor> shared(std::in_place);
  const Threads some, others;
  shared.reset(); // for the sampler
  std::promise<void> taken;
  ThreadSampler sampler({.after = 300ms, .tells_node = false, .then = [&] { taken.set_value(); }});
  ASSERT_EQ(taken.get_future().wait_for(60s), std::future_status::ready);
  sampler.finish();
  const json samples = sampler.samples();
  const json one = thread_in(samples, some.busy_id), other = thread_in(samples, others.busy_id);
  for (const json& each : {one, other}) {
    const double ready = each["busy_seconds"].get<double>() + each["delayed_seconds"].get<double>();
    EXPECT_GT(ready, 0.5 * each["seconds"].get<double>());
    EXPECT_GT(each["delayed_seconds"], 0.05);
  }
  EXPECT_LT(thread_in(samples, some.idle_id)["delayed_seconds"], 0.05);
}

TEST(InstructionSamples, EndWithTheProgram) {
  std::optional<OneProcessor> shared(std::in_place);
  const Threads some, others;
  int asked = 0;
  instruction_samples(thread_states(), 0, [&] { return ++asked < 3; });
  EXPECT_EQ(asked, 3);
}

std::atomic<int> handled = 0;

TEST(InstructionSamples, LeaveAProgramItsOwnHandler) {
  const Threads threads;
  struct sigaction own {
  }, now{};
  own.sa_handler = [](int) { ++handled; };
  ASSERT_EQ(sigaction(SIGURG, &own, nullptr), 0);
  EXPECT_TRUE(instruction_samples(thread_states(), 2).empty());
  ASSERT_EQ(sigaction(SIGURG, nullptr, &now), 0);
  EXPECT_EQ(now.sa_handler, own.sa_handler);
  EXPECT_EQ(handled, 0);
  signal(SIGURG, SIG_DFL);
  instruction_samples(thread_states(), 2);
  ASSERT_EQ(sigaction(SIGURG, nullptr, &now), 0);
  EXPECT_EQ(now.sa_handler, SIG_DFL) << "is left behind";
}

TEST(InstructionSamples, LeaveThreadsAloneThatBlockTheSignal) {
  sigset_t urgent;
  sigemptyset(&urgent), sigaddset(&urgent, SIGURG);
  pthread_sigmask(SIG_BLOCK, &urgent, nullptr); // which the new threads inherit
  {
    const Threads threads;
    EXPECT_FALSE(instruction_samples(thread_states(), 4).contains(threads.busy_id));
  }
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGURG), 0);
  pthread_sigmask(SIG_UNBLOCK, &urgent, nullptr);
}

TEST(StartedThreads, AreKnownByTheirStart) {
  struct Given {
    std::promise<pid_t> id;
    std::promise<void> end;
  } given;
  const auto start = [](void* argument) -> void* {
    auto* const mine = static_cast<Given*>(argument);
    mine->id.set_value(own_id());
    mine->end.get_future().wait();
    return mine;
  };
  pthread_t thread{};
  ASSERT_EQ(create_noted(pthread_create, &thread, nullptr, start, &given), 0);
  const pid_t id = given.id.get_future().get();
  EXPECT_EQ(origin_of(id), reinterpret_cast<std::uintptr_t>(+start));
  given.end.set_value();
  void* result = nullptr;
  pthread_join(thread, &result);
  EXPECT_EQ(result, &given);
  EXPECT_EQ(origin_of(1), 0U);
}

TEST(StartedThreads, AFailureIsThatOfPthreadCreate) {
  const auto fails = [](pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) { return EAGAIN; };
  pthread_t thread{};
  EXPECT_EQ(create_noted(
                fails, &thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr),
            EAGAIN);
}

TEST(ThreadStates, NamesMayHaveBlanksAndParentheses) {
  std::string text = "17 (a) b (c)) R";
  for (int field = 4; field <= 52; ++field) text += " " + std::to_string(field);
  ThreadState thread;
  ASSERT_TRUE(read_stat(text, thread));
  EXPECT_EQ(thread.name, "a) b (c)");
  EXPECT_EQ(thread.state, 'R');
  EXPECT_EQ(thread.processor, 39);
  EXPECT_FALSE(read_stat("17 (short) R 1 2", thread));
  EXPECT_FALSE(read_stat("", thread));
}

} // namespace
} // namespace kumihimo::thread_samples
