#include "simulate/flow/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>

namespace kumihimo::simulation {
namespace {

constexpr std::uint64_t seed = 1;

// Number of samples, fewest iterations of a loop in each, and the quantile for that number of samples. The second row
// is for loops that the first row would walk almost whole, because they are short or many, such as those of `paced`.
// Their distance grows from one iteration to the next. So the last iterations are drawn as the mirror image of the
// first ones (balanced systematic sampling: Murthy, Sampling Theory and Methods, 1967), whose sum is exact for linear
// growth.
struct Effort {
  std::int64_t samples, least;
  double quantile;
  bool mirrored;
};
constexpr Effort efforts[] = {{6, 4, 2.571, false}, {3, 2, 4.303, true}};
constexpr double worth_it = 0.6; // of all steps

bool is_long(const FlatNode& node) { return node.loop && !node.collapsed && !node.together; }

double steps_of(const Compiled& compiled, const FlatNode& node) {
  if (!node.loop) return node.count;
  double sum = 0;
  for (std::uint32_t n = node.first; n < node.first + node.count; ++n) sum += steps_of(compiled, compiled.nodes[n]);
  return node.collapsed || node.together ? sum : sum * static_cast<double>(node.trip);
}

class LongLoops {
 public:
  explicit LongLoops(const Compiled& compiled) : compiled_(compiled) {
    for (const Instance& instance : compiled.instances) {
      lane_ = instance.lane, nth_ = 0;
      look_at(instance.first_node, instance.nodes, 1);
    }
  }

  std::map<std::pair<std::int32_t, std::int32_t>, SampledLoop> found; // by lane and place in it

 private:
  // `least`: the most iterations in flight of any loop that starts together with these.
  void look_at(std::uint32_t first, std::uint32_t count, std::int64_t least) {
    for (std::uint32_t n = first; n < first + count; ++n) {
      const FlatNode& node = compiled_.nodes[n];
      if (node.together) look_at(node.first, node.count, most_in_flight(node));
      if (is_long(node)) add(n, std::max(least, node.in_flight));
    }
  }
  std::int64_t most_in_flight(const FlatNode& together) const {
    std::int64_t most = 1;
    for (std::uint32_t n = together.first; n < together.first + together.count; ++n)
      most = std::max(most, compiled_.nodes[n].in_flight);
    return most;
  }
  void add(std::uint32_t n, std::int64_t neighbours) {
    const FlatNode& node = compiled_.nodes[n];
    SampledLoop& loop = found[{lane_, nth_++}];
    if (loop.nodes.empty()) loop.iterations = node.trip, loop.in_flight = node.in_flight, loop.neighbours = neighbours;
    if (loop.iterations != node.trip || loop.in_flight != node.in_flight) loop.iterations = 0; // not the same at all
    loop.nodes.push_back(n);
    loop.steps += steps_of(compiled_, node) / static_cast<double>(node.trip);
  }

