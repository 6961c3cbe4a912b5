// The P x Q grid of ranks: rank p Q + q is in row p and column q, as in HPL's row-major mapping.
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
  static Result<ProcessGrid> make(std::int32_t columns, application::Runtime& runtime);
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
  application::SubCommunicator& column_;
  Context of_candidates_;
};

} // namespace kumihimo::lu_app
