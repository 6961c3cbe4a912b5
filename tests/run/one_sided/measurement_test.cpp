// The measures over a library whose ranks are threads: all is right, or one thing is wrong on purpose and is found.
#include "one_sided/measurement.hpp"
#include "thread_peers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>

namespace kumihimo::one_sided {
namespace {

using nlohmann::json;
using testing::on_threads, testing::SharedByPeers, testing::ThreadPeers;

enum class Wrong {
  nothing,
  flipped_byte,
  never_arrives,
  beyond_end,
  stale_get,
  lost_add,
  wrong_old,
  lost_swap,
  stale_compare,
  broadcast_of_another,
  wrong_sum,
  swapped_parts,
  early_barrier,
};

// The memories of all ranks.
struct Heap {
  explicit Heap(std::int32_t ranks) : meeting(ranks), memory(static_cast<std::size_t>(ranks)), local(memory.size()) {
    for (std::int32_t r = 0; r < ranks; ++r) {
      counters.push_back(std::make_unique<std::atomic<std::int64_t>>(0));
      flags.push_back(std::make_unique<std::atomic<std::int64_t>>(0));
    }
  }
  std::barrier<> meeting;
  std::vector<std::vector<std::byte>> memory, local;
  std::vector<std::unique_ptr<std::atomic<std::int64_t>>> counters, flags;
};

class ThreadLibrary {
 public:
  ThreadLibrary(Heap& heap, std::int32_t rank, Wrong wrong) : heap_(heap), rank_(rank), wrong_(wrong) {}
  Status allocate(std::int64_t bytes, const std::optional<OneSidedPair>&) {
    heap_.memory[at(rank_)].assign(static_cast<std::size_t>(bytes), std::byte{0});
    heap_.local[at(rank_)].assign(static_cast<std::size_t>(bytes), std::byte{0});
    meet();
    return Nothing{};
  }
  void release() { meet(); }
  std::byte* memory() { return heap_.memory[at(rank_)].data(); }
  std::byte* local() { return heap_.local[at(rank_)].data(); }
  void meet() { heap_.meeting.arrive_and_wait(); }
  void open(std::int32_t) {}
  void close(std::int32_t) {}
  void start_put(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
    if (wrong_ == Wrong::never_arrives) return;
    const std::int64_t all = wrong_ == Wrong::beyond_end ? bytes + 1 : bytes;
    std::byte* const to = heap_.memory[at(peer)].data() + offset;
    std::memcpy(to, local() + offset, static_cast<std::size_t>(all));
    if (wrong_ == Wrong::flipped_byte) to[bytes - 1] ^= std::byte{4};
  }
  void start_get(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
    if (wrong_ != Wrong::stale_get)
      std::memcpy(local() + offset, heap_.memory[at(peer)].data() + offset, static_cast<std::size_t>(bytes));
  }
  void put(std::int32_t peer, std::int64_t offset, std::int64_t bytes) { start_put(peer, offset, bytes); }
  void get(std::int32_t peer, std::int64_t offset, std::int64_t bytes) { start_get(peer, offset, bytes); }
  void put_flag(std::int32_t peer, std::int64_t offset, std::int64_t bytes) {
    start_put(peer, offset, bytes);
    ++*heap_.flags[at(peer)];
  }
  void wait_flag(std::int32_t) { // of the one peer
    for (++waited_; *heap_.flags[at(rank_)] < waited_;) std::this_thread::yield();
  }
  void fence(std::int32_t) {}
  std::int64_t fetch_add(std::int32_t peer, std::int64_t value) {
    const bool loses = wrong_ == Wrong::lost_add && ++calls_ % 50 == 0; // returns what would be right
    const std::int64_t old = counter_of(peer).fetch_add(loses ? 0 : value);
    return wrong_ == Wrong::wrong_old ? 0 : old;
  }
  std::int64_t compare_and_swap(std::int32_t peer, std::int64_t expected, std::int64_t value) {
    std::int64_t old = expected;
    if (wrong_ == Wrong::stale_compare) return expected; // as if it had swapped
    counter_of(peer).compare_exchange_strong(old, value);
    return old;
  }
  std::int64_t swap(std::int32_t peer, std::int64_t value) {
    return wrong_ == Wrong::lost_swap && value == 3 ? 2 : counter_of(peer).exchange(value);
  }
  std::int64_t counter() { return counter_of(rank_).load(); }
  void set_counter(std::int64_t value) { counter_of(rank_).store(value); }
  void barrier() {
    if (wrong_ != Wrong::early_barrier) meet();
  }
  void broadcast(std::int64_t bytes, std::int32_t root) {
    const std::int32_t from = wrong_ == Wrong::broadcast_of_another ? 1 - root : root;
    if (rank_ != root) std::memcpy(memory(), heap_.local[at(from)].data(), static_cast<std::size_t>(bytes));
  }
  void reduce(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      std::int32_t sum = wrong_ == Wrong::wrong_sum && i == count - 1 ? 1 : 0;
      for (const std::vector<std::byte>& each : heap_.local) {
        std::int32_t value = 0;
        std::memcpy(&value, each.data() + 4 * i, 4);
        sum += value;
      }
      std::memcpy(memory() + 4 * i, &sum, 4);
    }
  }
  void collect(std::int64_t bytes) {
    for (std::size_t r = 0; r < heap_.local.size(); ++r) {
      const std::size_t place = wrong_ == Wrong::swapped_parts ? heap_.local.size() - 1 - r : r;
      std::memcpy(memory() + place * static_cast<std::size_t>(bytes), heap_.local[r].data(),
                  static_cast<std::size_t>(bytes));
    }
  }

