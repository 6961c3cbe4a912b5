#include "bench_driver/bound.hpp"
#include "bench_driver/memory.hpp"
#include "bench_driver/program_task.hpp"
#include "bench_driver/tasks.hpp"
#include "kernels/copy.hpp"
#include "kernels/plans.hpp"
#include "measure/clock.hpp"
#include "program/builder.hpp"
#include "shared_memory/channel_layout.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace kumihimo::bench_driver {
namespace {

constexpr int repeats = 101;
constexpr std::int64_t legs = 32, burst = 8, rounds = 64;
constexpr std::string_view free_some = "stop other programs that use memory"; // sizes and ranks are always the same
constexpr std::int64_t large_count = (std::int64_t{8} << 20) / 8;             // doubles of a long message

// Of a vector of `count` doubles on each rank.
ProgramSet programs_of(std::int32_t ranks, std::int64_t count, std::function<void(LaneBuilder&, Rank)> write) {
  DataLayout data{.ranks = ranks, .operation = Operation::sum, .vector = true, .elements = count};
  data.buffers = [count](Rank) { return BufferPair{count, count}; };
  ProgramSet s{std::make_shared<const DataLayout>(std::move(data))};
  s.program = [write = std::move(write)](Rank rank) {
    ProgramBuilder program;
    LaneBuilder lane(LaneId{0}, "calibration", 1);
    write(lane, rank);
    program.add(std::move(lane));
    return program.finish();
  };
  return s;
}

// There and back between the ranks of the pair, `legs` messages in all.
void ping_pong(LaneBuilder& lane, std::int32_t rank, RankPair pair) {
  if (rank != pair.first && rank != pair.second) return;
  const std::int32_t turn = rank == pair.first ? 0 : 1, peer = turn == 0 ? pair.second : pair.first;
  for (std::int64_t leg = 0; leg < legs; ++leg)
    lane.step(leg % 2 == turn ? send(peer, in[whole()]) : receive(peer, out[whole()]));
}

// From the first to the second rank, `messages` at once; an answer at the end.
void one_way(LaneBuilder& lane, std::int32_t rank, RankPair pair, std::int64_t messages) {
  if (rank != pair.first && rank != pair.second) return;
  std::vector<Step> steps;
  for (std::int64_t i = 0; i < messages; ++i)
    steps.push_back(rank == pair.first ? send(pair.second, in[part(i, messages)])
                                       : receive(pair.first, out[part(i, messages)]));
  lane.round(std::move(steps));
  lane.step(rank == pair.first ? wait_signal(pair.second) : signal(pair.first));
}

// Both ranks send each other `rounds` messages, one after the other; where they are summed up, into the output.
void exchange(LaneBuilder& lane, std::int32_t rank, RankPair pair, std::int64_t rounds, bool summed) {
  if (rank != pair.first && rank != pair.second) return;
  const std::int32_t peer = rank == pair.first ? pair.second : pair.first;
  for (std::int64_t i = 0; i < rounds; ++i)
    lane.round({send(peer, in[whole()]), summed ? receive_reduce(peer, out[whole()]) : receive(peer, out[whole()])});
}

std::vector<std::int32_t> ranks_of(const Nodes& nodes, std::int64_t node) {
  std::vector<std::int32_t> ranks;
  for (std::size_t rank = 0; rank < nodes.node_of_rank.size(); ++rank)
    if (nodes.node_of_rank[rank] == node) ranks.push_back(static_cast<std::int32_t>(rank));
  return ranks;
}

// The ranks of two nodes that exchange messages at once: the first of the one with the first of the other, and so on.
std::vector<RankPair> pairs_between(const Nodes& nodes, std::int64_t from, std::int64_t to) {
  const std::vector<std::int32_t> left = ranks_of(nodes, from), right = ranks_of(nodes, to);
  std::vector<RankPair> pairs;
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) pairs.push_back({left[i], right[i]});
  return pairs;
}

// Two ranks of the first node with two.
std::optional<RankPair> pair_within(const Nodes& nodes) {
  for (std::size_t node = 0; node < nodes.names.size(); ++node)
    if (const auto ranks = ranks_of(nodes, static_cast<std::int64_t>(node)); ranks.size() > 1)
      return RankPair{ranks[0], ranks[1]};
  return std::nullopt;
}

class CalibrationRun {
 public:
  CalibrationRun(MpiJob& job, transport::Transport& transport) : job_(job), transport_(transport) {}

