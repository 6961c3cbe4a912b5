// The P x Q grid of ranks: in row p and column q is rank p Q + q, or by columns rank q P + p, as in HPL's mappings.
#pragma once

#include "application/runtime.hpp"
#include "application/sub_communicator.hpp"
#include "lu/panel.hpp"

#include <memory>

namespace kumihimo::lu_app {

struct ProcessGrid {
  std::int32_t p = 0, q = 0; // of this rank
  std::unique_ptr<application::SubCommunicator> row, column;

  // Collective.
  static Result<ProcessGrid> make(std::int32_t rows, std::int32_t columns, bool is_column_major,
                                  application::Runtime& runtime);
};

// The pivots of a panel of some width among the processes of a column.
class PivotsOverRanks final : public lu::ColumnOfProcesses {
 public:
  PivotsOverRanks(application::SubCommunicator& column, std::int64_t width, const blas::Blas& blas)
      : column_(column), of_candidates_{width, &blas} {}
  Status combine_pivots(std::span<double> record) override;
  Status combine_candidates(std::span<double> record) override;
  // Of a record of combine_tournaments(), in place. Collective at its first use.
  Result<application::ProgramRun*> tournament_run();

 private:
  struct Context {
    std::int64_t width;
    const blas::Blas* blas;
  };
  using Combine = void (*)(std::int64_t width, const blas::Blas& blas, const double* left, const double* right,
                           double* target);
  // As a transport calls it.
  template <Combine combine>
  static void combine_records(const void* context, const void* left, const void* right, void* target, std::int64_t) {
    const auto& of = *static_cast<const Context*>(context);
    combine(of.width, *of.blas, static_cast<const double*>(left), static_cast<const double*>(right),
            static_cast<double*>(target));
  }
  application::SubCommunicator& column_;
  Context of_candidates_;
};

} // namespace kumihimo::lu_app
