#include "sparse/factored_matrix.hpp"

#include <chrono>

namespace kumihimo::sparse {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

Result<FactoredMatrix> factored(const CrsMatrix& matrix, const Colouring& colouring, const FactorChoice& choice) {
  FactoredMatrix made;
  made.numbering = number(matrix, colouring, choice.order, parts_for(matrix.rows, colouring.colours()), choice.sigma);
  made.parts = split(matrix, made.numbering);
  made.factor = TRY(factorise(made.parts, made.numbering, choice.off_diagonals));
  return made;
}

} // namespace

Result<std::shared_ptr<const FactoredMatrix>> Factorisations::of(const CrsMatrix& matrix, const FactorChoice& choice,
                                                                 const std::optional<Colouring>& given) {
  saved_seconds_ = 0;
  double start = now();
  if (!check_seconds_) {
    TRY(check_symmetric_positive(matrix));
    check_seconds_ = now() - start;
  } else
    saved_seconds_ += *check_seconds_;
  if (given) {
    TRY(check_colouring(matrix, *given));
    return std::make_shared<const FactoredMatrix>(TRY(factored(matrix, *given, choice)));
  }

  start = now();
  auto colouring = colourings_.find(choice.colours);
  if (colouring == colourings_.end()) {
    Colouring made = choice.colours == 0 ? greedy_colouring(matrix) : cm_rcm(matrix, static_cast<int>(choice.colours));
    TRY(check_colouring(matrix, made));
    const double seconds = now() - start;
    colouring = colourings_.emplace(choice.colours, Kept<Colouring>{std::move(made), seconds}).first;
  } else
    saved_seconds_ += colouring->second.seconds;

  if (last_ && last_choice_ == choice) {
    saved_seconds_ += last_->seconds;
    return last_->value;
  }
  last_.reset(); // its memory serves the next one
  start = now();
  auto made = std::make_shared<const FactoredMatrix>(TRY(factored(matrix, colouring->second.value, choice)));
  last_choice_ = choice;
  last_ = {made, now() - start};
  return made;
}

} // namespace kumihimo::sparse
