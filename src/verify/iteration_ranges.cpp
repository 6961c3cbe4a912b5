#include "verify/iteration_ranges.hpp"

#include <algorithm>

namespace kumihimo::verify {
namespace {

constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

class Solver {
 public:
  Solver(std::int32_t depth, std::span<const std::int64_t> values, std::span<const std::int64_t> trips)
      : depth_(depth), values_(values), trips_(trips) {}

  void solve(const Expression& e, Range wanted, std::vector<Range>& out) const {
    const Expression::Term* own = nullptr;
    Range others{e.constant(), e.constant()};
    for (const Expression::Term& t : e.terms()) {
      if (depends(t)) {
        if (own) return all(out);
        own = &t;
        continue;
      }
      const Range r = range_of(t);
      others.low += t.coefficient * (t.coefficient > 0 ? r.low : r.high);
      others.high += t.coefficient * (t.coefficient > 0 ? r.high : r.low);
    }
    const Range left{wanted.low - others.high, wanted.high - others.low};
    if (!own) {
      if (left.low <= 0 && left.high >= 0) all(out);
      return;
    }
    const std::int64_t k = own->coefficient;
    const Range atom = k > 0 ? Range{ceil_div(left.low, k), floor_div(left.high, k)}
                             : Range{ceil_div(left.high, k), floor_div(left.low, k)};
    if (atom.low <= atom.high) solve_atom(*own, atom, out);
  }

 private:
  bool depends(const Expression::Term& t) const {
    return t.kind == Expression::Term::Kind::variable ? t.variable.depth == depth_
                                                      : t.argument->depends_on(Variable{depth_});
  }

  // Bounds of a term without its coefficient, that the variable does not move.
  Range range_of(const Expression::Term& t) const {
    Expression atom = atom_of(t);
    for (std::int32_t d = 0; d < depth_; ++d)
      if (atom.depends_on(Variable{d})) atom = atom.substitute(Variable{d}, values_[d]);
    return atom.is_constant() ? Range{atom.constant(), atom.constant()} : atom.range(trips_);
  }
  static Expression atom_of(const Expression::Term& t) {
    if (t.kind == Expression::Term::Kind::variable) return t.variable;
    if (t.kind == Expression::Term::Kind::modulo) return Expression::modulo(*t.argument, t.modulus);
    return Expression::look_up(t.table, *t.argument);
  }

  Range range_of(const Expression& e) const {
    Expression fixed = e;
    for (std::int32_t d = 0; d < depth_; ++d)
      if (fixed.depends_on(Variable{d})) fixed = fixed.substitute(Variable{d}, values_[d]);
    return fixed.range(trips_);
  }

  void all(std::vector<Range>& out) const {
    if (trips_[depth_] > 0) out.push_back({0, trips_[depth_] - 1});
  }

  void solve_atom(const Expression::Term& t, Range wanted, std::vector<Range>& out) const {
    switch (t.kind) {
    case Expression::Term::Kind::variable: {
      const Range r{std::max<std::int64_t>(wanted.low, 0), std::min(wanted.high, trips_[depth_] - 1)};
      if (r.low <= r.high) out.push_back(r);
      return;
    }
    case Expression::Term::Kind::modulo: {
      const Range r{std::max<std::int64_t>(wanted.low, 0), std::min(wanted.high, t.modulus - 1)};
      if (r.low > r.high) return;
      const Range argument = range_of(*t.argument);
      const std::int64_t last = floor_div(argument.high, t.modulus);
      for (std::int64_t turn = floor_div(argument.low, t.modulus); turn <= last; ++turn)
        solve(*t.argument, {r.low + turn * t.modulus, r.high + turn * t.modulus}, out);
      return;
    }
    case Expression::Term::Kind::look_up: {
      const auto size = static_cast<std::int64_t>(t.table->size());
      for (std::int64_t i = 0; i < size; ++i) {
        if ((*t.table)[i] < wanted.low || (*t.table)[i] > wanted.high) continue;
        const std::int64_t first = i;
        while (i + 1 < size && (*t.table)[i + 1] >= wanted.low && (*t.table)[i + 1] <= wanted.high) ++i;
        solve(*t.argument, {first, i}, out);
      }
    }
    }
  }

  std::int32_t depth_;
  std::span<const std::int64_t> values_, trips_;
};

} // namespace

void append_iteration_ranges(const Expression& e, std::int32_t depth, Range wanted,
                             std::span<const std::int64_t> values, std::span<const std::int64_t> trips,
                             std::vector<Range>& out) {
  if (wanted.low > wanted.high) return;
  Solver(depth, values, trips).solve(e, wanted, out);
  unite(out);
}

void unite(std::vector<Range>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](Range a, Range b) { return a.low < b.low; });
  std::size_t kept = 0;
  for (const Range& r : ranges) {
    if (kept > 0 && r.low <= ranges[kept - 1].high + 1)
      ranges[kept - 1].high = std::max(ranges[kept - 1].high, r.high);
    else
      ranges[kept++] = r;
  }
  ranges.resize(kept);
}

} // namespace kumihimo::verify
