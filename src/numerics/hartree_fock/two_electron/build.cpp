#include "hartree_fock/two_electron/build.hpp"

#include "hartree_fock/two_electron/agreement.hpp"
#include "measure/processor_time.hpp"
#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>

namespace kumihimo::hartree_fock::two_electron {
namespace {

// A thread's sums and counts, which no other thread writes.
template <class T>
struct Private {
  SumHalves<T> halves;
  std::vector<Tally> tallies;
};

// The numbers of integers as exact doubles, and back: 32 bits of each, so that up to 2^21 ranks add up exactly.
std::vector<double> in_parts(const std::vector<std::uint64_t>& integers) {
  std::vector<double> parts;
  parts.reserve(2 * integers.size());
  for (const std::uint64_t value : integers) {
    parts.push_back(static_cast<double>(value >> 32));
    parts.push_back(static_cast<double>(value & 0xffffffff));
  }
  return parts;
}
void from_parts(const std::vector<double>& parts, std::vector<std::uint64_t>& integers) {
  for (std::size_t i = 0; i < integers.size(); ++i)
    integers[i] = (static_cast<std::uint64_t>(parts[2 * i]) << 32) + static_cast<std::uint64_t>(parts[2 * i + 1]);
}

// Deals all units to one thread, and takes the processor time from one to the next.
class TimingDealer final : public Dealer {
 public:
  explicit TimingDealer(std::vector<UnitTime>& times) : times_(times) {}
  std::int64_t next(int) override {
    if (next_ > 0) {
      double& least = times_[next_ - 1].seconds;
      least = std::min(least, 1e-9 * static_cast<double>(measure::thread_time_ns() - begin_));
    }
    begin_ = measure::thread_time_ns();
    return next_ < times_.size() ? static_cast<std::int64_t>(next_++) : -1;
  }

