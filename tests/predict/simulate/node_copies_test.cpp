// Messages within a node as two copies through shared memory: times of a plain function beside those of the models, for
// each cache that the data fit, and where ranks share processors.
#include "support.hpp"
#include "topology/single_node.hpp"

#include <algorithm>

namespace kumihimo::simulate_test {
namespace {

template <class T>
Quantity<T> of(T value) {
  return {value, Provenance::assumed, "a test"};
}

constexpr double gb = 1e9;

// Two processors; round rates of their own for each cache.
Machine node_of_copies(std::int64_t ranks) {
  Machine m = plain("1");
  m.family = Family::single_node;
  m.shape = Shape();
  m.set_topology(std::make_shared<SingleNode>());
  m.torus = nullptr;
  m.node.cores.value = 2;
  m.node.default_ranks_per_node.value = ranks;
  m.node.shared_memory_latency.value = {2e-6};
  m.node.memory_bandwidth.value = {1e15};
  m.node.last_level_cache = of(Bytes{96'000'000});
  NodeCopies copies;
  copies.send_cost = of(Seconds{1e-6});
  copies.slot = of(Bytes{500'000});
  copies.streamed_bytes = of(Bytes{1'000});
  copies.streamed_latency = of(Seconds{5e-6});
  copies.copy_short = of(BytesPerSecond{0.5 * gb});
  copies.core_cache = of(Bytes{6'000'000});
  copies.copy_core = of(BytesPerSecond{8 * gb});
  copies.copy_last_level = of(BytesPerSecond{4 * gb});
  copies.copy_memory = of(BytesPerSecond{2 * gb});
  copies.stream_core = of(BytesPerSecond{6 * gb});
  copies.stream_last_level = of(BytesPerSecond{3 * gb});
  copies.stream_memory = of(BytesPerSecond{1 * gb});
  copies.sum_core = of(BytesPerSecond{5 * gb});
  copies.sum_last_level = of(BytesPerSecond{2.5 * gb});
  copies.sum_memory = of(BytesPerSecond{1.25 * gb});
  copies.processor_switch = of(Seconds{3e-6});
  m.node.copies = copies;
  return m;
}

// --- the plain function: what NodeCopies says of one message, and of ranks that do the same at once

struct Rates {
  double copied = 8 * gb, streamed = 6 * gb, summed = 5 * gb;
};
constexpr double latency_of_a_message = 1e-6 + 2e-6, late = 5e-6, slot = 500'000, streamed = 1'000;

double one_way(double bytes, Rates r = {}) {
  if (bytes < streamed) return latency_of_a_message + 2 * bytes / (0.5 * gb);
  const double whole = std::min(bytes, slot);
  return latency_of_a_message + late + 2 * whole / r.copied + (bytes - whole) / r.streamed;
}
double exchange(double bytes, double sharing = 1, Rates r = {}) {
  if (bytes < streamed) return latency_of_a_message + 2 * bytes / (0.5 * gb);
  return latency_of_a_message + late + sharing * 2 * bytes / r.copied;
}
double summed_exchange(double bytes, double sharing = 1, Rates r = {}) {
  if (bytes < streamed) return latency_of_a_message + bytes / (0.5 * gb) + sharing * bytes / r.summed;
  return latency_of_a_message + late + sharing * (bytes / r.copied + bytes / r.summed);
}

// --- programs

Schedule message(std::int64_t elements) {
  return by_hand(2, elements, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "one", 1);
    lane.step(r == 0 ? send(1, out[whole()]) : receive(0, out[whole()]));
    p.add(std::move(lane));
  });
}

// Ranks 0 and 1, 2 and 3 ...
Schedule exchanges(std::int32_t ranks, std::int64_t elements, bool sums) {
  return by_hand(ranks, elements, 1, [=](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "both", 1);
    lane.round({send(r ^ 1, in[whole()]), sums ? receive_reduce(r ^ 1, out[whole()]) : receive(r ^ 1, out[whole()])});
    p.add(std::move(lane));
  });
}

class NodeCopiesOf : public BothModels {};
KUMIHIMO_IN_BOTH_MODELS(NodeCopiesOf);

TEST_P(NodeCopiesOf, AMessageIsCopiedInAndOut) {
  const Machine m = node_of_copies(2);
  for (const std::int64_t elements : {1, 100, 10'000, 62'500, 62'501, 250'000})
    EXPECT_NEAR(time(message(elements), m), one_way(8.0 * static_cast<double>(elements)), 1e-11) << elements;
}

TEST_P(NodeCopiesOf, AProcessorThatSendsAndReceivesDoesBothCopies) {
  const Machine m = node_of_copies(2);
  for (const std::int64_t elements : {1, 100, 10'000, 250'000}) {
    const double bytes = 8.0 * static_cast<double>(elements);
    EXPECT_NEAR(time(exchanges(2, elements, false), m), exchange(bytes), 1e-11) << elements;
    EXPECT_NEAR(time(exchanges(2, elements, true), m), summed_exchange(bytes), 1e-11) << elements;
  }
}

// Four ranks on two processors, which copy and sum up twice as much; each of the call and its message waits for a turn.
TEST_P(NodeCopiesOf, RanksThatShareProcessorsAddUpTheirWork) {
  const Machine m = node_of_copies(4);
  const double turn = 2 * 3e-6;
  for (const std::int64_t elements : {1, 10'000, 250'000}) {
    const double bytes = 8.0 * static_cast<double>(elements);
    EXPECT_NEAR(time(exchanges(4, elements, false), m), exchange(bytes, 2) + 2 * turn, 1e-11) << elements;
    EXPECT_NEAR(time(exchanges(4, elements, true), m), summed_exchange(bytes, 2) + 2 * turn, 1e-11) << elements;
  }
}

TEST_P(NodeCopiesOf, TheFirstPhaseHasTheTurnOfTheCall) {
  const SchedulePrediction p = predicted(exchanges(4, 10'000, false), node_of_copies(4), GetParam());
  ASSERT_EQ(p.phases.size(), 1u);
  EXPECT_NEAR(p.phases[0].seconds.value, p.seconds.value, 1e-15);
}

// Gather: the root alone has a buffer that no cache holds. By irregular counts, one rank alone.
TEST_P(NodeCopiesOf, TheLargestBufferCountsWhoeverHasIt) {
  const Job m = *Job::with_ranks_per_node(node_of_copies(80), 80);
  const auto gather = [&](std::int32_t root) {
    return time(built(algorithm("linear", CollectiveKind::gather), m, 800'000, {}, Rank{root}), m);
  };
  EXPECT_NEAR(gather(70), gather(0), 1e-3 * gather(0));
  const auto allgather = [&](std::size_t most) {
    std::vector<std::int64_t> counts(80, 10);
    counts[most] = 4'000'000;
    const Collective c = *with_counts(make_collective(CollectiveKind::allgather, 80, 1), std::move(counts));
    const auto s = algorithm("ring", CollectiveKind::allgather).build(c, m.rank_space(), {});
    return time(*s, m);
  };
  EXPECT_NEAR(allgather(70), allgather(1), 1e-3 * allgather(1));
}

// The buffers of a rank are as long as its message here, and touched with half as much again. From one to two times a
// cache, a part of the data misses it.
TEST_P(NodeCopiesOf, RatesAreThoseOfTheCacheThatTheDataFit) {
  const Machine m = node_of_copies(2);
  const Rates last_level{4 * gb, 3 * gb, 2.5 * gb}, memory{2 * gb, 1 * gb, 1.25 * gb};
  EXPECT_NEAR(time(exchanges(2, 500'000, false), m), exchange(4e6), 1e-11) << "1.5 x 4 MB in a cache of 6 MB";
  EXPECT_NEAR(time(exchanges(2, 1'000'000, false), m), exchange(8e6, 1, last_level), 1e-10) << "1.5 x 8 MB";
  EXPECT_NEAR(time(exchanges(2, 1'000'000, true), m), summed_exchange(8e6, 1, last_level), 1e-10);
  const double half = 2 * 6e6 * (0.5 / 8 + 0.5 / 4) / gb;
  EXPECT_NEAR(time(exchanges(2, 750'000, false), m), latency_of_a_message + late + half, 1e-10) << "1.5 x 6 MB";
  EXPECT_NEAR(time(exchanges(2, 8'000'000, false), m), exchange(64e6, 1, memory), 1e-9)
      << "two ranks' 1.5 x 64 MB in a cache of 96 MB";
  EXPECT_NEAR(time(message(8'000'000), m), one_way(64e6, memory), 1e-9);
}

// What misses all caches passes the memory, twice for each byte of a message.
TEST_P(NodeCopiesOf, TheMemoryLimitsAllCopiesTogether) {
  Machine m = node_of_copies(2);
  m.node.memory_bandwidth.value = {2 * gb};
  EXPECT_NEAR(time(exchanges(2, 8'000'000, false), m), latency_of_a_message + late + 2 * 2 * 64e6 / (2 * gb), 1e-9);
  EXPECT_NEAR(time(exchanges(2, 10'000, false), m), exchange(80'000), 1e-11) << "what a cache holds does not";
}

TEST_P(NodeCopiesOf, WithoutTheNumbersAMessageIsOneCopy) {
  Machine m = node_of_copies(2);
  m.node.copies.reset();
  EXPECT_NEAR(time(message(125'000), m), 1e6 / (8 * gb) + 2e-6, 1e-12);
}

} // namespace
} // namespace kumihimo::simulate_test
