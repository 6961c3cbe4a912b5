#include "hartree_fock/peptide.hpp"

#include <cmath>
#include <numbers>

namespace kumihimo::hartree_fock {
namespace {

constexpr double phi = -139, psi = 135, omega = 180; // degrees
enum AtomicNumber { hydrogen = 1, carbon = 6, nitrogen = 7, oxygen = 8 };

Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Point unit(const Point& a) {
  const double length = std::hypot(a[0], a[1], a[2]);
  return {a[0] / length, a[1] / length, a[2] / length};
}

// Of an atom: its distance from c in angstrom, the angle b-c-atom and the dihedral angle a-b-c-atom in degrees.
struct Internal {
  double bond, angle, dihedral;
};
Point place(const Point& a, const Point& b, const Point& c, const Internal& at) {
  const double degree = std::numbers::pi / 180;
  const Point along = unit(minus(c, b)), normal = unit(cross(minus(b, a), along)), third = cross(normal, along);
  const double x = -at.bond * std::cos(at.angle * degree);
  const double y = at.bond * std::sin(at.angle * degree) * std::cos(at.dihedral * degree);
  const double z = at.bond * std::sin(at.angle * degree) * std::sin(at.dihedral * degree);
  Point found = c;
  for (int k = 0; k < 3; ++k) found[k] += x * along[k] + y * third[k] + z * normal[k];
  return found;
}

class ResidueChain {
 public:
  Molecule build(int residues, SideChain side_chain) {
    Point n{0, 0, 0}, ca{1.458, 0, 0}, c = place({0, 1, 0}, n, ca, {1.525, 111, 180});
    for (int h = 0; h < 2; ++h) add(hydrogen, place(c, ca, n, {1.01, 109.5, h == 0 ? 60.0 : 180.0}));
    for (int i = 0; i < residues; ++i) {
      add(nitrogen, n), add(carbon, ca), add(carbon, c);
      add_side_chain(side_chain, n, ca, c);
      add(oxygen, place(n, ca, c, {i + 1 < residues ? 1.231 : 1.21, 120.4, psi + 180}));
      if (i + 1 == residues) break;
      const Point next_n = place(n, ca, c, {1.329, 116.6, psi});
      const Point next_ca = place(ca, c, next_n, {1.458, 121.7, omega});
      add(hydrogen, place(ca, c, next_n, {1.01, 119, 0}));
      c = place(c, next_n, next_ca, {1.525, 111, phi});
      n = next_n, ca = next_ca;
    }
    const Point acid = place(n, ca, c, {1.34, 113, psi});
    add(oxygen, acid);
    add(hydrogen, place(ca, c, acid, {0.97, 107, 180}));
    return molecule_;
  }

 private:
  void add(int number, Point at) {
    for (double& x : at) x /= angstrom_of_bohr;
    molecule_.atoms.push_back({number, at});
  }
  // Two hydrogens at the alpha carbon, or a methyl group and a hydrogen.
  void add_side_chain(SideChain kind, const Point& n, const Point& ca, const Point& c) {
    add(hydrogen, place(n, c, ca, {1.09, 109, -119}));
    if (kind == SideChain::hydrogen) return add(hydrogen, place(n, c, ca, {1.09, 109, 119}));
    const Point beta = place(n, c, ca, {1.53, 110, 122});
    add(carbon, beta);
    for (const double turn : {60.0, 180.0, 300.0}) add(hydrogen, place(n, ca, beta, {1.09, 109.5, turn}));
  }
  Molecule molecule_;
};

} // namespace

Molecule peptide(int residues, SideChain side_chain) { return ResidueChain().build(residues, side_chain); }

} // namespace kumihimo::hartree_fock