 private:
  std::vector<UnitTime>& times_;
  std::size_t next_ = 0;
  std::int64_t begin_ = 0;
};

Result<std::unique_ptr<Dealer>> dealer_of(const std::vector<QuartetUnit>& units, std::span<const std::int64_t> all,
                                          const BuildRanks& ranks) {
  if (!ranks.deal) return std::unique_ptr<Dealer>(std::make_unique<ListDealer>(all));
  std::vector<double> costs;
  for (const QuartetUnit& unit : units) costs.push_back(unit.cost);
  return ranks.deal(costs);
}

Status sum_over(const BuildRanks& ranks, std::vector<double>& values) { return ranks.sum(values); }
Status sum_over(const BuildRanks& ranks, std::vector<std::uint64_t>& values) {
  std::vector<double> parts = in_parts(values);
  TRY(ranks.sum(parts));
  from_parts(parts, values);
  return Nothing{};
}

} // namespace

TwoElectronBuilder::TwoElectronBuilder(const Basis& basis, const LaneKernels& kernels, const BuildSettings& settings,
                                       std::unique_ptr<ShellPairs> pairs)
    : kernels_(kernels), settings_(settings), functions_(basis.functions), whole_(pairs->whole()),
      pairs_(std::move(pairs)), units_(make_units(*pairs_, whole_)), all_units_(units_.size()) {
  std::iota(all_units_.begin(), all_units_.end(), 0);
  for (const QuartetClass& quartets : quartet_classes(whole_)) work_.push_back({name_of(quartets)});
}

Result<std::unique_ptr<TwoElectronBuilder>> TwoElectronBuilder::make(const Basis& basis, const BuildSettings& settings,
                                                                     const BuildRanks& ranks) {
  const LaneKernels* const kernels = TRY(kernels_of(settings.instructions));
  TRY(agree_on_basis(basis, ranks));
  std::unique_ptr<ShellPairs> pairs =
      TRY(ShellPairs::make(basis, *kernels, settings.whole, settings.cutoff, ranks.broadcast));
  std::unique_ptr<TwoElectronBuilder> made(new TwoElectronBuilder(basis, *kernels, settings, std::move(pairs)));
  TRY(agree_on_units(made->units_, *made->pairs_, ranks));
  return made;
}

template <class T, class MakeAdd>
SumHalves<T> TwoElectronBuilder::half_sums(const UnitTask& task, Dealer& dealer, MakeAdd&& make_add) {
  const bool shared = settings_.threads == Threads::atomics;
  std::vector<std::unique_ptr<Private<T>>> of_thread(static_cast<std::size_t>(threads::count()));
  const auto work_on = [&](const QuartetUnit& unit, Private<T>& mine, Private<T>& sums) {
    compute(unit, task, make_add(sums.halves.j()), make_add(sums.halves.k()), mine.tallies[unit.number]);
  };
  const auto work_privately = [&](const QuartetUnit& unit) {
    Private<T>& mine = *of_thread[static_cast<std::size_t>(omp_get_thread_num())];
    work_on(unit, mine, mine);
  };
#pragma omp parallel num_threads(threads::count())
  {
    const int thread = omp_get_thread_num();
    of_thread[static_cast<std::size_t>(thread)] = std::make_unique<Private<T>>(
        Private<T>{SumHalves<T>(shared && thread > 0 ? 0 : functions_), std::vector<Tally>(tallies_.size())});
#pragma omp barrier
    if (settings_.threads == Threads::class_tasks) {
#pragma omp single
      for (int number = 0; number < static_cast<int>(tallies_.size()); ++number) {
#pragma omp task firstprivate(number) shared(work_privately)
        for (const QuartetUnit& unit : units_) {
          if (unit.number != number) continue;
          const QuartetUnit* const of_class = &unit;
#pragma omp task firstprivate(of_class) shared(work_privately)
          work_privately(*of_class);
        }
      }
    } else {
      Private<T>& mine = *of_thread[static_cast<std::size_t>(thread)];
      Private<T>& sums = shared ? *of_thread.front() : mine;
      for (std::int64_t unit; (unit = dealer.next(thread)) >= 0;)
        work_on(units_[static_cast<std::size_t>(unit)], mine, sums);
    }
#pragma omp barrier
    if (!shared) { // each thread sums its part of the matrices, in the order of threads
      std::vector<T>& total = of_thread.front()->halves.values;
      const auto size = static_cast<std::int64_t>(total.size());
      const threads::IndexRange part = threads::part(size, thread, omp_get_num_threads());
      for (std::size_t other = 1; other < of_thread.size(); ++other)
        if (of_thread[other])
          for (std::int64_t i = part.begin; i < part.end; ++i) total[i] += of_thread[other]->halves.values[i];
    }
  }
  for (const std::unique_ptr<Private<T>>& mine : of_thread)
    if (mine)
      for (std::size_t i = 0; i < tallies_.size(); ++i) tallies_[i] += mine->tallies[i];
  add_to_work();
  return std::move(of_thread.front()->halves);
}

void TwoElectronBuilder::add_to_work() {
  for (std::size_t i = 0; i < work_.size(); ++i) {
    const Tally& tally = tallies_[i];
    work_[i].quartets += static_cast<double>(tally.quartets);
    work_[i].screened += static_cast<double>(tally.screened);
    work_[i].primitives += static_cast<double>(tally.primitives);
    work_[i].seconds += 1e-9 * static_cast<double>(tally.nanoseconds);
  }
}

// |J_ab| <= Q_ab sum_cd Q_cd |D_cd| and |K_ac| <= sum_bd Q_ab |D_bd| Q_cd, with Q_ab <= t_b for all a.
double TwoElectronBuilder::largest_element(const ScreenedDensity& density) const {
  std::vector<double> t(static_cast<std::size_t>(density.shells));
  double coulomb = 0, highest = 0, exchange = 0;
  for (int kind = 0; kind < 5; ++kind)
    for (const PairList& list : pairs_->of_kind(kind))
      for (const ShellPair& pair : list.pairs) {
        coulomb += 2 * pair.bound * density.row(pair.shell_a)[pair.shell_b];
        highest = std::max(highest, pair.bound);
        for (const int shell : {pair.shell_a, pair.shell_b}) t[shell] = std::max(t[shell], pair.bound);
      }
  for (int b = 0; b < density.shells; ++b)
    for (int d = 0; d < density.shells; ++d) exchange += t[b] * density.row(b)[d] * t[d];
  return std::max({highest * coulomb, exchange, 1e-300});
}

Result<CoulombExchange> TwoElectronBuilder::build(const Matrix& density, double threshold, const BuildRanks& ranks) {
  if (ranks.deal && settings_.threads == Threads::class_tasks)
    return not_applicable("tasks by class need one rank", {}, "use private matrices with several ranks");
  const ScreenedDensity screened(density, pairs_->shells());
  const UnitTask task{kernels_, *pairs_, screened, threshold, settings_.cutoff};
  const std::unique_ptr<Dealer> dealer = TRY(dealer_of(units_, all_units_, ranks));
  tallies_.assign(quartet_classes(whole_).size(), {});
  if (settings_.reproducible) {
    const double scale = fixed_scale(largest_element(screened));
    SumHalves<std::uint64_t> halves = settings_.threads == Threads::atomics
                                          ? half_sums<std::uint64_t>(task, *dealer,
                                                                     [&](std::uint64_t* to) {
                                                                       return AddAtomicFixed{to, scale};
                                                                     })
                                          : half_sums<std::uint64_t>(task, *dealer, [&](std::uint64_t* to) {
                                              return AddFixed{to, scale};
                                            });
    TRY(dealer->end());
    if (ranks.sum) TRY(sum_over(ranks, halves.values));
    return symmetrised(halves, scale);
  }
  SumHalves<double> halves = settings_.threads == Threads::atomics
                                 ? half_sums<double>(task, *dealer, [](double* to) { return AddAtomic{to}; })
                                 : half_sums<double>(task, *dealer, [](double* to) { return AddPlain{to}; });
  TRY(dealer->end());
  if (ranks.sum) TRY(sum_over(ranks, halves.values));
  return symmetrised(halves);
}

double TwoElectronBuilder::left_out() const {
  double bound = 0;
  for (const Tally& tally : tallies_) bound += tally.left_out;
  return bound;
}

namespace {

class FastTwoElectron final : public TwoElectron {
 public:
  FastTwoElectron(std::unique_ptr<TwoElectronBuilder> builder, const BuildRanks& ranks)
      : builder_(std::move(builder)), ranks_(ranks) {}

