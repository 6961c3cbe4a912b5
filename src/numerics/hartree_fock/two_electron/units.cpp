#include "hartree_fock/two_electron/units.hpp"

#include "hartree_fock/two_electron/products.hpp"
#include "measure/processor_time.hpp"

#include <algorithm>
#include <string>

namespace kumihimo::hartree_fock::two_electron {
namespace {

constexpr int most_block = 16 * most_lanes; // functions of two sp shells, in lanes
constexpr int most_integrals = 256 * most_lanes;

// A block of the functions of two shells in each lane, rows first.
struct LaneBlock {
  int rows = 0, columns = 0;
  alignas(64) double values[most_block];

  void gather(const Matrix& matrix, int lanes, int used, const int* row, const int* column) {
    for (int lane = 0; lane < used; ++lane)
      for (int i = 0; i < rows; ++i) {
        const double* const from = matrix.row(row[lane] + i) + column[lane];
        for (int j = 0; j < columns; ++j) values[(i * columns + j) * lanes + lane] = from[j];
      }
  }
  template <class Add>
  void scatter(const Add& add, std::ptrdiff_t n, int lanes, const double* weights, const int* row,
               const int* column) const {
    for (int lane = 0; lane < lanes; ++lane) {
      if (weights[lane] == 0) continue;
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
          add((row[lane] + i) * n + column[lane] + j, values[(i * columns + j) * lanes + lane]);
    }
  }
};

// One unit under way: its bra block with one ket after the other.
template <class Add>
class Quartets {
 public:
  Quartets(const QuartetUnit& unit, const UnitTask& task, const Add& j, const Add& k, Tally& tally)
      : task_(task), block_(*unit.block), kernels_(task.kernels.of[unit.quartets.bra][unit.quartets.ket]),
        same_kind_(unit.quartets.bra == unit.quartets.ket), j_(j), k_(k), tally_(tally), lanes_(task.kernels.lanes),
        used_(static_cast<int>(block_.pairs.size())) {
    const PairKind &bra = pair_kinds[unit.quartets.bra], &ket = pair_kinds[unit.quartets.ket];
    const int na = bra.a.count(), nb = bra.b.count(), nc = ket.a.count(), nd = ket.b.count();
    const auto shape = [](LaneBlock& block, int rows, int columns) {
      block.rows = rows;
      block.columns = columns;
      std::fill_n(block.values, most_block, 0.0);
    };
    shape(d_ab_, na, nb), shape(d_ac_, na, nc), shape(d_ad_, na, nd), shape(d_bc_, nb, nc), shape(d_bd_, nb, nd);
    shape(j_ab_, na, nb), shape(k_ac_, na, nc), shape(k_ad_, na, nd), shape(k_bc_, nb, nc), shape(k_bd_, nb, nd);
    shape(sum_ab_, na, nb);
    for (int lane = 0; lane < used_; ++lane) {
      a_[lane] = block_.pairs[lane].first_a;
      b_[lane] = block_.pairs[lane].first_b;
    }
    d_ab_.gather(task.density.matrix, lanes_, used_, a_, b_);
    for (int lane = 0; lane < used_; ++lane) {
      const ShellPair& pair = block_.pairs[lane];
      s_ab_[lane] = task.density.row(pair.shell_a)[pair.shell_b];
      same_shell_[lane] = pair.shell_a == pair.shell_b ? 0.5 : 1;
    }
  }

  // Kets of a list up to the last that is not after the block. Their bounds fall: the first below the threshold ends.
  void with(const PairList& kets) {
    const std::int64_t end = !same_kind_
                                 ? static_cast<std::int64_t>(kets.pairs.size())
                                 : std::clamp<std::int64_t>(block_.first + used_ - kets.first, 0, kets.pairs.size());
    const double most_added = 2 * task_.density.largest; // per product of bounds, to one element
    for (std::int64_t i = 0; i < end; ++i) {
      if (block_.bound * kets.pairs[i].bound * most_added < task_.threshold) {
        tally_.screened += (end - i) * used_;
        tally_.left_out += 4 * most_added * block_.bound * used_ * (kets.bounds_after[i] - kets.bounds_after[end]);
        return;
      }
      with(kets.pairs[i], kets.first + i);
    }
  }

  // What the kets had in common: J of the bra pairs.
  void finish() {
    double all[most_lanes];
    std::fill_n(all, most_lanes, 0.0);
    std::fill_n(all, used_, 1.0);
    sum_ab_.scatter(j_, task_.density.matrix.size, lanes_, all, a_, b_);
  }

 private:
  // Weight of each lane: 1/2 for each pair of indices that are equal, 0 for quartets left out or counted elsewhere.
  bool weigh(const ShellPair& ket, std::int64_t ket_place) {
    const double of_ket = ket.shell_a == ket.shell_b ? 0.5 : 1, s_cd = task_.density.row(ket.shell_a)[ket.shell_b];
    bool any = false;
    for (int lane = 0; lane < used_; ++lane) {
      weights_[lane] = 0;
      const std::int64_t bra_place = block_.first + lane;
      if (same_kind_ && ket_place > bra_place) continue;
      const ShellPair& bra = block_.pairs[lane];
      const double* const s_a = task_.density.row(bra.shell_a);
      const double* const s_b = task_.density.row(bra.shell_b);
      const double coulomb = 2 * std::max(s_cd, s_ab_[lane]);
      const double s_ac = s_a[ket.shell_a], s_ad = s_a[ket.shell_b], s_bc = s_b[ket.shell_a], s_bd = s_b[ket.shell_b];
      const double bound = bra.bound * ket.bound;
      if (bound * std::max({coulomb, s_ac, s_ad, s_bc, s_bd}) < task_.threshold) {
        ++tally_.screened;
        tally_.left_out += bound * (2 * (s_cd + s_ab_[lane]) + s_ac + s_ad + s_bc + s_bd);
        continue;
      }
      weights_[lane] = same_shell_[lane] * of_ket * (same_kind_ && ket_place == bra_place ? 0.5 : 1);
      ++tally_.quartets;
      any = true;
    }
    return any;
  }

