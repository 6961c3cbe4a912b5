#include "hartree_fock/two_electron/shell_pairs.hpp"

#include "hartree_fock/two_electron/primitive_products.hpp"
#include "hartree_fock/two_electron/products.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace kumihimo::hartree_fock::two_electron {

struct ShellPairs::Draft {
  ShellPair pair;
  std::vector<PrimitiveProduct> products;   // by falling bound
  std::array<std::size_t, 2> contraction{}; // primitives of the two shells
};

namespace {
using Draft = ShellPairs::Draft;

std::vector<Shell> split(const std::vector<Shell>& shells) {
  std::vector<Shell> made;
  for (const Shell& shell : shells) {
    if (shell.type != ShellType::sp) {
      made.push_back(shell);
      continue;
    }
    Shell s = shell, p = shell;
    s.type = ShellType::s;
    s.p.clear();
    p.type = ShellType::p;
    p.s.clear();
    p.first += 1;
    made.push_back(std::move(s));
    made.push_back(std::move(p));
  }
  return made;
}

// a.type >= b.type in the order s, p, sp. p beside sp never occurs: see ShellPairs.
int kind_of(const Shell& a, const Shell& b) {
  if (a.type == ShellType::s) return kind_ss;
  if (a.type == ShellType::p) return b.type == ShellType::s ? kind_ps : kind_pp;
  return b.type == ShellType::s ? kind_ls : kind_ll;
}

// Makes blocks and kets of drafts, in their order.
class PairWriter {
 public:
  PairWriter(int kind, int lanes, std::vector<std::vector<double>>& memory)
      : lanes_(lanes), numbers_(numbers_before_terms + kind_terms[kind].count), terms_(kind_terms[kind]),
        memory_(memory) {}

  // The products of `drafts`, one in each lane.
  Products block(std::span<const Draft> drafts) {
    std::size_t count = 0;
    for (const Draft& draft : drafts) count = std::max(count, draft.products.size());
    double* const numbers = allocate(count * numbers_ * lanes_);
    double* const bounds = allocate(count);
    for (std::size_t k = 0; k < count; ++k)
      for (int lane = 0; lane < lanes_; ++lane) {
        double* const to = numbers + k * numbers_ * lanes_ + lane;
        to[0] = 1; // the exponent where a lane has no product; its coefficients are 0
        if (lane >= static_cast<int>(drafts.size()) || k >= drafts[lane].products.size()) continue;
        const PrimitiveProduct& product = drafts[lane].products[k];
        for (int i = 0; i < numbers_; ++i) to[i * lanes_] = product.numbers[i];
        bounds[k] = std::max(bounds[k], product.bound);
      }
    return {numbers, bounds, static_cast<int>(count)};
  }

  // Those of one pair, with the sign (-1)^|s| of the ket.
  Products ket(const Draft& draft) {
    double* const numbers = allocate(draft.products.size() * numbers_);
    double* const bounds = allocate(draft.products.size());
    for (std::size_t k = 0; k < draft.products.size(); ++k) {
      double* const to = numbers + k * numbers_;
      std::copy(draft.products[k].numbers.begin(), draft.products[k].numbers.end(), to);
      for (int term = 0; term < terms_.count; ++term)
        if (hermites[terms_.of[term].hermite].order() % 2 != 0) to[numbers_before_terms + term] *= -1;
      bounds[k] = draft.products[k].bound;
    }
    return {numbers, bounds, static_cast<int>(draft.products.size())};
  }