 private:
  static std::size_t at(std::int32_t rank) { return static_cast<std::size_t>(rank); }
  std::atomic<std::int64_t>& counter_of(std::int32_t rank) { return *heap_.counters[at(rank)]; }
  Heap& heap_;
  std::int32_t rank_;
  Wrong wrong_;
  std::int64_t calls_ = 0, waited_ = 0;
};

OneSidedTask task_of(std::vector<std::string> measures, std::vector<std::int64_t> sizes) {
  OneSidedTask task;
  task.measures = std::move(measures);
  task.sizes = std::move(sizes);
  task.window = 4;
  task.span = 4096;
  task.case_seconds = 1e-4;
  return task;
}

std::vector<std::string> all_measures() {
  std::vector<std::string> names;
  for (const MeasureRow& row : measure_rows) names.emplace_back(row.name);
  return names;
}

std::vector<json> results_of(std::int32_t ranks, const OneSidedTask& task, Wrong wrong,
                             std::vector<std::int64_t> nodes = {}) {
  SharedByPeers shared(ranks, std::move(nodes));
  Heap heap(ranks);
  on_threads(ranks, [&](std::int32_t rank) {
    ThreadPeers peers(shared, rank);
    ThreadLibrary library(heap, rank, wrong);
    EXPECT_TRUE(measure_library(library, peers, task, {{"backend", "threads"}}).ok());
  });
  std::erase_if(shared.printed, [](const json& object) { return object.contains("begins"); });
  return shared.printed;
}

TEST(Measurement, FindsAllRight) {
  const std::vector<json> found = results_of(2, task_of(all_measures(), {12}), Wrong::nothing);
  EXPECT_EQ(found.size(), measure_rows.size());
  for (const json& result : found) {
    EXPECT_TRUE(result.at("right").get<bool>()) << result;
    EXPECT_GT(result.at("seconds").get<double>(), 0) << result;
    EXPECT_GE(result.at("samples").get<std::int64_t>(), least_samples);
  }
}

TEST(Measurement, LetsARankWithoutAPartnerWait) {
  const auto measures = {"put_rate", "fetch_add_contended", "broadcast", "reduce", "collect", "barrier"};
  for (const json& result : results_of(3, task_of({measures.begin(), measures.end()}, {8}), Wrong::nothing))
    EXPECT_TRUE(result.at("right").get<bool>()) << result;
}

TEST(Measurement, MeasuresAPairOfANodeAndAPairOfTwo) {
  const std::vector<json> found = results_of(3, task_of({"put"}, {8}), Wrong::nothing, {0, 1, 0});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0]["place"], "node");
  EXPECT_EQ(found[0]["pair"], (json{0, 2}));
  EXPECT_EQ(found[1]["place"], "network");
  EXPECT_EQ(found[1]["pair"], (json{0, 1}));
}