  const Compiled& compiled_;
  std::int32_t lane_ = 0, nth_ = 0;
};

// `share` of the iterations is affordable.
void choose_size(SampledLoop& loop, double share, const Effort& effort) {
  const auto affordable = static_cast<std::int64_t>(share * static_cast<double>(loop.iterations));
  const std::int64_t wanted = std::clamp(affordable, effort.least, loop.iterations / 2);
  // Of iterations in flight at once neighbours meet; of all of them, all.
  loop.run = loop.neighbours > 1 && 2 * loop.neighbours <= wanted ? 2 * loop.neighbours : 1;
  loop.strata = wanted / loop.run;
  if (effort.mirrored && loop.run > 1 && loop.strata % 2 != 0) // the middle would cut a run in two
    loop.run = 1, loop.strata = wanted;
}

double steps_of_all(const std::vector<SampledLoop>& loops) {
  double sum = 0;
  for (const SampledLoop& loop : loops) sum += loop.steps * static_cast<double>(loop.iterations);
  return sum;
}

Sampling plan_with(const Effort& effort, const Compiled& compiled, double most_steps) {
  Sampling s{effort.samples, effort.quantile, effort.mirrored, {}};
  LongLoops loops(compiled);
  for (auto& [place, loop] : loops.found) {
    const auto ranks = static_cast<std::size_t>(compiled.lanes[place.first].instances);
    if (loop.iterations >= effort.samples * effort.least && loop.nodes.size() == ranks)
      s.loops.push_back(std::move(loop));
  }
  const double of_loops = steps_of_all(s.loops), others = compiled.iterated_steps - of_loops;
  const auto samples = static_cast<double>(effort.samples);
  const double share = std::max(0.0, (most_steps / samples - others) / std::max(1.0, of_loops));
  double walked = samples * others;
  for (SampledLoop& loop : s.loops) {
    choose_size(loop, share, effort);
    walked += samples * loop.steps * static_cast<double>(loop.walked());
  }
  if (walked > worth_it * compiled.iterated_steps) s.loops.clear();
  return s;
}

// Iterations of loops as long as this one.
std::vector<std::int64_t> draw(const SampledLoop& loop, bool mirrored, std::mt19937_64& random) {
  std::vector<std::int64_t> drawn(static_cast<std::size_t>(loop.walked()));
  for (std::int64_t s = 0; s < loop.strata; ++s) {
    const std::int64_t first = s * loop.iterations / loop.strata,
                       last = (s + 1) * loop.iterations / loop.strata - loop.run;
    const std::int64_t begin =
        first + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(last - first + 1));
    for (std::int64_t i = 0; i < loop.run; ++i) drawn[static_cast<std::size_t>(s * loop.run + i)] = begin + i;
  }
  if (mirrored)
    for (std::size_t i = 0; i < drawn.size() / 2; ++i) drawn[drawn.size() - 1 - i] = loop.iterations - 1 - drawn[i];
  return drawn;
}

// Loops of the same length walk the same iterations: lanes that are as long would not be so with each its own, and the
// longest of them would be longer than all are.
std::vector<LoopSample> draw(const Sampling& sampling, std::mt19937_64& random) {
  std::map<std::array<std::int64_t, 3>, std::vector<std::int64_t>> drawn;
  std::vector<LoopSample> samples;
  for (const SampledLoop& loop : sampling.loops) {
    const auto [at, fresh] = drawn.try_emplace({loop.iterations, loop.run, loop.strata});
    if (fresh) at->second = draw(loop, sampling.mirrored, random);
    LoopSample sample;
    sample.iterations = at->second;
    sample.weight = static_cast<double>(loop.iterations) / static_cast<double>(loop.walked());
    sample.flights = sample.weight * static_cast<double>(std::min(loop.in_flight, loop.walked())) /
                     static_cast<double>(loop.in_flight);
    samples.push_back(std::move(sample));
  }
  return samples;
}

// fn(value) for all of a prediction that grows with the loops.
template <class F>
void for_each_sum(SchedulePrediction& p, F&& fn) {
  for (Seconds* const each : {&p.seconds, &p.compute, &p.latency, &p.transfer, &p.reduction, &p.steady})
    fn(each->value);
  for (Phase& phase : p.phases) fn(phase.seconds.value), fn(phase.compute.value);
  for (double& bytes : p.link_bytes) fn(bytes);
}

void set_sums(SchedulePrediction& p, const std::vector<double>& sums) {
  std::size_t at = 0;
  for_each_sum(p, [&](double& value) { value = sums[at++]; });
  p.link_bytes_sum = p.link_bytes_max = 0;
  for (const double bytes : p.link_bytes) {
    p.link_bytes_sum += bytes;
    p.link_bytes_max = std::max(p.link_bytes_max, bytes);
  }
}

// The half width of the interval of the mean.
double half_width(const Sampling& sampling, const std::vector<double>& seconds, double mean) {
  double squares = 0;
  for (const double t : seconds) squares += (t - mean) * (t - mean);
  const auto n = static_cast<double>(seconds.size());
  return sampling.quantile * std::sqrt(squares / (n - 1) / n);
}

// tests/predict/simulate/sampled_test.cpp holds alltoall linear to it, with 4 messages in flight and with all,
// two_phase, three_phase, paced, and pairwise.
struct Beyond {
  double share;
  const char* text;
};
Beyond beyond_the_interval(const Sampling& sampling, const Compiled& compiled) {
  if (compiled.has_unequal_blocks())
    return {1, "sampled rounds may lack the longest of the unequal blocks, or have too many of them: any time"};
  if (std::any_of(sampling.loops.begin(), sampling.loops.end(), [](const auto& loop) { return loop.in_flight > 1; }))
    return {1 / 3.0, "sampled rounds overlap differently than all rounds do: up to a third off in tests of at most "
                     "2,912 ranks"};
  if (sampling.mirrored)
    return {1 / 3.0, "sampled rounds of parallel lanes overlap differently: up to a third off in tests of 9,216 ranks"};
  return {0.05, "the slowest rank of a few rounds is slower than that of all rounds: up to 5 % too long in tests of "
                "384 ranks"};
}

std::string text_of(const Sampled& sampled) {
  return fmt::format("{} samples of {} of the {} rounds (seed {}): 95 % interval of their mean {:.3g} to {:.3g} s; the "
                     "interval does not cover this: {}",
                     sampled.samples, sampled.rounds, sampled.of, sampled.seed, sampled.low.value, sampled.high.value,
                     sampled.leaves_out);
}

// The largest doubt and the last reason to doubt of any sample are the whole's.
void keep_doubts(const SchedulePrediction& before, SchedulePrediction& next) {
  next.doubtful_sharing = std::max(next.doubtful_sharing, before.doubtful_sharing);
  next.too_long = std::max(next.too_long, before.too_long);
  next.too_short = std::max(next.too_short, before.too_short);
  if (next.accuracy.empty()) next.accuracy = before.accuracy;
}

} // namespace

