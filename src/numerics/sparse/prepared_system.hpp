// A linear system prepared by a variant: its numbering, its matrix and its IC(0) factor in the variant's layout.
// Vectors are in the numbering of the system. All functions use the team of threads; none allocates.
#pragma once

#include "sparse/factored_matrix.hpp"
#include "sparse/loops.hpp"
#include "sparse/variants.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace kumihimo::sparse {

class PreparedSystem {
 public:
  std::int32_t rows() const { return numbering_.rows(); }
  std::int32_t ghosts() const { return ghosts_count_; }
  const SparseVariant& variant() const { return *variant_; }
  const RowNumbering& numbering() const { return numbering_; }
  int colours() const { return numbering_.colours; } // the final m
  // As if no step had been kept from another variant; those took kept_seconds().
  double set_up_seconds() const { return set_up_seconds_; }
  double kept_seconds() const { return kept_seconds_; }
  std::string_view instruction_set() const { return set_->name; }

  // Between the matrix's order and the system's; rows() elements.
  void to_system(const double* in_matrix_order, double* in_system_order) const;
  void from_system(const double* in_system_order, double* in_matrix_order) const;

  // y = A x. x: rows, then ghosts in the order of their columns. In two steps: the entries of rows, which may be
  // multiplied while ghosts are on their way, then those of ghosts.
  void multiply(const double* x, double* y) const {
    multiply_rows(x, y);
    add_ghosts(x, y);
  }
  void multiply_rows(const double* x, double* y) const; // reads no ghosts
  void add_ghosts(const double* x, double* y) const;    // y += the product of the entries of ghosts
  // z = M^-1 r; r and z may not overlap.
  void precondition(const double* r, double* z) const;

  // Bytes that pass between memory and processor at least: the nonzeros, without padding, and each vector once. The
  // padding of all arrays comes on top.
  std::int64_t bytes_of_padding() const;
  std::int64_t bytes_of_product() const;
  std::int64_t bytes_of_preconditioner() const;

  // Conjugate gradients in the transformed system (Copies::transformed without ghosts):
  //   (I + L)^-1 A' (I + L^T)^-1, where A' = S^-1 A S^-1 = L + (I + e + I) + L^T and S^2 = D, the pivots.
  // S. C. Eisenstat, "Efficient implementation of a class of preconditioned conjugate gradient methods", SIAM J. Sci.
  // Stat. Comput. 2 (1981): two sweeps replace product and preconditioner.
  bool is_transformed() const { return variant_->copies == Copies::transformed && ghosts_count_ == 0; }
  // p = r + beta p, then t = (I + L^T)^-1 p.
  void search_direction(double beta, const double* r, double* p, double* t) const;
  // u = (I + L)^-1 (p + e t), so that the transformed product of p is t + u. Returns p . (t + u).
  double curvature(const double* p, double* t, double* u) const;
  // x += alpha t, r -= alpha (t + u). Returns r . r.
  double advance(double alpha, const double* t, const double* u, double* r, double* x) const;
  // transformed = (I + L)^-1 S^-1 r.
  void transform_residual(const double* r, double* transformed) const;
  double residual_norm(const double* transformed) const;         // of S (I + L) transformed, the residual itself
  void add_solution(const double* transformed, double* x) const; // x += S^-1 transformed
  std::int64_t bytes_of_transformed_iteration() const;

 private:
  friend class Preparation;
  struct Halves {
    StoredRows<double> lower, upper;
    std::int64_t bytes() const { return lower.bytes() + upper.bytes(); }
    std::int64_t padded_bytes() const { return lower.padded_bytes() + upper.padded_bytes(); }
  };

  template <class Value>
  void sweep(const StoredRows<Value>& lower, const StoredRows<Value>& upper, const double* r, double* z) const;
  template <class Work>
  void for_own_blocks(Work work) const;
  double sum_of_blocks() const;

  const SparseVariant* variant_ = nullptr;
  const InstructionSet* set_ = nullptr;
  RowNumbering numbering_;
  std::int32_t ghosts_count_ = 0;
  double set_up_seconds_ = 0, kept_seconds_ = 0;
  std::int64_t longest_block_ = 0;

  StoredRows<double> both_; // Copies::two
  Halves halves_;           // the factor in double precision; with one copy, the matrix too
  StoredRows<float> float_lower_, float_upper_;
  Halves scaled_; // S^-1 (L, L^T) S^-1
  threads::ThreadedArray<double> diagonal_, inverse_pivots_;
  threads::ThreadedArray<double> excess_; // e: the scaled diagonal less 2
  threads::ThreadedArray<double> scale_;  // S
  std::vector<std::int32_t> ghost_rows_;
  Triangle ghost_entries_;                 // of those rows
  threads::ThreadedArray<double> partial_; // dot products of blocks
  threads::ThreadedArray<double> scratch_; // per thread
  int scratch_threads_ = 0;
};

// The steps of the set-up that variants may share. `parameters`: all that the variant takes.
FactorChoice factor_choice(const SparseVariant& variant, const ParameterValues& parameters);

struct PrepareOptions {
  ParameterValues parameters = {};              // of the variant; others take their defaults
  std::optional<Colouring> colouring = {};      // instead of CM-RCM(colours)
  const InstructionSet* instructions = nullptr; // default: the fastest of this processor
  Factorisations* factorisations = nullptr;     // of the matrix: keeps steps for the next variant
};

// Checks the matrix, colours, numbers, factorises and stores it for threads::count() threads; later calls may use
// fewer. Error: check_symmetric_positive(), check_colouring(), a parameter that the variant does not take or that is
// out of range, a factorisation that breaks down, or not enough memory.
Result<PreparedSystem> prepare(const CrsMatrix& matrix, const SparseVariant& variant,
                               const PrepareOptions& options = {});

} // namespace kumihimo::sparse
