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
void set_bounds(std::vector<Draft>& drafts, int kind, const Kernels& kernels) {
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

} // namespace

ShellPairs::ShellPairs(const Basis& basis, const Kernels& kernels, bool whole, double cutoff) {
  for (const Shell& shell : basis.shells) whole = whole && shell.type != ShellType::p;
  shells_ = whole ? basis.shells : split(basis.shells);

  std::array<std::vector<Draft>, 5> drafts;
  double largest = 0;
  for (int i = 0; i < static_cast<int>(shells_.size()); ++i)
    for (int j = 0; j <= i; ++j) {
      const bool in_order = shells_[i].type >= shells_[j].type;
      const int a = in_order ? i : j, b = in_order ? j : i, kind = kind_of(shells_[a], shells_[b]);
      Draft draft{.pair = {.shell_a = a, .shell_b = b, .first_a = shells_[a].first, .first_b = shells_[b].first},
                  .products = primitive_products(shells_[a], shells_[b], kind),
                  .contraction = {shells_[a].exponents.size(), shells_[b].exponents.size()}};
      std::ranges::sort(draft.products, std::ranges::greater{}, &PrimitiveProduct::bound);
      largest = std::max(largest, draft.products.front().bound);
      drafts[kind].push_back(std::move(draft));
    }
  for (int kind = 0; kind < 5; ++kind) {
    for (Draft& draft : drafts[kind])
      std::erase_if(draft.products, [&](const PrimitiveProduct& p) { return p.bound * largest < cutoff; });
    std::erase_if(drafts[kind], [](const Draft& draft) { return draft.products.empty(); });
    set_bounds(drafts[kind], kind, kernels);
    std::ranges::sort(drafts[kind], [](const Draft& x, const Draft& y) {
      return std::tuple(y.contraction, y.pair.bound) < std::tuple(x.contraction, x.pair.bound);
    });
    write(kind, drafts[kind], kernels.lanes);
  }
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