TEST(Measurement, StatesRatesOfTheWindow) {
  const std::vector<json> found = results_of(2, task_of({"put_bandwidth", "put_rate"}, {64}), Wrong::nothing);
  ASSERT_EQ(found.size(), 2U);
  const auto figure = [&](std::size_t i, const char* name) { return found[i].at(name).get<double>(); };
  EXPECT_NEAR(figure(0, "bytes_per_second") * figure(0, "seconds"), 64, 1e-6);
  EXPECT_NEAR(figure(1, "messages_per_second") * figure(1, "seconds"), 1, 1e-6);
}

// --- sabotage: what is wrong, and a measure that must find it

struct Sabotage {
  Wrong wrong;
  std::string measure;
};

class MeasurementSabotage : public ::testing::TestWithParam<Sabotage> {};

TEST_P(MeasurementSabotage, IsFound) {
  const Sabotage& sabotage = GetParam();
  for (const json& result : results_of(2, task_of({sabotage.measure}, {1024}), sabotage.wrong)) {
    EXPECT_FALSE(result.at("right").get<bool>()) << result;
    EXPECT_FALSE(result.at("found").get<std::string>().empty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, MeasurementSabotage,
    ::testing::Values(Sabotage{Wrong::flipped_byte, "put"}, Sabotage{Wrong::flipped_byte, "put_quiet"},
                      Sabotage{Wrong::flipped_byte, "put_fence"}, Sabotage{Wrong::flipped_byte, "put_bandwidth"},
                      Sabotage{Wrong::flipped_byte, "put_both_ways"}, Sabotage{Wrong::flipped_byte, "put_rate"},
                      Sabotage{Wrong::flipped_byte, "put_overlap"}, Sabotage{Wrong::never_arrives, "put"},
                      Sabotage{Wrong::flipped_byte, "put_flag"}, Sabotage{Wrong::never_arrives, "put_flag"},
                      Sabotage{Wrong::beyond_end, "put"}, Sabotage{Wrong::beyond_end, "put_bandwidth"},
                      Sabotage{Wrong::stale_get, "get"}, Sabotage{Wrong::stale_get, "get_bandwidth"},
                      Sabotage{Wrong::stale_get, "get_overlap"}, Sabotage{Wrong::lost_add, "fetch_add"},
                      Sabotage{Wrong::lost_add, "fetch_add_contended"}, Sabotage{Wrong::wrong_old, "fetch_add"},
                      Sabotage{Wrong::wrong_old, "fetch_add_contended"}, Sabotage{Wrong::lost_swap, "swap"},
                      Sabotage{Wrong::stale_compare, "compare_and_swap"},
                      Sabotage{Wrong::broadcast_of_another, "broadcast"}, Sabotage{Wrong::wrong_sum, "reduce"},
                      Sabotage{Wrong::swapped_parts, "collect"}, Sabotage{Wrong::early_barrier, "barrier"}),
    [](const auto& tested) {
      return tested.param.measure + "_" + std::to_string(static_cast<int>(tested.param.wrong));
    });

// --- the golden copy

TEST(Pattern, EveryFlippedBitIsFoundAtItsPlace) {
  for (const std::int64_t bytes : {1, 7, 8, 61}) {
    std::vector<std::byte> data(static_cast<std::size_t>(bytes));
    fill_pattern(data.data(), bytes, 5);
    EXPECT_EQ(first_difference(data.data(), bytes, 5), -1);
    EXPECT_NE(first_difference(data.data(), bytes, 6), -1);
    for (std::int64_t i = 0; i < bytes; ++i) {
      data[static_cast<std::size_t>(i)] ^= std::byte{1};
      EXPECT_EQ(first_difference(data.data(), bytes, 5), i);
      data[static_cast<std::size_t>(i)] ^= std::byte{1};
    }
  }
}

TEST(Pattern, UnwrittenMemoryIsNoPattern) {
  std::vector<std::byte> data(64, unwritten);
  EXPECT_EQ(first_written(data.data(), 64), -1);
  for (std::uint64_t seed = 0; seed < 1000; ++seed) EXPECT_NE(first_difference(data.data(), 64, seed), -1);
  data[63] = std::byte{0};
  EXPECT_EQ(first_written(data.data(), 64), 63);
}

} // namespace
} // namespace kumihimo::one_sided