  // The slowest rank's time, in seconds; the best of the repeats, as what else runs here is no figure of the machine.
  Result<double> seconds_of(const ProgramSet& programs) {
    const std::vector<double> all = TRY(times_of(programs, false));
    return *std::min_element(all.begin(), all.end());
  }
  // The median where each rank has read its result and writes its input before each repeat, as programs do.
  Result<double> seconds_in_use(const ProgramSet& programs) {
    std::vector<double> all = TRY(times_of(programs, true));
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
    return all[all.size() / 2];
  }

 private:
  Result<std::vector<double>> times_of(const ProgramSet& programs, bool in_use) {
    const NamedCandidate ours = our_candidate(programs, {}, Rank{job_.rank()}, transport_);
    if (Status s = job_.agree(ours.candidate->make_ready()); !s) return s.error();
    const auto bytes = static_cast<std::size_t>(programs.data->elements * programs.data->type_bytes);
    struct Buffers {
      std::vector<std::byte> input, output;
    };
    std::array<Buffers, 2> buffers; // in use they take turns, so that each is as cold as a program's
    const Status has_memory = with_memory({4 * static_cast<std::int64_t>(bytes), "long messages", free_some}, [&] {
      for (Buffers& each : buffers) each.input.assign(bytes, std::byte{1}), each.output.assign(bytes, std::byte{0});
      return Nothing{};
    });
    if (Status s = job_.agree(has_memory); !s) return s.error();
    const int times = bytes > (1 << 20) ? 11 : repeats;
    std::vector<double> mine;
    std::byte read{0};
    for (int i = 0; i < times; ++i) {
      auto& [input, output] = buffers[in_use ? static_cast<std::size_t>(i) % 2 : 0];
      if (in_use) {
        for (const std::byte each : output) read ^= each;
        std::fill(input.begin(), input.end(), read | std::byte{1});
      }
      job_.barrier();
      const std::int64_t start = measure::now_ns();
      if (Status s = ours.candidate->call({input.data(), output.data()}); !s) job_.give_up(s.error());
      mine.push_back(measure::seconds_since(start));
    }
    return job_.largest(mine);
  }

  MpiJob& job_;
  transport::Transport& transport_;
};

// One element at a time, whatever the compiler would like to do.
__attribute__((optimize("no-tree-vectorize"))) void sum_one_by_one(const void* left, const void* right, void* target,
                                                                   std::int64_t count) {
  const auto *a = static_cast<const double*>(left), *b = static_cast<const double*>(right);
  for (std::int64_t i = 0; i < count; ++i) static_cast<double*>(target)[i] = a[i] + b[i];
}

// Result bytes per second of one thread, vectors in its own cache.
double reduction_rate(const kernels::ReducePlan& kernel) {
  constexpr std::int64_t count = 16384;
  std::vector<double> left(count, 1.5), right(count, 2.5), target(count);
  double best = 0;
  for (int i = 0; i < repeats; ++i) {
    const std::int64_t start = measure::now_ns();
    kernel(left.data(), right.data(), target.data(), count);
    best = std::max(best, 8e9 * count / static_cast<double>(std::max<std::int64_t>(1, measure::now_ns() - start)));
  }
  return best;
}

// Of messages of a pair.
struct MessageCosts {
  double leg = 0;  // of a message of 8 bytes
  double cost = 0; // of each further message of a burst
  double bandwidth = 0;
};
constexpr double least = 1e-9; // seconds; below what the clock can tell

Result<MessageCosts> message_costs(CalibrationRun& calibration, std::int32_t ranks, RankPair pair) {
  const auto messages = [&](std::int64_t n, std::int64_t count) {
    return programs_of(ranks, count, [=](LaneBuilder& lane, Rank rank) { one_way(lane, rank.value, pair, n); });
  };
  const double legs_seconds = TRY(calibration.seconds_of(
      programs_of(ranks, 1, [=](LaneBuilder& lane, Rank rank) { ping_pong(lane, rank.value, pair); })));
  const double one = TRY(calibration.seconds_of(messages(1, 1)));
  const double many = TRY(calibration.seconds_of(messages(burst, burst)));
  const double large = TRY(calibration.seconds_of(messages(1, large_count)));
  return MessageCosts{legs_seconds / legs, std::max(least, (many - one) / (burst - 1)), 8.0 * large_count / large};
}

// Seconds a byte of messages between a pair whose buffers are of one size or another, and so in one cache or another.
struct ByteCosts {
  double exchanged = 0; // both ranks copy one message in and one out
  double summed = 0;    // they copy one in and sum up one
};