  void with(const ShellPair& ket, std::int64_t ket_place) {
    if (!weigh(ket, ket_place)) return;
    tally_.primitives += used_ * kernels_.integrals(block_.products, ket.products, task_.cutoff, integrals_);

    const Matrix& density = task_.density.matrix;
    std::fill_n(c_, used_, ket.first_a);
    std::fill_n(d_, used_, ket.first_b);
    d_ac_.gather(density, lanes_, used_, a_, c_);
    d_ad_.gather(density, lanes_, used_, a_, d_);
    d_bc_.gather(density, lanes_, used_, b_, c_);
    d_bd_.gather(density, lanes_, used_, b_, d_);
    double d_cd[16], j_cd[16];
    const int nc = d_ac_.columns, nd = d_ad_.columns;
    for (int i = 0; i < nc; ++i)
      for (int j = 0; j < nd; ++j) d_cd[i * nd + j] = density(ket.first_a + i, ket.first_b + j);
    kernels_.contract(integrals_, weights_,
                      {d_ab_.values, d_cd, d_ac_.values, d_ad_.values, d_bc_.values, d_bd_.values},
                      {j_ab_.values, j_cd, k_ac_.values, k_ad_.values, k_bc_.values, k_bd_.values});
    const std::ptrdiff_t n = density.size;
    for (int i = 0; i < sum_ab_.rows * sum_ab_.columns * lanes_; ++i) sum_ab_.values[i] += j_ab_.values[i];
    for (int i = 0; i < nc; ++i)
      for (int j = 0; j < nd; ++j) j_((ket.first_a + i) * n + ket.first_b + j, j_cd[i * nd + j]);
    k_ac_.scatter(k_, n, lanes_, weights_, a_, c_);
    k_ad_.scatter(k_, n, lanes_, weights_, a_, d_);
    k_bc_.scatter(k_, n, lanes_, weights_, b_, c_);
    k_bd_.scatter(k_, n, lanes_, weights_, b_, d_);
  }

  const UnitTask& task_;
  const PairBlock& block_;
  const QuartetKernels& kernels_;
  const bool same_kind_;
  const Add &j_, &k_;
  Tally& tally_;
  const int lanes_, used_;
  int a_[most_lanes], b_[most_lanes], c_[most_lanes], d_[most_lanes]; // first functions
  double s_ab_[most_lanes], same_shell_[most_lanes];
  double weights_[most_lanes] = {};
  LaneBlock d_ab_, d_ac_, d_ad_, d_bc_, d_bd_, j_ab_, k_ac_, k_ad_, k_bc_, k_bd_, sum_ab_;
  alignas(64) double integrals_[most_integrals];
};

} // namespace

std::vector<QuartetClass> quartet_classes(bool whole) {
  const int p = whole ? kind_ls : kind_ps, pp = whole ? kind_ll : kind_pp;
  return {{kind_ss, kind_ss}, {p, kind_ss}, {p, p}, {pp, kind_ss}, {pp, p}, {pp, pp}};
}

std::string name_of(const QuartetClass& quartets) {
  return std::string("(") + pair_kind_names[quartets.bra] + "," + pair_kind_names[quartets.ket] + ")";
}

void Tally::operator+=(const Tally& other) {
  quartets += other.quartets;
  screened += other.screened;
  primitives += other.primitives;
  left_out += other.left_out;
  nanoseconds += other.nanoseconds;
}

std::vector<QuartetUnit> make_units(const ShellPairs& pairs, bool whole) {
  std::vector<QuartetUnit> units;
  int number = 0;
  for (const QuartetClass& quartets : quartet_classes(whole)) {
    double kets = 0;
    for (const PairList& list : pairs.of_kind(quartets.ket))
      for (const ShellPair& pair : list.pairs) kets += pair.products.count;
    const double weight = hermite_count(pair_kinds[quartets.bra].order()) * kind_terms[quartets.ket].count + 20;
    for (const PairList& list : pairs.of_kind(quartets.bra))
      for (const PairBlock& block : list.blocks)
        units.push_back({number, quartets, &block, weight * kets * block.products.count});
    ++number;
  }
  std::ranges::stable_sort(units, std::ranges::greater{}, &QuartetUnit::cost);
  return units;
}

template <class Add>
void compute(const QuartetUnit& unit, const UnitTask& task, const Add& j, const Add& k, Tally& tally) {
  const std::int64_t begin = measure::thread_time_ns();
  Quartets<Add> quartets(unit, task, j, k, tally);
  for (const PairList& kets : task.pairs.of_kind(unit.quartets.ket)) quartets.with(kets);
  quartets.finish();
  tally.nanoseconds += measure::thread_time_ns() - begin;
}
template void compute(const QuartetUnit&, const UnitTask&, const AddPlain&, const AddPlain&, Tally&);
template void compute(const QuartetUnit&, const UnitTask&, const AddAtomic&, const AddAtomic&, Tally&);
template void compute(const QuartetUnit&, const UnitTask&, const AddFixed&, const AddFixed&, Tally&);
template void compute(const QuartetUnit&, const UnitTask&, const AddAtomicFixed&, const AddAtomicFixed&, Tally&);

} // namespace kumihimo::hartree_fock::two_electron
