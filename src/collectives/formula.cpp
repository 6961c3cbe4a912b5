#include "collectives/formula.hpp"

#include "collectives/parameters.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kumihimo {
namespace {

constexpr int of_sum = 0, of_quotient = 1, of_product = 2, of_symbol = 3; // what binds more needs no brackets

double power_of_two_below(const CostCase& c) { return std::floor(std::log2(c.collective.ranks)); }
double power_of_two_above(const CostCase& c) { return std::ceil(std::log2(c.collective.ranks)); }

// At least one, also of the ranks of a single node, which has no axis to send along.
double lanes_of(const CostCase& c) {
  double axes = 0;
  bool rings = c.space.has_shape();
  for (const Axis& axis : c.space.shape().axes())
    if (axis.length > 1) axes += 1, rings &= axis.is_ring();
  const auto trees = c.parameters.trees.value_or(static_cast<std::int64_t>(rings ? 2 * axes : axes));
  return static_cast<double>(std::max<std::int64_t>(trees, 1));
}

template <class Of>
double over_axes(const CostCase& c, Of of) {
  double sum = 0;
  for (const Axis& axis : c.space.shape().axes()) sum += of(axis.length);
  return sum;
}

// Exact for cubes, as std::cbrt is not.
double cube_root(const CostCase& c) {
  const double root = std::cbrt(c.collective.ranks), whole = std::round(root);
  return whole * whole * whole == c.collective.ranks ? whole : root;
}

// Factors stand side by side but for numbers, and after a logarithm, whose end would not be seen.
bool needs_dot(std::string_view left, std::string_view right) {
  return left.ends_with("log₂P") || (right[0] >= '0' && right[0] <= '9');
}

} // namespace

struct Formula::Node {
  std::string text;
  int binding;
  Value value;
};

Formula::Formula(std::string text, int binding, Value value)
    : node_(std::make_shared<const Node>(Node{std::move(text), binding, std::move(value)})) {}
Formula::Formula(std::string symbol, Value value) : Formula(std::move(symbol), of_symbol, std::move(value)) {}

double Formula::operator()(const CostCase& at) const { return node_->value(at); }
std::string Formula::text() const { return node_ ? node_->text : ""; }

std::string Formula::bracketed(int least) const {
  return node_->binding < least ? "(" + node_->text + ")" : node_->text;
}

Formula Formula::joined(const Formula& a, const Formula& b, std::string text, int binding,
                        double (*apply)(double, double)) {
  return {std::move(text), binding, [a, b, apply](const CostCase& at) { return apply(a(at), b(at)); }};
}

Formula operator+(const Formula& a, const Formula& b) {
  return Formula::joined(a, b, a.text() + " + " + b.text(), of_sum, [](double x, double y) { return x + y; });
}
Formula operator-(const Formula& a, const Formula& b) {
  return Formula::joined(a, b, a.text() + " - " + b.bracketed(of_quotient), of_sum,
                         [](double x, double y) { return x - y; });
}
Formula operator*(const Formula& a, const Formula& b) {
  const std::string left = a.bracketed(of_product), right = b.bracketed(of_product);
  return Formula::joined(a, b, left + (needs_dot(left, right) ? "·" : "") + right, of_product,
                         [](double x, double y) { return x * y; });
}
Formula operator/(const Formula& a, const Formula& b) {
  return Formula::joined(a, b, a.bracketed(of_product) + "/" + b.bracketed(of_symbol), of_quotient,
                         [](double x, double y) { return x / y; });
}
Formula max(const Formula& a, const Formula& b) {
  return Formula::joined(a, b, "max(" + a.text() + ", " + b.text() + ")", of_symbol,
                         [](double x, double y) { return std::max(x, y); });
}

Condition operator&&(const Condition& a, const Condition& b) {
  return {a.text + ", " + b.text, [a, b](const CostCase& at) { return a.holds(at) && b.holds(at); }};
}

double Cost::seconds(const CostCase& at) const { return at.collective.ranks == 1 ? 0 : time(at); }

std::string Cost::text() const {
  return !time ? where.text : where.text.empty() ? time.text() : time.text() + " where " + where.text;
}

namespace cost {

const Formula P("P", [](const CostCase& c) { return static_cast<double>(c.collective.ranks); });
const Formula n("n", [](const CostCase& c) { return static_cast<double>(c.collective.bytes().value); });
const Formula S("S", [](const CostCase& c) { return static_cast<double>(c.segments); });
const Formula d("d", [](const CostCase& c) { return over_axes(c, [](std::int32_t L) { return L > 1; }); });
const Formula alpha("α", [](const CostCase& c) { return c.rates.alpha; });
const Formula beta("β", [](const CostCase& c) { return c.rates.beta; });
const Formula gamma("γ", [](const CostCase& c) { return c.rates.gamma; });
const Formula engine_base("λ", [](const CostCase& c) { return c.rates.engine_base; });
const Formula engine_stage("σ", [](const CostCase& c) { return c.rates.engine_stage; });
const Formula log_P("log₂P", power_of_two_below);
const Formula floor_log_P("⌊log₂P⌋", power_of_two_below);
const Formula ceil_log_P("⌈log₂P⌉", power_of_two_above);
const Formula sum_of_lengths("Σ(L - 1)",
                             [](const CostCase& c) { return over_axes(c, [](std::int32_t L) { return L - 1; }); });

const Formula longest("L", [](const CostCase& c) {
  std::int32_t most = 1;
  for (const Axis& axis : c.space.shape().axes()) most = std::max(most, axis.length);
  return static_cast<double>(most);
});
const Formula root_P("√P", [](const CostCase& c) { return std::sqrt(c.collective.ranks); });
const Formula cube_root_P("∛P", cube_root);
const Formula lanes("k", lanes_of);

const Condition powers_of_two{"P is a power of two", [](const CostCase& c) {
                                return std::has_single_bit(static_cast<std::uint32_t>(c.collective.ranks));
                              }};
const Condition even_ranks{"P is even", [](const CostCase& c) { return c.collective.ranks % 2 == 0; }};
const Condition more_than_two{"P > 2", [](const CostCase& c) { return c.collective.ranks > 2; }};
const Condition whole_messages{"S = 1", [](const CostCase& c) { return c.segments == 1; }};
const Condition many_segments{"S ≥ 4", [](const CostCase& c) { return c.segments >= 4; }};
const Condition equal_axes{"all axes longer than 1 equally long", [](const CostCase& c) {
                             const auto& axes = c.space.shape().axes();
                             return std::all_of(axes.begin(), axes.end(),
                                                [&](const Axis& a) { return a.length == 1 || a.length == longest(c); });
                           }};
const Condition engine_takes_it{"[offload] has base_latency λ, stage_latency σ and max_bytes ≥ n",
                                [](const CostCase& c) { return n(c) <= c.rates.engine_bytes; }};
const Condition squares{"P = a²", [](const CostCase& c) { return root_P(c) == std::round(root_P(c)); }};
const Condition cubes{"P = a³", [](const CostCase& c) { return cube_root_P(c) == std::round(cube_root_P(c)); }};

} // namespace cost
} // namespace kumihimo
