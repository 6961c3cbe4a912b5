#include "bench_driver/interleaved_measurement.hpp"

#include "measure/clock.hpp"
#include "measure/statistics.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <thread>

namespace kumihimo::bench_driver {
namespace {

using nlohmann::json;

constexpr double hopeless_seconds = 1, hopeless_times = 4; // of a first call, and the fastest's
constexpr std::int64_t time_to_gather_ns = 30'000;         // for the last to have the others' times
constexpr std::int64_t hashed_turns = 4;                   // results of the first turns are compared with one another

json to_json(const measure::Summary& s) {
  return {{"seconds", s.median},
          {"interval_low", s.median_interval.low},
          {"interval_high", s.median_interval.high},
          {"p10", s.p10},
          {"p90", s.p90},
          {"samples", s.samples},
          {"outliers", s.outliers}};
}

void note_result(BenchCandidate& c, std::size_t contents, const BenchCandidate::Bytes& result) {
  const std::uint64_t hash = hash_of(result.data, result.bytes);
  if (c.results[contents] == 0) c.results[contents] = hash;
  c.repeats_itself &= c.results[contents] == hash;
}

// Of the ranks that have a result; 0 stands for none.
bool same_everywhere(const MpiJob& job, const BenchCandidate& c) {
  bool same = true;
  for (const std::uint64_t hash : c.results) {
    std::vector<std::int64_t> all = job.gather(static_cast<std::int64_t>(hash));
    std::erase(all, std::int64_t{0});
    same &= std::all_of(all.begin(), all.end(), [&](std::int64_t h) { return h == all[0]; });
  }
  return same;
}

} // namespace

InterleavedMeasurement::InterleavedMeasurement(MpiJob& job, TurnOptions options, BenchVectors vectors)
    : job_(job), options_(options), vectors_(std::move(vectors)) {
  options_.begins_together = options_.begins_together && job.has_one_clock();
}

TurnOptions turn_options(const BenchTask& task) {
  return {task.case_seconds, task.turns_at_least, task.turns_at_most, task.long_call_seconds, false};
}

Status InterleavedMeasurement::measure() {
  for (auto& c : candidates_)
    if (Status s = first_call(*c); !s) return s;
  order_.resize(candidates_.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  if (options_.long_call_seconds > 0) leave_out_hopeless();
  const auto all = static_cast<double>(order_.size());
  const double budget = options_.candidate_seconds * all;
  std::int64_t turn = 0;
  double each = timed_turn(turn++);
  // Calls so long are as warm as they get.
  const bool is_long = options_.long_call_seconds > 0 && each > std::max(budget, options_.long_call_seconds * all);
  if (is_long) return Nothing{};
  each = (each + timed_turn(turn++)) / 2;
  for (const std::size_t i : order_) {
    candidates_[i]->seconds.clear();
    candidates_[i]->processor_time = {};
  }
  const auto turns =
      std::clamp(static_cast<std::int64_t>(budget / std::max(each, 1e-9)), options_.at_least, options_.at_most);
  for (const std::int64_t end = turn + turns; turn < end; ++turn) take_turn(turn);
  return Nothing{};
}

// Whose first call took that long keeps its time: what else a first call does takes less. The last candidate, with
// which others are compared, stays.
void InterleavedMeasurement::leave_out_hopeless() {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& c : candidates_) least = std::min(least, c->first_seconds);
  std::erase_if(order_, [&](std::size_t i) {
    BenchCandidate& c = *candidates_[i];
    if (i + 1 == candidates_.size() || c.first_seconds < std::max(hopeless_seconds, hopeless_times * least))
      return false;
    c.seconds.push_back(c.first_seconds);
    return true;
  });
}

double InterleavedMeasurement::timed_turn(std::int64_t turn) {
  const std::int64_t start = measure::now_ns();
  take_turn(turn);
  return job_.largest({measure::seconds_since(start)})[0];
}

json InterleavedMeasurement::result_of(const BenchCandidate& c) const {
  json result = to_json(measure::summarise(job_.largest(c.seconds)));
  result["first_seconds"] = c.first_seconds;
  if (!options_.begins_together) result["processor_time"] = processor_time_of(c);
  result["bitwise"] = job_.all(c.repeats_itself) && (!c.gives_all_the_same() || same_everywhere(job_, c));
  return result;
}

// Of a call, in the mean, all ranks together.
json InterleavedMeasurement::processor_time_of(const BenchCandidate& c) const {
  const measure::ProcessorTime& mine = c.processor_time;
  const auto calls = static_cast<double>(c.seconds.size());
  const std::vector<double> all =
      job_.sum({mine.user_seconds / calls, mine.system_seconds / calls, static_cast<double>(mine.switches) / calls});
  return {{"user_seconds", all[0]}, {"system_seconds", all[1]}, {"switches", all[2]}};
}

// Nobody calls before all are ready; the agreement is not timed.
Status InterleavedMeasurement::first_call(BenchCandidate& c) {
  const BenchVectors::Set set = vectors_.prepare(0);
  c.results.assign(static_cast<std::size_t>(vectors_.contents()), 0);
  job_.barrier();
  const std::int64_t start = measure::now_ns();
  const Status ready = c.make_ready();
  const double preparation = measure::seconds_since(start);
  if (Status s = job_.agree(ready); !s) return s;
  c.first_seconds = job_.largest({preparation + timed_call(c, set, measure::now_ns())})[0];
  if (const BenchCandidate::Bytes result = c.result(set); result.data) note_result(c, 0, result);
  return Nothing{};
}

// When the call is to begin: now, or at a time that is the same for all.
std::int64_t InterleavedMeasurement::begin() const {
  job_.barrier();
  if (!options_.begins_together) return measure::now_ns();
  const std::vector<std::int64_t> times = job_.gather(measure::now_ns());
  const std::int64_t start = *std::max_element(times.begin(), times.end()) + time_to_gather_ns;
  while (measure::now_ns() < start) std::this_thread::yield(); // there may be more ranks than processors
  return start;
}

double InterleavedMeasurement::timed_call(BenchCandidate& c, const BenchVectors::Set& set,
                                          std::int64_t start_ns) const {
  const Status status = c.call(set);
  const double seconds = measure::seconds_since(start_ns);
  if (!status) job_.give_up(status.error());
  return seconds;
}

// What a call finds in caches and branch predictors is what the one before it left there, so nobody may always follow
// the same one. Two swap places; more are shuffled, on all ranks alike.
void InterleavedMeasurement::take_turn(std::int64_t turn) {
  std::sort(order_.begin(), order_.end());
  if (order_.size() == 2 && turn % 2 == 1) std::swap(order_[0], order_[1]);
  if (order_.size() > 2) std::shuffle(order_.begin(), order_.end(), random_);
  for (const std::size_t i : order_) sample(*candidates_[i], turn);
}

void InterleavedMeasurement::sample(BenchCandidate& c, std::int64_t turn) {
  const BenchVectors::Set set = vectors_.prepare(next_call_++);
  const auto contents = static_cast<std::size_t>((next_call_ - 1) % vectors_.contents());
  if (options_.begins_together) {
    c.seconds.push_back(timed_call(c, set, begin()));
  } else { // the system is asked between the barrier and the call, of whose time it is no part
    begin();
    const measure::ProcessorTime before = measure::processor_time();
    c.seconds.push_back(timed_call(c, set, measure::now_ns()));
    c.processor_time += measure::processor_time() - before;
  }
  job_.barrier(); // where ranks share processors, what the first do next would take time from the last
  const BenchCandidate::Bytes result = c.result(set);
  if (turn < hashed_turns && result.data) note_result(c, contents, result);
}

} // namespace kumihimo::bench_driver
