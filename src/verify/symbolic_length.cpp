#include "verify/symbolic_length.hpp"

#include "base/hash.hpp"

#include <array>
#include <numeric>

namespace kumihimo::verify {
namespace {

// Greatest divisor of m and of everything in an expression that is a sum of plain terms; 1 for others.
std::int64_t divisor(const Expression& e, std::int64_t m) {
  std::int64_t g = std::gcd(m, e.constant());
  for (const Expression::Term& t : e.terms()) g = std::gcd(g, t.coefficient);
  return g;
}

Expression divided(const Expression& e, std::int64_t g) {
  Expression out(e.constant() / g);
  for (const Expression::Term& t : e.terms()) {
    Expression atom;
    switch (t.kind) {
    case Expression::Term::Kind::variable: atom = t.variable; break;
    case Expression::Term::Kind::modulo: atom = Expression::modulo(*t.argument, t.modulus); break;
    case Expression::Term::Kind::look_up: atom = Expression::look_up(t.table, *t.argument); break;
    }
    out += atom *= t.coefficient / g;
  }
  return out;
}

// One run is one run however it was repeated, and runs that touch are one.
void simplify(RunList& list) {
  if (list.inner.runs == 1) list.inner = list.outer, list.outer = {};
  if (list.inner.runs == 1) list.inner = {};
  if (list.outer.runs == 1) list.outer = {};
  if (list.inner.runs > 1 && list.count == Expression(list.inner.stride)) {
    list.count *= list.inner.runs;
    list.inner = list.outer, list.outer = {};
  }
}

Extent reduced_vector(Extent e) {
  std::int64_t g = e.parts;
  for (RunList& list : e.runs) {
    simplify(list);
    g = std::gcd(g, divisor(list.first, e.parts));
    g = std::gcd(g, divisor(list.count, e.parts));
    g = std::gcd(g, std::gcd(list.inner.stride, list.outer.stride));
  }
  if (g > 1) {
    e.parts /= g;
    for (RunList& list : e.runs) {
      list.first = divided(list.first, g);
      list.count = divided(list.count, g);
      list.inner.stride /= g;
      list.outer.stride /= g;
    }
  }
  return e;
}

// Whether blocks of the same numbers are as long in both; of blocks of one length, any.
bool same_length(const BlockLayout& a, const BlockLayout& b) {
  return same_numbering(a, b) || (a.uniform() && b.uniform() && a.each == b.each);
}

// The first layout whose blocks are as long as those of this one.
Layout same_layout(Layout layout, const DataLayout& data) {
  for (auto l = static_cast<std::uint8_t>(Layout::input_blocks); l < static_cast<std::uint8_t>(layout); ++l)
    if (same_length(data.layout(static_cast<Layout>(l)), data.layout(layout))) return static_cast<Layout>(l);
  return layout;
}

// An extent of blocks, or of parts, of equal lengths: only their number matters.
Extent block_number(const Extent& e, Layout layout) {
  Extent out{layout, e.parts, e.part, {}};
  Expression total = 0;
  for (const RunList& list : e.runs) total += list.count * (list.inner.runs * list.outer.runs);
  out.runs.push_back({0, total, {}, {}});
  return out;
}

} // namespace

SymbolicLength symbolic_length_of(const Extent& extent, const Binding& binding) {
  const DataLayout& data = binding.data();
  if (extent.layout == Layout::vector) {
    const std::int64_t parts = binding.segments().count * extent.parts; // below 1: structure.cpp finds that
    const bool equal_parts = parts > 0 && data.elements % parts == 0;
    return {reduced_vector(equal_parts ? block_number(extent, Layout::vector) : extent), -1};
  }
  const BlockLayout& blocks = data.layout(extent.layout);
  if (blocks.uniform()) return {block_number(extent, same_layout(extent.layout, data)), -1};
  SymbolicLength length{extent, -1};
  for (RunList& list : length.extent.runs) simplify(list);
  if (blocks.begins) { // the same on all ranks
    length.extent.layout = same_layout(extent.layout, data);
    return length;
  }
  const bool single = length.extent.runs.size() == 1 && length.extent.runs[0].count == Expression(1) &&
                      length.extent.runs[0].inner.runs == 1;
  if (!single || !data.transposed) {
    length.owner = binding.rank().value;
    return length;
  }
  const Expression own = binding.rank().value, other = length.extent.runs[0].first;
  const bool sending = length.extent.layout == Layout::input_blocks;
  length.extent.layout = Layout::input_blocks;
  length.extent.runs = {{sending ? own : other, 1, {}, {}}, {sending ? other : own, 1, {}, {}}};
  return length;
}

std::int64_t elements_of(const SymbolicLength& length, const Binding& binding, std::int64_t segment, Values values) {
  Extent e = length.extent;
  e.part = e.part.evaluate(values);
  for (RunList& list : e.runs) list.first = list.first.evaluate(values), list.count = list.count.evaluate(values);
  const DataLayout& data = binding.data();
  const bool pair = length.owner < 0 && e.layout != Layout::vector && data.layout(e.layout).elements_at;
  if (!pair) return binding.length(e, std::array{segment});
  const std::int64_t from = e.runs[0].first.constant(), to = e.runs[1].first.constant();
  const std::int64_t n = data.layout(e.layout).elements(Rank{static_cast<std::int32_t>(from)}, to);
  const std::int64_t m = binding.segments().count * e.parts, i = segment * e.parts + e.part.constant();
  return part_begin(i + 1, m, n) - part_begin(i, m, n);
}

std::uint64_t SymbolicLength::hash() const {
  std::uint64_t h = mixed(static_cast<std::uint64_t>(extent.layout), static_cast<std::uint64_t>(owner));
  h = mixed(mixed(h, static_cast<std::uint64_t>(extent.parts)), extent.part.hash());
  for (const RunList& list : extent.runs) {
    h = mixed(mixed(h, list.first.hash()), list.count.hash());
    for (const Repeat& r : {list.inner, list.outer})
      h = mixed(mixed(h, static_cast<std::uint64_t>(r.stride)), static_cast<std::uint64_t>(r.runs));
  }
  return h;
}

Expression replaced(const Expression& e, std::span<const Expression> by) {
  if (e.is_constant()) return e;
  Expression out = e;
  for (std::size_t d = 0; d < by.size(); ++d) {
    const Variable v{static_cast<std::int32_t>(d)};
    if (by[d] == Expression(v) || !out.depends_on(v)) continue;
    out = out.substitute(v, by[d]);
  }
  return out;
}

SymbolicLength replaced(const SymbolicLength& length, std::span<const Expression> by) {
  SymbolicLength out = length;
  out.extent.part = replaced(length.extent.part, by);
  for (RunList& list : out.extent.runs) {
    list.first = replaced(list.first, by);
    list.count = replaced(list.count, by);
  }
  return out;
}

} // namespace kumihimo::verify
