// Expressions: what a schedule says about peers, chunks, slots and gaps inside loops. They are closed under +,
// multiplication by a constant, modulo a constant and look-up in a constant table, over the variables of the enclosing
// loops (ADR 0003: segments are symbols). The form is canonical: equal forms compare equal, so that two ranks' loops
// can be matched without being iterated.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kumihimo {

// A loop's variable, by nesting depth: 0 is the segment, 1 the outermost loop of a lane, and so on.
struct Variable {
  std::int32_t depth = 0;
  auto operator<=>(const Variable&) const = default;
};

using Table = std::vector<std::int64_t>;

// An inclusive range of values.
struct Range {
  std::int64_t low = 0, high = 0;
  bool operator==(const Range&) const = default;
};

class Expression {
 public:
  struct Term;

  Expression(std::int64_t constant = 0) : constant_(constant) {} // implicit: numbers are expressions
  Expression(Variable variable);

  static Expression modulo(Expression argument, std::int64_t modulus); // in [0, modulus), also of negative values
  static Expression look_up(std::shared_ptr<const Table> table, Expression index);

  Expression& operator+=(const Expression& other);
  Expression& operator-=(const Expression& other);
  Expression& operator*=(std::int64_t factor);
  friend Expression operator+(Expression a, const Expression& b) { return a += b; }
  friend Expression operator-(Expression a, const Expression& b) { return a -= b; }
  friend Expression operator*(Expression a, std::int64_t k) { return a *= k; }
  friend Expression operator*(std::int64_t k, Expression a) { return a *= k; }
  Expression operator-() const { return Expression(0) - *this; }
  bool operator==(const Expression& other) const;

  bool is_constant() const { return terms_.size == 0; }
  std::int64_t constant() const { return constant_; } // the constant part
  std::span<const Term> terms() const;
  bool depends_on(Variable variable) const;
  std::int32_t deepest() const; // depth of the deepest variable; -1 without any

  // The value with variable d at values[d].
  std::int64_t evaluate(std::span<const std::int64_t> values) const;

  // Bounds on the values taken while variable d runs over [0, trips[d]); exact for one variable without tables or
  // modulo.
  Range range(std::span<const std::int64_t> trips) const;

  // The same form with the variable replaced.
  Expression substitute(Variable variable, const Expression& by) const;

  std::uint64_t hash() const;
  std::string text() const; // "(3 - i) mod 8"; variables s, i, j, k, l, ...

 private:
  // A moved-from one is a constant.
  struct Terms {
    std::size_t size = 0;
    std::shared_ptr<const Term[]> list;
    Terms() = default;
    Terms(const Terms&) = default;
    Terms(Terms&& other) noexcept : size(std::exchange(other.size, 0)), list(std::move(other.list)) {}
    Terms& operator=(const Terms&) = default;
    Terms& operator=(Terms&& other) noexcept {
      size = std::exchange(other.size, 0), list = std::move(other.list);
      return *this;
    }
  };
  explicit Expression(Term term);
  void add(const Expression& other, std::int64_t factor);
  void add(Term term);

  std::int64_t constant_ = 0;
  Terms terms_; // sorted by atom, no zero coefficient, no atom twice; shared between copies
};

// coefficient x (variable | argument mod modulus | table[argument])
struct Expression::Term {
  enum class Kind : std::uint8_t { variable, modulo, look_up };
  std::int64_t coefficient = 1;
  Kind kind = Kind::variable;
  Variable variable;
  std::int64_t modulus = 0;
  std::shared_ptr<const Expression> argument;
  std::shared_ptr<const Table> table;

  bool same_atom(const Term& other) const;
};
inline std::span<const Expression::Term> Expression::terms() const { return {terms_.list.get(), terms_.size}; }

inline Expression mod(Expression e, std::int64_t m) { return Expression::modulo(std::move(e), m); }
inline Expression operator+(Variable v, std::int64_t k) { return Expression(v) + k; }
inline Expression operator-(Variable v, std::int64_t k) { return Expression(v) - k; }
inline Expression operator+(std::int64_t k, Variable v) { return Expression(v) + k; }
inline Expression operator-(std::int64_t k, Variable v) { return Expression(k) - Expression(v); }
inline Expression operator*(Variable v, std::int64_t k) { return Expression(v) * k; }
inline Expression operator*(std::int64_t k, Variable v) { return Expression(v) * k; }

constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t m) { return (a % m + m) % m; }

} // namespace kumihimo
