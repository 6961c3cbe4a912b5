#include "simulate/flow/sampled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace kumihimo::simulation {

namespace {

constexpr std::uint64_t seed = 1;
constexpr std::int64_t samples = 6;
constexpr std::int64_t least_iterations = 4; // of a sample
constexpr double quantile_of_t = 2.571;      // Student's, 97.5 % with samples - 1 = 5 degrees of freedom

bool is_sampled(const FlatNode& node) { return node.loop && !node.collapsed; }

// A run of neighbouring iterations in each stratum.
std::vector<std::int64_t> draw(std::int64_t strata, std::int64_t run, std::int64_t of, std::mt19937_64& random) {
  std::vector<std::int64_t> drawn;
  for (std::int64_t s = 0; s < strata; ++s) {
    const std::int64_t first = s * of / strata, last = (s + 1) * of / strata - run;
    const std::int64_t begin =
        first + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(last - first + 1));
    for (std::int64_t i = 0; i < run; ++i) drawn.push_back(begin + i);
  }
  return drawn;
}

void set_trips(Compiled& compiled, const std::vector<std::uint32_t>& loops, std::int64_t trip, std::int64_t in_flight) {
  for (const std::uint32_t node : loops)
    compiled.nodes[node].trip = trip, compiled.nodes[node].in_flight = std::min(in_flight, trip);
}

// fn(value) for all of a prediction that grows with the loop.
template <class F>
void for_each_sum(Prediction& p, F&& fn) {
  for (Seconds* const each : {&p.seconds, &p.compute, &p.latency, &p.transfer, &p.reduction, &p.steady})
    fn(each->value);
  for (Phase& phase : p.phases) fn(phase.seconds.value), fn(phase.compute.value);
  for (double& bytes : p.link_bytes) fn(bytes);
}

std::vector<double> sums_of(Prediction& p) {
  std::vector<double> sums;
  for_each_sum(p, [&](double value) { sums.push_back(value); });
  return sums;
}

void set_sums(Prediction& p, const std::vector<double>& sums) {
  std::size_t at = 0;
  for_each_sum(p, [&](double& value) { value = sums[at++]; });
  p.link_bytes_sum = p.link_bytes_max = 0;
  for (const double bytes : p.link_bytes) {
    p.link_bytes_sum += bytes;
    p.link_bytes_max = std::max(p.link_bytes_max, bytes);
  }
}

} // namespace

std::optional<SampledLoop> sampled_loop(const Compiled& compiled) {
  if (compiled.segments > 1 || compiled.phases.count() != 1) return std::nullopt;
  SampledLoop found;
  for (const Instance& instance : compiled.instances) {
    const FlatNode* loop = nullptr;
    for (std::uint32_t n = instance.first_node; n < instance.first_node + instance.nodes; ++n) {
      if (!is_sampled(compiled.nodes[n])) continue;
      if (loop) return std::nullopt;
      loop = &compiled.nodes[n];
    }
    if (!loop || (found.iterations > 0 && (loop->trip != found.iterations || loop->in_flight != found.in_flight)))
      return std::nullopt;
    found = {loop->trip, loop->in_flight};
  }
  if (found.iterations < samples * least_iterations) return std::nullopt;
  return found;
}

Result<Prediction> predict_sampled(Compiled& compiled, const SampledLoop& loop, double most_steps,
                                   const std::function<Result<Prediction>(const Compiled&)>& walk) {
  std::vector<std::uint32_t> loops;
  for (const Instance& instance : compiled.instances)
    for (std::uint32_t n = instance.first_node; n < instance.first_node + instance.nodes; ++n)
      if (is_sampled(compiled.nodes[n])) loops.push_back(n);
  const double of_one = compiled.iterated_steps / static_cast<double>(loop.iterations);
  const auto affordable = static_cast<std::int64_t>(most_steps / of_one / samples);
  const std::int64_t wanted = std::clamp(affordable, least_iterations, loop.iterations / samples);
  // Of iterations in flight at once neighbours meet; of all of them, all.
  const std::int64_t run = loop.in_flight > 1 && 2 * loop.in_flight <= wanted ? 2 * loop.in_flight : 1;
  const std::int64_t strata = wanted / run, each = strata * run;
  const double times = static_cast<double>(loop.iterations) / static_cast<double>(each);

  set_trips(compiled, loops, 0, loop.in_flight);
  Result<Prediction> without = walk(compiled);
  if (!without) return without;
  const std::vector<double> base = sums_of(*without);
  set_trips(compiled, loops, each, loop.in_flight);
  std::mt19937_64 random(seed);
  std::vector<double> mean(base.size()), seconds;
  Prediction p;
  for (std::int64_t s = 0; s < samples; ++s) {
    compiled.sample = draw(strata, run, loop.iterations, random);
    Result<Prediction> one = walk(compiled);
    if (!one) return one;
    const std::vector<double> sums = sums_of(*one);
    for (std::size_t i = 0; i < base.size(); ++i) mean[i] += (base[i] + (sums[i] - base[i]) * times) / samples;
    seconds.push_back(base[0] + (sums[0] - base[0]) * times); // the first is the time
    one->doubtful_sharing = std::max(one->doubtful_sharing, p.doubtful_sharing);
    if (one->accuracy.empty()) one->accuracy = p.accuracy;
    p = std::move(*one);
  }
  set_sums(p, mean);
  p.links_waiting_share = 0; // a union over all rounds, of which few were seen

  double squares = 0;
  for (const double t : seconds) squares += (t - p.seconds.value) * (t - p.seconds.value);
  const double width = quantile_of_t * std::sqrt(squares / (samples - 1) / samples);
  p.sampled = Sampled{samples * each, loop.iterations, seed, {p.seconds.value - width}, {p.seconds.value + width}};
  // tests/simulate/sampled_test.cpp holds alltoall linear to it, with 4 messages in flight and with all.
  const std::string at_once =
      loop.in_flight > 1 ? " (of rounds that run at once other ones meet than in the loop: up to a third off)" : "";
  const std::string sampled =
      fmt::format("{} of {} rounds, drawn with seed {}, stand for all: 95 % interval {:.3g} to {:.3g} s{}",
                  samples * each, loop.iterations, seed, p.sampled->low.value, p.sampled->high.value, at_once);
  p.accuracy = p.accuracy.empty() ? sampled : fmt::format("{}; {}", sampled, p.accuracy);
  return p;
}

} // namespace kumihimo::simulation
