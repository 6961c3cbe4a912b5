// Comparison, by the rules of kumihimo/kernel/compare.py.
#ifndef KUMIHIMO_KERNEL_COMPARE_HPP
#define KUMIHIMO_KERNEL_COMPARE_HPP

#include "kumihimo/kernel/data.hpp"
#include "kumihimo/kernel/json.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

namespace kumihimo::kernel {

// Results that differ where the magnitude is infinite: the order decides what overflows.
struct Overflowed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Bound {
  double operations = 0; // behind one element; 0: every bit is the same
  // Whether gamma_n exists: n u < 1.
  bool holds(double unit) const { return operations >= 0 && operations * unit < 1; }
  double gamma(double unit) const {
    const double steps = operations * unit;
    return steps / (1 - steps);
  }
  double of(double magnitude, double unit) const {
    return 2 * gamma(unit) * magnitude + operations * (unit > 0x1p-30 ? 0x1p-149 : 0x1p-1074);
  }
};

// Empty where they are equal or within the bound.
inline std::string difference(double ours, double golden, const double* magnitude, const Bound& bound, double unit) {
  if ((ours != ours && golden != golden) || std::memcmp(&ours, &golden, sizeof ours) == 0) return {};
  const std::string said = "is " + decimal(ours) + ", the golden copy's " + decimal(golden);
  if (bound.operations <= 0 || !magnitude) return said;
  if (std::isinf(*magnitude)) throw Overflowed("the magnitude is infinite, so no error bound holds");
  if (std::abs(ours - golden) <= bound.of(std::abs(*magnitude), unit)) return {};
  char limit[40];
  std::snprintf(limit, sizeof limit, ", beyond the bound %.3g", bound.of(std::abs(*magnitude), unit));
  return said + limit;
}

// Why the arrays of a variant's call are wrong; empty where they are right.
inline std::string fault_of(const Data& ours, const Data& golden, const Data* magnitude, const Bound& bound) {
  for (std::size_t i = 0; i < ours.arrays.size(); ++i) {
    const Array &a = *ours.arrays[i], &b = *golden.arrays[i];
    const std::string name = "array " + std::to_string(i + 1);
    if (const std::string damage = a.damage(); !damage.empty())
      return "writes outside its output: " + damage + " " + name;
    if (std::memcmp(a.data(), b.data(), a.bytes) == 0) continue;
    if (a.role == Role::input) return "writes to its input, " + name;
    for (std::size_t j = 0; j < a.count; ++j) {
      if (std::memcmp(a.data() + j * a.element, b.data() + j * a.element, a.element) == 0) continue;
      const std::string place = name + "[" + std::to_string(j) + "] ";
      if (!a.is_float) return place + "differs from the golden copy's";
      const double m = magnitude ? magnitude->arrays[i]->at(j) : 0;
      const std::string said = difference(a.at(j), b.at(j), magnitude ? &m : nullptr, bound, a.unit);
      if (!said.empty()) return place + said;
    }
  }
  return {};
}

} // namespace kumihimo::kernel

#endif