 private:
  double* allocate(std::size_t size) {
    memory_.emplace_back(size);
    return memory_.back().data();
  }
  int lanes_, numbers_;
  const Terms& terms_;
  std::vector<std::vector<double>>& memory_;
};

// sqrt of the largest (ab|ab) of each draft, by the kernel itself.
void set_bounds(std::vector<Draft>& drafts, int kind, const LaneKernels& kernels) {
  const int functions = pair_kinds[kind].functions(), lanes = kernels.lanes;
  std::vector<double> integrals(static_cast<std::size_t>(functions * functions * lanes));
  for (Draft& draft : drafts) {
    std::vector<std::vector<double>> memory;
    PairWriter writer(kind, lanes, memory);
    kernels.of[kind][kind].integrals(writer.block({&draft, 1}), writer.ket(draft), 0, integrals.data());
    double largest = 0;
    for (int f = 0; f < functions; ++f) largest = std::max(largest, integrals[(f * functions + f) * lanes]);
    draft.pair.bound = std::sqrt(largest);
  }
}

using DraftsOfKinds = std::array<std::vector<Draft>, 5>;

// All pairs of shells with all their products.
DraftsOfKinds all_drafts(const std::vector<Shell>& shells) {
  DraftsOfKinds drafts;
  for (int i = 0; i < static_cast<int>(shells.size()); ++i)
    for (int j = 0; j <= i; ++j) {
      const bool in_order = shells[i].type >= shells[j].type;
      const int a = in_order ? i : j, b = in_order ? j : i, kind = kind_of(shells[a], shells[b]);
      Draft draft{.pair = {.shell_a = a, .shell_b = b, .first_a = shells[a].first, .first_b = shells[b].first},
                  .products = primitive_products(shells[a], shells[b], kind),
                  .contraction = {shells[a].exponents.size(), shells[b].exponents.size()}};
      std::ranges::stable_sort(draft.products, std::ranges::greater{}, &PrimitiveProduct::bound);
      drafts[kind].push_back(std::move(draft));
    }
  return drafts;
}

// A number of each draft, as rank 0 has it.
template <class Number>
Result<std::vector<double>> of_rank_0(const DraftsOfKinds& drafts, const Broadcast& broadcast, Number&& number) {
  std::vector<double> numbers;
  for (const std::vector<Draft>& of_kind : drafts)
    for (const Draft& draft : of_kind) numbers.push_back(number(draft));
  if (broadcast) TRY(broadcast(numbers));
  return numbers;
}

// Leaves out products below the cutoff, and drafts that have none left.
Status cut(DraftsOfKinds& drafts, double cutoff, const Broadcast& broadcast) {
  double largest = 0;
  for (const std::vector<Draft>& of_kind : drafts)
    for (const Draft& draft : of_kind) largest = std::max(largest, draft.products.front().bound);
  const std::vector<double> kept = TRY(of_rank_0(drafts, broadcast, [&](const Draft& draft) {
    return static_cast<double>(std::ranges::count_if(
        draft.products, [&](const PrimitiveProduct& product) { return !(product.bound * largest < cutoff); }));
  }));
  auto next = kept.begin();
  for (std::vector<Draft>& of_kind : drafts) {
    for (Draft& draft : of_kind) draft.products.resize(static_cast<std::size_t>(*next++));
    std::erase_if(of_kind, [](const Draft& draft) { return draft.products.empty(); });
  }
  return Nothing{};
}

} // namespace

Result<std::unique_ptr<ShellPairs>> ShellPairs::make(const Basis& basis, const LaneKernels& kernels, bool whole,
                                                     double cutoff, const Broadcast& broadcast) {
  for (const Shell& shell : basis.shells) whole = whole && shell.type != ShellType::p;
  std::unique_ptr<ShellPairs> made(new ShellPairs);
  made->whole_ = whole;
  made->shells_ = whole ? basis.shells : split(basis.shells);
  DraftsOfKinds drafts = all_drafts(made->shells_);
  TRY(cut(drafts, cutoff, broadcast));
  for (int kind = 0; kind < 5; ++kind) set_bounds(drafts[kind], kind, kernels);
  const std::vector<double> bounds =
      TRY(of_rank_0(drafts, broadcast, [](const Draft& draft) { return draft.pair.bound; }));
  auto next = bounds.begin();
  for (int kind = 0; kind < 5; ++kind) {
    for (Draft& draft : drafts[kind]) draft.pair.bound = *next++;
    std::ranges::sort(drafts[kind], [](const Draft& x, const Draft& y) {
      return std::tuple(y.contraction, y.pair.bound, x.pair.shell_a, x.pair.shell_b) <
             std::tuple(x.contraction, x.pair.bound, y.pair.shell_a, y.pair.shell_b);
    });
    made->write(kind, drafts[kind], kernels.lanes);
  }
  return made;
}

void ShellPairs::write(int kind, std::span<Draft> drafts, int lanes) {
  PairWriter writer(kind, lanes, memory_);
  for (Draft& draft : drafts) {
    draft.pair.products = writer.ket(draft);
    pairs_[kind].push_back(draft.pair);
  }
  for (std::size_t begin = 0; begin < drafts.size();) {
    std::size_t end = begin;
    while (end < drafts.size() && drafts[end].contraction == drafts[begin].contraction) ++end;
    PairList& list = lists_[kind].emplace_back();
    list.pairs = std::span(pairs_[kind]).subspan(begin, end - begin);
    list.first = static_cast<std::int64_t>(begin);
    list.bounds_after.assign(list.pairs.size() + 1, 0);
    for (std::size_t i = list.pairs.size(); i-- > 0;)
      list.bounds_after[i] = list.bounds_after[i + 1] + list.pairs[i].bound;
    for (std::size_t i = begin; i < end; i += lanes) {
      const std::size_t count = std::min<std::size_t>(lanes, end - i);
      list.blocks.push_back({std::span(pairs_[kind]).subspan(i, count), static_cast<std::int64_t>(i),
                             pairs_[kind][i].bound, writer.block(drafts.subspan(i, count))});
    }
    begin = end;
  }
}

} // namespace kumihimo::hartree_fock::two_electron
