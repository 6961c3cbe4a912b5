#include "base/expression.hpp"

#include "base/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <compare>

namespace kumihimo {

bool Expression::Term::same_atom(const Term& o) const {
  if (kind != o.kind) return false;
  switch (kind) {
  case Kind::variable: return variable == o.variable;
  case Kind::modulo: return modulus == o.modulus && *argument == *o.argument;
  case Kind::look_up: return (table == o.table || *table == *o.table) && *argument == *o.argument;
  }
  return false;
}

namespace {

std::strong_ordering compare(const Expression& a, const Expression& b);

// A total order of atoms, in which equal atoms are equal: two sums of the same atoms list them in the same order.
std::strong_ordering compare(const Expression::Term& a, const Expression::Term& b) {
  if (const auto c = a.kind <=> b.kind; c != 0) return c;
  if (a.kind == Expression::Term::Kind::variable) return a.variable <=> b.variable;
  if (const auto c = a.modulus <=> b.modulus; c != 0) return c;
  if (const auto c = compare(*a.argument, *b.argument); c != 0) return c;
  if (a.table == b.table) return std::strong_ordering::equal;
  return *a.table <=> *b.table;
}

std::strong_ordering compare(const Expression& a, const Expression& b) {
  if (const auto c = a.constant() <=> b.constant(); c != 0) return c;
  if (const auto c = a.terms().size() <=> b.terms().size(); c != 0) return c;
  for (std::size_t i = 0; i < a.terms().size(); ++i) {
    if (const auto c = a.terms()[i].coefficient <=> b.terms()[i].coefficient; c != 0) return c;
    if (const auto c = compare(a.terms()[i], b.terms()[i]); c != 0) return c;
  }
  return std::strong_ordering::equal;
}

bool before(const Expression::Term& a, const Expression::Term& b) { return compare(a, b) < 0; }

} // namespace

Expression::Expression(Term term) {
  auto one = std::make_shared<Term[]>(1);
  one[0] = std::move(term);
  terms_.size = 1, terms_.list = std::move(one);
}

Expression::Expression(Variable variable) : Expression(Term{.variable = variable}) {}

void Expression::add(Term term) {
  if (term.coefficient == 0) return;
  const auto all = terms();
  auto at = std::find_if(all.begin(), all.end(), [&](const Term& t) { return t.same_atom(term); });
  const bool found = at != all.end();
  if (found)
    term.coefficient += at->coefficient;
  else
    at = std::upper_bound(all.begin(), all.end(), term, before);
  const bool vanishes = term.coefficient == 0;
  const std::size_t size = terms_.size + (found ? 0 : 1) - (vanishes ? 1 : 0);
  auto sum = std::make_shared<Term[]>(size);
  Term* next = std::copy(all.begin(), at, sum.get());
  if (!vanishes) *next++ = std::move(term);
  std::copy(found ? at + 1 : at, all.end(), next);
  terms_.size = size, terms_.list = std::move(sum);
}

void Expression::add(const Expression& other, std::int64_t factor) {
  constant_ += other.constant_ * factor;
  if (factor == 1 && is_constant()) {
    terms_ = other.terms_;
    return;
  }
  const Expression kept = other; // may be this one
  for (Term t : kept.terms()) {
    t.coefficient *= factor;
    add(std::move(t));
  }
}

Expression Expression::modulo(Expression argument, std::int64_t modulus) {
  assert(modulus > 0);
  Expression reduced(floor_mod(argument.constant_, modulus));
  for (Term t : argument.terms()) {
    t.coefficient = floor_mod(t.coefficient, modulus);
    if (2 * t.coefficient > modulus) t.coefficient -= modulus; // -i rather than (m-1) i
    if (t.kind == Term::Kind::modulo && t.modulus % modulus == 0)
      reduced.add(*t.argument, t.coefficient); // (x mod km) mod m = x mod m
    else
      reduced.add(std::move(t));
  }
  reduced.constant_ = floor_mod(reduced.constant_, modulus);
  if (reduced.is_constant()) return reduced;
  Term t;
  t.kind = Term::Kind::modulo;
  t.modulus = modulus;
  t.argument = std::make_shared<Expression>(std::move(reduced));
  return Expression(std::move(t));
}

Expression Expression::look_up(std::shared_ptr<const Table> table, Expression index) {
  if (index.is_constant()) {
    assert(index.constant_ >= 0 && index.constant_ < static_cast<std::int64_t>(table->size()));
    return (*table)[index.constant_];
  }
  Term t;
  t.kind = Term::Kind::look_up;
  t.table = std::move(table);
  t.argument = std::make_shared<Expression>(std::move(index));
  return Expression(std::move(t));
}

Expression& Expression::operator+=(const Expression& other) {
  add(other, 1);
  return *this;
}

Expression& Expression::operator-=(const Expression& other) {
  add(other, -1);
  return *this;
}

Expression& Expression::operator*=(std::int64_t factor) {
  if (factor == 1) return *this;
  Expression scaled;
  if (factor != 0) scaled.add(*this, factor);
  return *this = std::move(scaled);
}

bool Expression::operator==(const Expression& o) const {
  if (constant_ != o.constant_ || terms_.size != o.terms_.size) return false;
  return terms_.list == o.terms_.list ||
         std::equal(terms().begin(), terms().end(), o.terms().begin(),
                    [](const Term& a, const Term& b) { return a.coefficient == b.coefficient && a.same_atom(b); });
}

bool Expression::depends_on(Variable variable) const {
  return std::any_of(terms().begin(), terms().end(), [&](const Term& t) {
    return t.kind == Term::Kind::variable ? t.variable == variable : t.argument->depends_on(variable);
  });
}

std::int32_t Expression::deepest() const {
  std::int32_t depth = -1;
  for (const Term& t : terms())
    depth = std::max(depth, t.kind == Term::Kind::variable ? t.variable.depth : t.argument->deepest());
  return depth;
}

std::int64_t Expression::evaluate(std::span<const std::int64_t> values) const {
  std::int64_t sum = constant_;
  for (const Term& t : terms()) switch (t.kind) {
    case Term::Kind::variable: sum += t.coefficient * values[t.variable.depth]; break;
    case Term::Kind::modulo: sum += t.coefficient * floor_mod(t.argument->evaluate(values), t.modulus); break;
    case Term::Kind::look_up: {
      const std::int64_t at = t.argument->evaluate(values);
      assert(at >= 0 && at < static_cast<std::int64_t>(t.table->size()));
      sum += t.coefficient * (*t.table)[at];
    }
    }
  return sum;
}

Range Expression::range(std::span<const std::int64_t> trips) const {
  Range sum{constant_, constant_};
  for (const Term& t : terms()) {
    Range r;
    if (t.kind == Term::Kind::variable) {
      r = {0, std::max<std::int64_t>(0, trips[t.variable.depth] - 1)};
    } else {
      const Range inner = t.argument->range(trips);
      if (t.kind == Term::Kind::modulo) {
        const bool within = inner.low >= 0 && inner.high < t.modulus;
        r = within ? inner : Range{0, t.modulus - 1};
      } else {
        const auto size = static_cast<std::int64_t>(t.table->size());
        const auto low = std::clamp<std::int64_t>(inner.low, 0, size - 1),
                   high = std::clamp<std::int64_t>(inner.high, 0, size - 1);
        const auto [least, most] = std::minmax_element(t.table->begin() + low, t.table->begin() + high + 1);
        r = {*least, *most};
      }
    }
    sum.low += t.coefficient * (t.coefficient > 0 ? r.low : r.high);
    sum.high += t.coefficient * (t.coefficient > 0 ? r.high : r.low);
  }
  return sum;
}

Expression Expression::substitute(Variable variable, const Expression& by) const {
  if (!depends_on(variable)) return *this;
  Expression e(constant_);
  for (const Term& t : terms()) {
    if (t.kind == Term::Kind::variable && t.variable == variable)
      e.add(by, t.coefficient);
    else if (t.kind == Term::Kind::variable)
      e.add(t);
    else if (t.kind == Term::Kind::modulo)
      e.add(modulo(t.argument->substitute(variable, by), t.modulus), t.coefficient);
    else
      e.add(look_up(t.table, t.argument->substitute(variable, by)), t.coefficient);
  }
  return e;
}

std::uint64_t Expression::hash() const {
  std::uint64_t h = mixed(0x6b756d69, static_cast<std::uint64_t>(constant_));
  for (const Term& t : terms()) {
    h = mixed(h, static_cast<std::uint64_t>(t.coefficient));
    h = mixed(h, static_cast<std::uint64_t>(t.kind) * 1000003 + t.variable.depth);
    if (t.kind == Term::Kind::variable) continue;
    h = mixed(mixed(h, static_cast<std::uint64_t>(t.modulus)), t.argument->hash());
    if (t.table)
      for (std::int64_t v : *t.table) h = mixed(h, static_cast<std::uint64_t>(v));
  }
  return h;
}

std::string Expression::text() const {
  static constexpr std::string_view letters = "sijklmnopq";
  std::string s;
  if (constant_ != 0 || is_constant()) s = fmt::format("{}", constant_);
  for (const Term& t : terms()) {
    const std::int64_t k = t.coefficient < 0 ? -t.coefficient : t.coefficient;
    s += s.empty() ? (t.coefficient < 0 ? "-" : "") : (t.coefficient < 0 ? " - " : " + ");
    if (k != 1) s += fmt::format("{}*", k);
    if (t.kind == Term::Kind::variable)
      s += letters[static_cast<std::size_t>(t.variable.depth) % letters.size()];
    else if (t.kind == Term::Kind::modulo)
      s += fmt::format("(({}) mod {})", t.argument->text(), t.modulus);
    else
      s += fmt::format("table[{}]", t.argument->text());
  }
  return s;
}

} // namespace kumihimo