constexpr std::int64_t KiB = 1 << 10, MiB = 1 << 20;

class PairCosts {
 public:
  PairCosts(CalibrationRun& calibration, std::int32_t ranks, RankPair pair)
      : calibration_(calibration), ranks_(ranks), pair_(pair) {}

  static constexpr std::int64_t most_of_rounds = 4 * KiB; // of which a call has several rounds
  // Of a round. Of a longer message it holds the start and the end of a call, which slopes are without.
  Result<double> exchange_seconds(std::int64_t bytes, bool summed = false) {
    const std::int64_t times = bytes > most_of_rounds ? 1 : legs;
    const double all =
        TRY(calibration_.seconds_in_use(programs_of(ranks_, bytes / 8, [=, this](LaneBuilder& lane, Rank rank) {
          exchange(lane, rank.value, pair_, times, summed);
        })));
    return all / static_cast<double>(times);
  }
  // From a length to one that is so much longer.
  Result<ByteCosts> between(std::int64_t bytes, std::int64_t longer) {
    ByteCosts costs;
    const auto slope = [&](double first, double second) {
      return std::max(least_byte, (second - first) / static_cast<double>(longer - bytes));
    };
    costs.exchanged = slope(TRY(exchange_seconds(bytes)), TRY(exchange_seconds(longer)));
    costs.summed = slope(TRY(exchange_seconds(bytes, true)), TRY(exchange_seconds(longer, true)));
    return costs;
  }
  Result<double> stream(std::int64_t bytes, std::int64_t longer) {
    const auto one = [&](std::int64_t length) {
      return calibration_.seconds_in_use(programs_of(
          ranks_, length / 8, [this](LaneBuilder& lane, Rank rank) { one_way(lane, rank.value, pair_, 1); }));
    };
    const double first = TRY(one(bytes)), second = TRY(one(longer));
    return std::max(least_byte, (second - first) / static_cast<double>(longer - bytes));
  }

 private:
  static constexpr double least_byte = 1e-12; // a thousand GB/s: below what the clock can tell
  CalibrationRun& calibration_;
  std::int32_t ranks_;
  RankPair pair_;
};

// Rates as NodeCopies has them (machine/machine.hpp). Buffers of a rank are twice as long as its message.
Status measure_copies(MpiJob& job, const BenchTask& task) {
  const std::optional<RankPair> pair = pair_within(job.nodes());
  if (!pair) return wrong_value("a calibration needs a node with 2 ranks", {}, "start at least 2 ranks on each node");
  transport::Transport* transport = TRY(job.transport(task.transport));
  CalibrationRun calibration(job, *transport);
  PairCosts costs(calibration, job.ranks(), *pair);
  constexpr auto streamed = kernels::smallest_streamed_bytes;
  const std::int64_t slot = shared_memory::RingShape{}.slot_bytes;
  const double cost = TRY(message_costs(calibration, job.ranks(), *pair)).cost;
  nlohmann::json found = {{"slot", slot}, {"streamed_bytes", streamed}, {"send_cost", cost}};
  const double shortest = TRY(costs.exchange_seconds(8));
  found["message_latency"] = std::max(least, shortest - cost);
  constexpr std::int64_t brief = streamed / 2;
  const double of_brief = TRY(costs.exchange_seconds(brief)) - shortest;
  found["copy_short"] = 2 * static_cast<double>(brief - 8) / std::max(least, of_brief);
  struct Cache {
    const char* name;
    std::int64_t bytes, longer, streamed, streamed_longer; // of messages
  };
  double in_core = 0;
  for (const Cache& cache :
       {Cache{"core", 8 * KiB, 64 * KiB, 128 * KiB, 512 * KiB}, Cache{"last_level", 1 * MiB, 3 * MiB, 1 * MiB, 3 * MiB},
        Cache{"memory", 32 * MiB, 64 * MiB, 32 * MiB, 64 * MiB}}) {
    const ByteCosts bytes = TRY(costs.between(cache.bytes, cache.longer));
    const double copied = bytes.exchanged / 2, summed = std::max(copied / 8, bytes.summed - copied);
    found[fmt::format("copy_{}", cache.name)] = 1 / copied;
    found[fmt::format("sum_{}", cache.name)] = 1 / summed;
    const double stream = TRY(costs.stream(cache.streamed, cache.streamed_longer));
    found[fmt::format("stream_{}", cache.name)] = 1 / stream;
    if (in_core == 0) in_core = bytes.exchanged;
  }
  constexpr std::int64_t some = PairCosts::most_of_rounds; // of as many rounds a call as `shortest`
  const double late = TRY(costs.exchange_seconds(some)) - shortest - in_core * static_cast<double>(some);
  found["streamed_latency"] = std::max(least, late);
  job.print(nlohmann::json{{"copies", found}});
  return Nothing{};
}

