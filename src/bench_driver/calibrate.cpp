#include "bench_driver/bound.hpp"
#include "bench_driver/memory.hpp"
#include "bench_driver/program_task.hpp"
#include "bench_driver/tasks.hpp"
#include "kernels/plans.hpp"
#include "measure/clock.hpp"
#include "program/builder.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
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
  DataLayout data{.ranks = ranks, .vector = true, .elements = count};
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

// There and back between ranks 0 and 1, `legs` messages in all.
void ping_pong(LaneBuilder& lane, Rank rank) {
  if (rank.value > 1) return;
  for (std::int64_t leg = 0; leg < legs; ++leg)
    lane.step(leg % 2 == rank.value ? send(1 - rank.value, in[whole()]) : receive(1 - rank.value, out[whole()]));
}

// From rank 0 to rank 1, `messages` at once; an answer at the end.
void one_way(LaneBuilder& lane, Rank rank, std::int64_t messages) {
  if (rank.value > 1) return;
  std::vector<Step> steps;
  for (std::int64_t i = 0; i < messages; ++i)
    steps.push_back(rank.value == 0 ? send(1, in[part(i, messages)]) : receive(0, out[part(i, messages)]));
  lane.round(std::move(steps));
  lane.step(rank.value == 0 ? wait_signal(1) : signal(0));
}

class Calibration {
 public:
  Calibration(Job& job, transport::Transport& transport) : job_(job), transport_(transport) {}

  // The slowest rank's time, in seconds; the best of the repeats, as what else runs here is no figure of the machine.
  Result<double> seconds_of(const ProgramSet& programs) {
    const NamedCandidate ours = our_candidate(programs, {}, Rank{job_.rank()}, transport_);
    if (Status s = job_.agree(ours.candidate->make_ready()); !s) return s.error();
    const auto bytes = static_cast<std::size_t>(programs.data->elements * programs.data->type_bytes);
    std::vector<std::byte> input, output;
    const Status has_memory = with_memory({2 * static_cast<std::int64_t>(bytes), "a long message", free_some}, [&] {
      input.assign(bytes, std::byte{1});
      output.assign(bytes, std::byte{0});
      return Nothing{};
    });
    if (Status s = job_.agree(has_memory); !s) return s.error();
    const int times = bytes > (1 << 20) ? 11 : repeats;
    std::vector<double> mine;
    for (int i = 0; i < times; ++i) {
      job_.barrier();
      const std::int64_t start = measure::now_ns();
      if (Status s = ours.candidate->call({input.data(), output.data()}); !s) job_.give_up(s.error());
      mine.push_back(static_cast<double>(measure::now_ns() - start) * 1e-9);
    }
    const std::vector<double> slowest = job_.largest(mine);
    return *std::min_element(slowest.begin(), slowest.end());
  }

 private:
  Job& job_;
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

} // namespace

Status run_calibration(Job& job, const Task& task) {
  if (job.ranks() < 2) return wrong_value("a calibration needs 2 ranks", job.ranks());
  transport::Transport* transport = TRY(job.transport(task.transport));
  Calibration calibration(job, *transport);
  const std::int32_t P = job.ranks();
  const auto messages = [](std::int64_t n) { return [n](LaneBuilder& lane, Rank rank) { one_way(lane, rank, n); }; };
  const ProgramSet sets[] = {
      programs_of(P, 1, ping_pong),
      programs_of(P, 1, messages(1)),
      programs_of(P, burst, messages(burst)),
      programs_of(P, large_count, messages(1)),
      programs_of(P, 1,
                  [](LaneBuilder& lane, Rank) {
                    lane.loop(rounds, [](Variable) { return Round{{copy(out[whole()], in[whole()])}, 0}; });
                  }),
  };
  std::vector<double> seconds;
  for (const ProgramSet& set : sets) {
    const double found = TRY(calibration.seconds_of(set));
    seconds.push_back(found);
  }
  constexpr double least = 1e-9; // below what the clock can tell
  const double leg = seconds[0] / legs;
  const double cost = std::max(least, (seconds[2] - seconds[1]) / (burst - 1));
  const double relay = std::max(least, seconds[4] / rounds);
  const double rate = reduction_rate(kernels::reduce_plan(DataType::float64, Operation::sum));
  const double scalar = reduction_rate(kernels::ReducePlan(&sum_one_by_one));
  const std::vector<CopyRate> rates = TRY(measure_copy_rates(job, longest_copied_bytes, free_some));
  job.print(nlohmann::json{{"calibration",
                            {{"memory_bandwidth", rates.back().bytes_per_second},
                             {"copy_bandwidth", 8.0 * large_count / seconds[3]},
                             {"message_latency", std::max(least, leg - cost - relay)},
                             {"message_cost", cost},
                             {"relay_latency", relay},
                             {"reduction_rate", rate},
                             {"reduction_rate_scalar", scalar}}}});
  return Nothing{};
}

} // namespace kumihimo::bench_driver