  Result<CoulombExchange> build(const Matrix& density, double threshold) override {
    return builder_->build(density, threshold, ranks_);
  }
  std::vector<ClassWork> work() const override { return builder_->work(); }

  Result<std::vector<UnitTime>> time_units(const Matrix& density, double threshold, int rounds) override {
    if (ranks_.deal || threads::count() > 1)
      return not_applicable("units of work are timed on one rank with one thread");
    if (builder_->settings().threads == Threads::class_tasks)
      return not_applicable("tasks by class do not time units of work", {}, "use --variant shells");
    std::vector<UnitTime> times;
    for (const QuartetUnit& unit : builder_->units()) times.push_back({unit.number, unit.cost, INFINITY});
    const BuildRanks timed{.deal = [&](std::span<const double>) -> Result<std::unique_ptr<Dealer>> {
      return std::unique_ptr<Dealer>(std::make_unique<TimingDealer>(times));
    }};
    for (int round = 0; round < rounds; ++round) TRY(builder_->build(density, threshold, timed));
    return times;
  }

 private:
  std::unique_ptr<TwoElectronBuilder> builder_;
  BuildRanks ranks_;
};

} // namespace

Result<std::unique_ptr<TwoElectron>> make_two_electron(const Basis& basis, const BuildSettings& settings,
                                                       const BuildRanks& ranks) {
  std::unique_ptr<TwoElectronBuilder> builder = TRY(TwoElectronBuilder::make(basis, settings, ranks));
  return std::unique_ptr<TwoElectron>(new FastTwoElectron(std::move(builder), ranks));
}

} // namespace kumihimo::hartree_fock::two_electron
