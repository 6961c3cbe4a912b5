#include "lu_app/process_grid.hpp"

namespace kumihimo::lu_app {
namespace {

void combine_pivots_without_blas(std::int64_t width, const blas::Blas&, const double* left, const double* right,
                                 double* target) {
  lu::combine_pivots(width, left, right, target);
}

} // namespace

using application::SubCommunicator;

Result<ProcessGrid> ProcessGrid::make(std::int32_t rows, std::int32_t columns, bool is_column_major,
                                      application::Runtime& runtime) {
  ProcessGrid grid;
  const std::int32_t rank = runtime.rank();
  grid.p = is_column_major ? rank % rows : rank / columns;
  grid.q = is_column_major ? rank / rows : rank % columns;
  grid.row = TRY(SubCommunicator::make(TRY(runtime.processes().split(grid.p))));
  grid.column = TRY(SubCommunicator::make(TRY(runtime.processes().split(grid.q))));
  return grid;
}

Status PivotsOverRanks::combine_pivots(std::span<double> record) {
  return column_.combine(record, combine_records<combine_pivots_without_blas>, &of_candidates_);
}

Status PivotsOverRanks::combine_candidates(std::span<double> record) {
  return column_.combine(record, combine_records<lu::combine_candidates>, &of_candidates_);
}

Result<application::ProgramRun*> PivotsOverRanks::tournament_run() {
  return column_.combine_run(static_cast<std::size_t>(lu::tournament_record(of_candidates_.width)),
                             combine_records<lu::combine_tournaments>, &of_candidates_);
}

} // namespace kumihimo::lu_app
