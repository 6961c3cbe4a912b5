// The stages of each method, as its page in src/numerics/krylov has them. A sum carries two values more than the method
// needs: whether a rank failed, and whether one wants to stop.
#include "krylov_programs/stages.hpp"

#include <array>

namespace kumihimo::krylov_programs {
namespace {

constexpr std::int64_t flags = 2;

// Bytes per row of the vector kernels, and of the recurrence, Gram matrices and combinations of an s-step.
constexpr double dot = 16, direction = 24, dots_direction = 16, cg_advance = 48, dots_residual = 24, gear_advance = 80,
                 gropp_directions = 48, gropp_advance = 72, pipelined_advance = 144, recurrence = 32;
double gram(std::int64_t s) { return 16.0 * static_cast<double>(2 * s + 1); }
double combination(std::int64_t s) { return 16.0 * static_cast<double>(2 * s + 1) + 48; }

Lanes cg(Stages& a, const Lanes& after) {
  const Lanes z = a.precondition(after);
  const Lanes rz = a.reduce(a.vectors(z, dot, "r.z"), 2 + flags);
  const Lanes p = a.vectors(rz, direction, "direction");
  const Lanes s = a.product(p);
  const Lanes ps = a.reduce(a.vectors(s, dots_direction, "p.s"), 3 + flags);
  return a.vectors(ps, cg_advance, "advance");
}

Lanes chronopoulos_gear(Stages& a, const Lanes& after) {
  const Lanes w = a.product(a.precondition(after));
  return a.vectors(a.reduce(a.vectors(w, dots_residual, "r.u, w.u"), 5 + flags), gear_advance, "advance");
}

Lanes gropp(Stages& a, const Lanes& after) {
  const Lanes rz = a.reduce(after, 2 + flags), w = a.product(after);
  const Lanes p = a.vectors(rz + w, gropp_directions, "directions");
  const Lanes ps = a.reduce(p, 3 + flags), q = a.precondition(p);
  return a.vectors(ps + q, gropp_advance, "advance");
}

Lanes pipelined(Stages& a, const Lanes& after) {
  const Lanes sums = a.reduce(after, 9 + flags), n = a.product(a.precondition(after));
  return a.vectors(sums + n, pipelined_advance, "advance");
}

Lanes s_step(Stages& a, const Lanes& after) {
  Lanes last = after;
  for (std::int64_t j = 0; j < 2 * a.s() - 1; ++j)
    last = a.precondition(a.vectors(a.product(last), recurrence, "recurrence"));
  const std::int64_t m = 2 * a.s() + 1;
  return a.vectors(a.reduce(a.vectors(last, gram(a.s()), "Gram matrices"), m * (m + 1) + flags), combination(a.s()),
                   "combinations");
}

} // namespace

std::span<const MethodStages> method_stages() {
  using Values = std::vector<std::int64_t>;
  static constexpr MethodStages all[] = {
      {"cg", cg,
       [](std::int64_t) {
         return Values{2 + flags, 3 + flags};
       },
       [](std::int64_t) { return dot + direction + dots_direction + cg_advance; }, false},
      {"chronopoulos_gear", chronopoulos_gear, [](std::int64_t) { return Values{5 + flags}; },
       [](std::int64_t) { return dots_residual + gear_advance; }, false},
      {"gropp", gropp,
       [](std::int64_t) {
         return Values{2 + flags, 3 + flags};
       },
       [](std::int64_t) { return gropp_directions + gropp_advance; }, false},
      {"pipelined", pipelined, [](std::int64_t) { return Values{9 + flags}; },
       [](std::int64_t) { return pipelined_advance; }, false},
      {"s_step", s_step, [](std::int64_t s) { return Values{(2 * s + 1) * (2 * s + 2) + flags}; },
       [](std::int64_t s) {
         return (static_cast<double>(2 * s - 1) * recurrence + gram(s) + combination(s)) / static_cast<double>(s);
       },
       true},
  };
  return all;
}

} // namespace kumihimo::krylov_programs
