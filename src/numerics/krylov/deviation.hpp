// Estimate of how far the recursive residual r has drifted from b - A x by rounding, from norms that the iteration has.
//
// After Cools, Yetkin, Agullo, Giraud and Vanroose, SIAM J. Matrix Anal. Appl. 39 (2018). Each recursive vector has a
// gap to its definition: f of r, g of s = A p, h of w = A u, j of z = A q. A gap grows by the rounding errors of its
// update and by the gaps of the vectors in the update. Norms replace vectors, so the estimate is nearly always too
// large.
// ||A|| is the largest ||A y|| / ||y|| seen.
#pragma once

#include <algorithm>
#include <cmath>

namespace kumihimo::krylov {

class Deviation {
 public:
  Deviation() = default;
  static constexpr double unit = 0x1p-53;

  // Norms of an iteration; those of vectors that the method has not are 0.
  struct Norms {
    double r = 0, p = 0, s = 0, u = 0, w = 0, q = 0, z = 0;
  };

  // The vectors are by definition again.
  void reset(double x) {
    *this = Deviation(matrix_, std::max(x_, x));
    f_ = at_reset_ = unit * matrix_ * x_;
  }
  // After x += alpha p, r -= alpha s. s is computed as A p ...
  void product_direction(double alpha, const Norms& n) {
    see(n.s, n.p);
    g_ = unit * matrix_ * n.p;
    residual(alpha, n);
  }
  // ... or by s = w + beta s, p = u + beta p with w computed as A u ...
  void recursive_direction(double alpha, double beta, const Norms& n) {
    see(n.s, n.p);
    h_ = unit * matrix_ * n.p; // ||u|| and ||w|| are about ||p|| and ||s||
    direction(beta, {.p = n.p, .s = n.s, .u = n.p, .w = n.s});
    residual(alpha, n);
  }
  // ... or with w -= alpha z, u -= alpha q, where z = n + beta z, q = m + beta q and n is computed as A m.
  void pipelined(double alpha, double beta, const Norms& n) {
    see(n.s, n.p);
    see(n.z, n.q);
    j_ = beta * j_ + unit * (3 * matrix_ * n.q + 2 * n.z);
    direction(beta, n);
    residual(alpha, n);
    h_ += alpha * j_ + unit * (n.w + 2 * alpha * n.z + matrix_ * (n.u + 2 * alpha * n.q));
  }
  void add(double rounding) { f_ += rounding; }
  double value() const { return f_; } // of ||(b - A x) - r||
  double at_reset() const { return at_reset_; }
  double matrix() const { return matrix_; }

 private:
  Deviation(double matrix, double x) : matrix_(matrix), x_(x) {}
  void see(double product, double of) {
    if (of > 0 && std::isfinite(product / of)) matrix_ = std::max(matrix_, product / of);
  }
  void direction(double beta, const Norms& n) {
    g_ = h_ + beta * g_ + unit * (matrix_ * (n.u + 2 * beta * n.p) + n.w + 2 * beta * n.s);
  }
  void residual(double alpha, const Norms& n) {
    x_ += alpha * n.p;
    f_ += alpha * g_ + unit * (matrix_ * (x_ + 2 * alpha * n.p) + n.r + 2 * alpha * n.s);
  }

  double matrix_ = 0, x_ = 0; // norms
  double f_ = 0, at_reset_ = 0, g_ = 0, h_ = 0, j_ = 0;
};

} // namespace kumihimo::krylov
