// Closed forms of the time that an algorithm takes, as values that evaluate and print themselves. They are of the model
// that the literature's are of: a message of m bytes takes alpha + m beta, one after the other on a lane; a lane has an
// engine and a way through the network of its own; to reduce m bytes takes m gamma.
#pragma once

#include "base/cost_rates.hpp"
#include "schedule/collective.hpp"
#include "topology/rank_space.hpp"

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace kumihimo {

struct Parameters;

// Case for which a formula is evaluated.
struct CostCase {
  const Collective& collective;
  const RankSpace& space;
  const Parameters& parameters;
  std::int64_t segments = 1;
  CostRates rates;
};

class Formula {
 public:
  using Value = std::function<double(const CostCase&)>;

  Formula() = default; // none: no closed form is known
  template <std::integral Number>
  Formula(Number constant);
  // A quantity with a symbol of its own, of one letter or enclosed: "P", "⌈log₂P⌉".
  Formula(std::string symbol, Value value);

  explicit operator bool() const { return node_ != nullptr; }
  double operator()(const CostCase& at) const; // seconds; of a formula that exists
  std::string text() const;                    // "2(P - 1)α + nβ"; empty for none

  friend Formula operator+(const Formula& a, const Formula& b);
  friend Formula operator-(const Formula& a, const Formula& b);
  friend Formula operator*(const Formula& a, const Formula& b);
  friend Formula operator/(const Formula& a, const Formula& b);
  friend Formula max(const Formula& a, const Formula& b);

 private:
  struct Node;
  Formula(std::string text, int binding, Value value);
  static Formula joined(const Formula& a, const Formula& b, std::string text, int binding,
                        double (*apply)(double, double));
  std::string bracketed(int least) const; // its text, in brackets where it binds less

  std::shared_ptr<const Node> node_;
};

template <std::integral Number>
Formula::Formula(Number constant)
    : Formula(std::to_string(constant), [constant](const CostCase&) { return static_cast<double>(constant); }) {}

// Where a closed form holds: everywhere, unless it says where. Or what the time is, where there is no form to evaluate.
struct Condition {
  std::string text; // "P is a power of two"
  std::function<bool(const CostCase&)> holds = {};
};
Condition operator&&(const Condition& a, const Condition& b); // "P is a power of two, S = 1"

struct Cost {
  Formula time;
  Condition where = {};

  double seconds(const CostCase& at) const; // of a form that exists; 0 of a rank alone, which has nobody to send to
  bool holds(const CostCase& at) const { return time && (!where.holds || where.holds(at)); }
  std::string text() const; // "log₂P·α where P is a power of two"
};

// The quantities that most formulas are made of. n: bytes of the vector, or of one block. S: segments. d: axes that are
// longer than 1, L the length of each.
namespace cost {

extern const Formula P, n, S, d, alpha, beta, gamma;
extern const Formula engine_base, engine_stage; // λ, σ: base_latency and stage_latency of the machine's [offload]
extern const Formula log_P, ceil_log_P, floor_log_P; // to the base 2
extern const Formula root_P, cube_root_P;
extern const Formula lanes;          // k: parameter `trees`, or two for each axis of a torus, one of others
extern const Formula longest;        // L of the longest axis
extern const Formula sum_of_lengths; // Σ(L - 1)

extern const Condition powers_of_two, even_ranks, more_than_two, squares, cubes; // ranks
extern const Condition whole_messages, many_segments, equal_axes;
extern const Condition engine_takes_it;

} // namespace cost

} // namespace kumihimo
