#include "simulate/flow/lengths.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace kumihimo::simulation {
namespace {

// sum of floor((a i + b) / m) for 0 <= i < n, by Euclid's algorithm in O(log m).
Wide floor_sum(Wide n, Wide m, Wide a, Wide b) {
  Wide sum = 0;
  while (n > 0) {
    sum += (a / m) * (n * (n - 1) / 2) + (b / m) * n;
    a %= m, b %= m;
    const Wide top = a * n + b;
    if (top < m) break;
    n = top / m;
    b = top % m;
    std::swap(m, a);
  }
  return sum;
}

// How an expression grows with one variable: by `slope`, and once by `wrapped` x a modulo that grows by `inner`.
struct Growth {
  std::int64_t slope = 0, wrapped = 0, inner = 0, modulus = 0;
  const Expression* argument = nullptr; // of the modulo, if any
};

// None if it is anything more intricate.
std::optional<Growth> growth(const Expression& e, Variable v) {
  Growth g;
  for (const Expression::Term& t : e.terms()) {
    if (t.kind == Expression::Term::Kind::variable) {
      if (t.variable == v) g.slope += t.coefficient;
      continue;
    }
    if (!t.argument->depends_on(v)) continue;
    if (t.kind != Expression::Term::Kind::modulo || g.argument != nullptr) return {};
    const auto inside = growth(*t.argument, v);
    if (!inside || inside->argument != nullptr) return {};
    g.wrapped = t.coefficient, g.inner = inside->slope, g.modulus = t.modulus, g.argument = t.argument.get();
  }
  return g;
}

// For how many steps from here the modulo does not wrap.
std::int64_t until_wrap(const Growth& g, std::int64_t argument) {
  const std::int64_t at = floor_mod(argument, g.modulus);
  return g.inner > 0 ? (g.modulus - 1 - at) / g.inner + 1 : at / -g.inner + 1;
}

} // namespace

// Elements of parts [first, first + count) of m of every segment, all segments together.
Wide MeanLengths::of_parts(std::int64_t first, std::int64_t count, std::int64_t m) {
  const std::int64_t n = data_.elements;
  const Wide all = static_cast<Wide>(m) * segments_;
  if (n % all == 0) return n / all * count * segments_;
  const Wide step = static_cast<Wide>(m) * n, begin = static_cast<Wide>(first) * n,
             end = begin + static_cast<Wide>(count) * n;
  if (segments_ == 1) return end / all - begin / all;
  const auto [at, fresh] = known_.try_emplace(std::array{first, count, m}, 0);
  if (fresh) at->second = floor_sum(segments_, all, step, end) - floor_sum(segments_, all, step, begin);
  return at->second;
}

Wide MeanLengths::of_run(const Run& run) {
  if (run.times == 1 || run.stride == 0) return run.times * of_parts(run.first, run.count, run.m);
  const std::int64_t step = std::abs(run.stride);
  const std::int64_t low = run.stride > 0 ? run.first : run.first + (run.times - 1) * run.stride;
  if (step == run.count) return of_parts(low, run.count * run.times, run.m); // they join
  Wide sum = 0;
  if (segments_ == 1) {
    const Wide n = data_.elements;
    return floor_sum(run.times, run.m, step * n, (low + run.count) * n) -
           floor_sum(run.times, run.m, step * n, low * n);
  }
  if (step == 1 && run.count < run.times) { // the first part of each, the second, ...
    for (std::int64_t i = 0; i < run.count; ++i) sum += of_parts(low + i, run.times, run.m);
    return sum;
  }
  for (std::int64_t i = 0; i < run.times; ++i) sum += of_parts(low + i * step, run.count, run.m);
  return sum;
}

