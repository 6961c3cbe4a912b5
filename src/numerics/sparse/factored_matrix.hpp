// The steps of a set-up that layouts share: check, colouring, numbering, splitting and factorisation. Most of a
// set-up's time goes here, so a program that prepares many variants of one matrix, one after the other, keeps them.
#pragma once

#include "sparse/incomplete_cholesky.hpp"

#include <map>
#include <memory>
#include <optional>

namespace kumihimo::sparse {

// What numbering and factor depend on.
struct FactorChoice {
  std::int64_t colours = 0; // m of CM-RCM(m); 0: greedy colouring
  RowOrder order = RowOrder::coalesced;
  int sigma = 1;
  OffDiagonals off_diagonals = OffDiagonals::own;
  bool operator==(const FactorChoice&) const = default;
};

struct FactoredMatrix {
  RowNumbering numbering;
  SplitMatrix parts;
  Factor factor;
};

// Of one matrix. Keeps the colourings, and the last factor.
class Factorisations {
 public:
  // `given`: a colouring instead of that of `choice.colours`; nothing is kept then. Errors: check_symmetric_positive(),
  // check_colouring(), a factorisation that breaks down.
  Result<std::shared_ptr<const FactoredMatrix>> of(const CrsMatrix& matrix, const FactorChoice& choice,
                                                   const std::optional<Colouring>& given = {});
  // What the last call took less because steps were kept.
  double saved_seconds() const { return saved_seconds_; }

 private:
  template <class T>
  struct Kept {
    T value;
    double seconds;
  };
  std::optional<double> check_seconds_; // once the matrix has passed
  std::map<std::int64_t, Kept<Colouring>> colourings_;
  FactorChoice last_choice_;
  std::optional<Kept<std::shared_ptr<const FactoredMatrix>>> last_;
  double saved_seconds_ = 0;
};

} // namespace kumihimo::sparse