// More ranks than processors: every rank sends the next one a message in each round.
Status measure_switch(MpiJob& job, const BenchTask& task) {
  transport::Transport* transport = TRY(job.transport(task.transport));
  CalibrationRun calibration(job, *transport);
  const std::int32_t P = job.ranks();
  const double all = TRY(calibration.seconds_in_use(programs_of(P, 1, [P](LaneBuilder& lane, Rank rank) {
    for (std::int64_t i = 0; i < legs; ++i)
      lane.round({send((rank.value + 1) % P, in[whole()]), receive((rank.value + P - 1) % P, out[whole()])});
  })));
  job.print(nlohmann::json{{"round_of_turns", all / static_cast<double>(legs)}});
  return Nothing{};
}

Status measure_engine(MpiJob& job, const BenchTask& task) {
  const std::optional<RankPair> near = pair_within(job.nodes());
  if (!near) return wrong_value("a calibration needs a node with 2 ranks", {}, "start at least 2 ranks on each node");
  transport::Transport* transport = TRY(job.transport(task.transport));
  CalibrationRun calibration(job, *transport);
  const std::int32_t P = job.ranks();
  const MessageCosts within = TRY(message_costs(calibration, P, *near));
  const double local = TRY(calibration.seconds_of(programs_of(P, 1, [](LaneBuilder& lane, Rank) {
    lane.loop(rounds, [](Variable) { return Round{{copy(out[whole()], in[whole()])}, 0}; });
  })));
  const double relay = std::max(least, local / rounds);
  const double rate = reduction_rate(kernels::reduce_plan(DataType::float64, Operation::sum));
  const double scalar = reduction_rate(kernels::ReducePlan(&sum_one_by_one));
  const std::vector<CopyRate> rates = TRY(measure_copy_rates(job, longest_copied_bytes, free_some));
  job.print(nlohmann::json{{"calibration",
                            {{"memory_bandwidth", rates.back().bytes_per_second},
                             {"copy_bandwidth", within.bandwidth},
                             {"message_latency", std::max(least, within.leg - within.cost - relay)},
                             {"message_cost", within.cost},
                             {"relay_latency", relay},
                             {"reduction_rate", rate},
                             {"reduction_rate_scalar", scalar}}}});
  if (!job.nodes().are_several()) return Nothing{};
  const std::vector<RankPair> pairs = pairs_between(job.nodes(), 0, 1);
  const MessageCosts between = TRY(message_costs(calibration, P, pairs.front()));
  const double all = TRY(calibration.seconds_of(programs_of(P, large_count, [&](LaneBuilder& lane, Rank rank) {
    for (const RankPair& pair : pairs) one_way(lane, rank.value, pair, 1);
  })));
  job.print(nlohmann::json{{"network",
                            {{"message_latency", std::max(least, between.leg - between.cost - relay)},
                             {"message_cost", between.cost},
                             {"relay_latency", relay},
                             {"message_bandwidth", between.bandwidth},
                             {"pairs", pairs.size()},
                             {"pairs_bandwidth", 8.0 * large_count * static_cast<double>(pairs.size()) / all}}}});
  return Nothing{};
}

} // namespace

Status run_calibration(MpiJob& job, const BenchTask& task) {
  if (job.ranks() < 2) return wrong_value("a calibration needs 2 ranks", job.ranks());
  for (const std::string& part : task.parts) {
    job.print(nlohmann::json{{"part", part}});
    if (part == "engine") {
      if (Status s = measure_engine(job, task); !s) return s;
    } else if (part == "copies") {
      if (Status s = measure_copies(job, task); !s) return s;
    } else if (part == "switch") {
      if (Status s = measure_switch(job, task); !s) return s;
    } else if (part == "library") {
      const auto pair = job.nodes().are_several() ? pairs_between(job.nodes(), 0, 1).front() : RankPair{};
      if (Status s = measure_point_to_point(job, pair); !s) return s;
    } else if (Status s = measure_noise(job, task); !s) {
      return s;
    }
  }
  return Nothing{};
}

} // namespace kumihimo::bench_driver