// One loop moves the position: piece by piece as far as it moves evenly.
Wide MeanLengths::along(const RunList& list, std::int64_t parts, const LoopValues& values, const LoopRange& loop) {
  const auto g = growth(list.first, Variable{loop.depth});
  const std::int64_t count = std::max<std::int64_t>(0, list.count.evaluate(values));
  LoopValues at = values;
  Wide sum = 0;
  for (std::int64_t i = 0; i < loop.trip;) {
    at[loop.depth] = i;
    std::int64_t steps = 1, stride = 0;
    if (g) {
      steps = loop.trip - i;
      stride = g->slope + g->wrapped * g->inner;
      if (g->argument != nullptr && g->inner != 0) steps = std::min(steps, until_wrap(*g, g->argument->evaluate(at)));
    }
    const std::int64_t first = list.first.evaluate(at);
    for (std::int64_t o = 0; o < list.outer.runs; ++o)
      for (std::int64_t r = 0; r < list.inner.runs; ++r)
        sum += of_run({first + o * list.outer.stride + r * list.inner.stride, count, stride, steps, parts});
    i += steps;
  }
  return sum;
}

// `each`: elements of a part of a segment, wherever it lies.
Wide MeanLengths::elements_of_equal_parts(const RunList& list, std::int64_t each, const LoopValues& values,
                                          std::span<const LoopRange> loops) const {
  Wide all = static_cast<Wide>(each) * segments_ * std::max<std::int64_t>(0, list.count.evaluate(values));
  all *= static_cast<Wide>(list.outer.runs) * list.inner.runs;
  for (const LoopRange& loop : loops) all *= loop.trip;
  return all;
}

// Of all iterations of all these loops together.
Wide MeanLengths::elements(const RunList& list, std::int64_t parts, const LoopValues& values,
                           std::span<const LoopRange> loops) {
  if (loops.empty()) return along(list, parts, values, {0, 1});
  const LoopRange& loop = loops.front();
  const auto rest = loops.subspan(1);
  if (!list.first.depends_on(Variable{loop.depth})) return loop.trip * elements(list, parts, values, rest);
  const bool alone = std::none_of(rest.begin(), rest.end(),
                                  [&](const LoopRange& other) { return list.first.depends_on(Variable{other.depth}); });
  Wide sum = 0;
  if (alone) {
    sum = along(list, parts, values, loop);
    for (const LoopRange& other : rest) sum *= other.trip;
    return sum;
  }
  LoopValues at = values;
  for (at[loop.depth] = 0; at[loop.depth] < loop.trip; ++at[loop.depth]) sum += elements(list, parts, at, rest);
  return sum;
}

// Blocks count their mean length over segments and loops.
double MeanLengths::of_blocks(const Extent& extent, std::int32_t rank, std::span<const std::int64_t> values) const {
  double sum = 0;
  const BlockLayout& blocks = data_.layout(extent.layout);
  for (const RunList& list : extent.runs) {
    const std::int64_t first = list.first.evaluate(values),
                       count = std::max<std::int64_t>(0, list.count.evaluate(values));
    if (blocks.uniform()) {
      sum += static_cast<double>(blocks.each) * static_cast<double>(list.outer.runs * list.inner.runs * count);
      continue;
    }
    for (std::int64_t o = 0; o < list.outer.runs; ++o)
      for (std::int64_t i = 0; i < list.inner.runs; ++i) {
        const std::int64_t at = first + o * list.outer.stride + i * list.inner.stride;
        for (std::int64_t b = at; b < at + count; ++b) sum += static_cast<double>(blocks.elements(Rank{rank}, b));
      }
  }
  return sum / static_cast<double>(extent.parts) / static_cast<double>(segments_) * data_.type_bytes;
}

double MeanLengths::mean_bytes(const Extent& extent, std::int32_t rank, std::span<const std::int64_t> values,
                               std::span<const LoopRange> loops) {
  if (extent.layout != Layout::vector) return of_blocks(extent, rank, values);
  LoopValues at{};
  std::copy_n(values.begin(), std::min(values.size(), at.size()), at.begin());
  const std::int64_t of_segments = data_.elements / segments_;
  const bool equal = of_segments * segments_ == data_.elements && of_segments % extent.parts == 0;
  Wide sum = 0;
  for (const RunList& list : extent.runs)
    sum += equal ? elements_of_equal_parts(list, of_segments / extent.parts, at, loops)
                 : elements(list, extent.parts, at, loops);
  double iterations = static_cast<double>(segments_);
  for (const LoopRange& loop : loops) iterations *= static_cast<double>(loop.trip);
  return static_cast<double>(sum * data_.type_bytes) / iterations;
}

} // namespace kumihimo::simulation