Sampling plan_sampling(const Compiled& compiled, double most_steps) {
  if (compiled.segments > 1 || compiled.iterated_steps <= most_steps) return {};
  for (const Effort& effort : efforts)
    if (Sampling s = plan_with(effort, compiled, most_steps); !s.loops.empty()) return s;
  return {};
}

Result<SchedulePrediction> predict_sampled(Compiled compiled, const Sampling& sampling, Seconds bound,
                                           const std::function<Result<SchedulePrediction>(const Compiled&)>& walk) {
  const std::vector<SampledLoop>& loops = sampling.loops;
  Sampled sampled;
  sampled.samples = sampling.samples;
  sampled.seed = seed;
  const auto [share, why] = beyond_the_interval(sampling, compiled);
  sampled.beyond = share, sampled.leaves_out = why;
  for (std::size_t l = 0; l < loops.size(); ++l) {
    for (const std::uint32_t node : loops[l].nodes) compiled.nodes[node].sample = static_cast<std::int32_t>(l);
    sampled.rounds += loops[l].walked(), sampled.of += loops[l].iterations;
  }
  std::mt19937_64 random(seed);
  std::vector<double> mean, seconds;
  SchedulePrediction p;
  for (std::int64_t s = 0; s < sampling.samples; ++s) {
    compiled.samples = draw(sampling, random);
    Result<SchedulePrediction> one = walk(compiled);
    if (!one) return one;
    std::size_t at = 0;
    for_each_sum(*one, [&](double value) {
      if (at == mean.size()) mean.push_back(0);
      mean[at++] += value / static_cast<double>(sampling.samples);
    });
    seconds.push_back(one->seconds.value);
    keep_doubts(p, *one);
    p = std::move(*one);
  }
  set_sums(p, mean);
  p.links_waiting_share = 0; // a union over all rounds, of which few were seen
  const double all = p.seconds.value, width = half_width(sampling, seconds, all);
  sampled.low = {std::min(all, std::max(bound.value, all - width))}, sampled.high = {all + width};
  p.accuracy = p.accuracy.empty() ? text_of(sampled) : fmt::format("{}; in a sample: {}", text_of(sampled), p.accuracy);
  p.sampled = std::move(sampled);
  return p;
}

} // namespace kumihimo::simulation
