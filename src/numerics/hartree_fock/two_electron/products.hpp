// Products of the functions of two shells as Hermite Gaussians, at compile time: which Hermite functions stand in which
// product. A product of Cartesian Gaussians u^i exp(-a r_A^2) u^j exp(-b r_B^2) is a sum over t = 0 .. i + j of
// E_t^ij Lambda_t(r_P), per axis (McMurchie and Davidson, J. Comput. Phys. 26 (1978) 218, equations 2.9 to 2.21).
#pragma once

#include <array>
#include <cstdint>

namespace kumihimo::hartree_fock::two_electron {

// The functions of a shell. s and p functions with the same exponents are one shell `both`.
struct ShellFunctions {
  bool s = false, p = false;
  constexpr int count() const { return (s ? 1 : 0) + (p ? 3 : 0); }
  constexpr int momentum() const { return p ? 1 : 0; }
  // Axis of function i; -1: it is the s function.
  constexpr int axis(int i) const { return s ? i - 1 : i; }
};
inline constexpr ShellFunctions only_s{true, false}, only_p{false, true}, both{true, true};

// Hermite functions d^t/dx d^u/dy d^v/dz up to order 4, by order.
inline constexpr int hermite_count(int order) { return (order + 1) * (order + 2) * (order + 3) / 6; }
inline constexpr int highest_order = 4, all_hermites = hermite_count(highest_order);
struct Powers {
  std::int8_t of[3]; // along x, y, z
  constexpr int order() const { return of[0] + of[1] + of[2]; }
};
inline constexpr std::array<Powers, all_hermites> hermites = [] {
  std::array<Powers, all_hermites> made{};
  int at = 0;
  for (int order = 0; order <= highest_order; ++order)
    for (int t = order; t >= 0; --t)
      for (int u = order - t; u >= 0; --u)
        made[at++] = {
            {static_cast<std::int8_t>(t), static_cast<std::int8_t>(u), static_cast<std::int8_t>(order - t - u)}};
  return made;
}();
inline constexpr int hermite_index(int t, int u, int v) {
  const int order = t + u + v, rest = order - t; // after those of lower order: by falling t, then falling u
  return hermite_count(order - 1) + rest * (rest + 1) / 2 + (rest - u);
}
inline constexpr int product_hermites = hermite_count(2); // of a product of two shells at most
// sum_of[i][j]: the derivative i of the derivative j.
inline constexpr auto sum_of = [] {
  std::array<std::array<std::uint8_t, product_hermites>, product_hermites> made{};
  for (int i = 0; i < product_hermites; ++i)
    for (int j = 0; j < product_hermites; ++j)
      made[i][j] = static_cast<std::uint8_t>(hermite_index(hermites[i].of[0] + hermites[j].of[0],
                                                           hermites[i].of[1] + hermites[j].of[1],
                                                           hermites[i].of[2] + hermites[j].of[2]));
  return made;
}();

// A Hermite function that stands in a product of functions: `function` is rows first, a * count of B + b.
struct Term {
  std::uint8_t function = 0, hermite = 0;
};
struct Terms {
  std::array<Term, 46> of{};
  int count = 0;
};
inline constexpr Terms make_terms(ShellFunctions a, ShellFunctions b) {
  Terms made;
  for (int i = 0; i < a.count(); ++i)
    for (int j = 0; j < b.count(); ++j)
      for (int h = 0; h < product_hermites; ++h) {
        bool stands = true;
        for (int axis = 0; axis < 3; ++axis)
          stands = stands && hermites[h].of[axis] <= (a.axis(i) == axis) + (b.axis(j) == axis);
        if (stands)
          made.of[made.count++] = {static_cast<std::uint8_t>(i * b.count() + j), static_cast<std::uint8_t>(h)};
      }
  return made;
}

// A kind of shell pair: the functions of its two shells.
struct PairKind {
  ShellFunctions a, b;
  constexpr int functions() const { return a.count() * b.count(); }
  constexpr int order() const { return a.momentum() + b.momentum(); }
};
// Those of bases split into s and p shells, and those of sp shells (l) that stay whole.
inline constexpr std::array<PairKind, 5> pair_kinds{
    {{only_s, only_s}, {only_p, only_s}, {only_p, only_p}, {both, only_s}, {both, both}}};
inline constexpr std::array<const char*, 5> pair_kind_names{"ss", "ps", "pp", "ls", "ll"};
inline constexpr int kind_ss = 0, kind_ps = 1, kind_pp = 2, kind_ls = 3, kind_ll = 4;
inline constexpr std::array<Terms, 5> kind_terms = [] {
  std::array<Terms, 5> made;
  for (int k = 0; k < 5; ++k) made[k] = make_terms(pair_kinds[k].a, pair_kinds[k].b);
  return made;
}();

} // namespace kumihimo::hartree_fock::two_electron
