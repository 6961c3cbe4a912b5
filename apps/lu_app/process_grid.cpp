#include "lu_app/process_grid.hpp"

namespace kumihimo::lu_app {

using application::SubCommunicator;

Result<ProcessGrid> ProcessGrid::make(std::int32_t columns, application::Runtime& runtime) {
  ProcessGrid grid;
  grid.p = runtime.rank() / columns;
  grid.q = runtime.rank() % columns;
  grid.row = TRY(SubCommunicator::make(TRY(runtime.processes().split(grid.p))));
  grid.column = TRY(SubCommunicator::make(TRY(runtime.processes().split(grid.q))));
  return grid;
}

Status PivotsOverRanks::combine_pivots(std::span<double> record) {
  return column_.combine(
      record,
      [](const void* context, const void* left, const void* right, void* target, std::int64_t) {
        lu::combine_pivots(static_cast<const Context*>(context)->width, static_cast<const double*>(left),
                           static_cast<const double*>(right), static_cast<double*>(target));
      },
      &of_candidates_);
}

Status PivotsOverRanks::combine_candidates(std::span<double> record) {
  return column_.combine(
      record,
      [](const void* context, const void* left, const void* right, void* target, std::int64_t) {
        const auto& of = *static_cast<const Context*>(context);
        lu::combine_candidates(of.width, *of.blas, static_cast<const double*>(left), static_cast<const double*>(right),
                               static_cast<double*>(target));
      },
      &of_candidates_);
}

Result<application::ProgramRun*> PivotsOverRanks::tournament_run() {
  return column_.combine_run(
      static_cast<std::size_t>(lu::tournament_record(of_candidates_.width)),
      [](const void* context, const void* left, const void* right, void* target, std::int64_t) {
        const auto& of = *static_cast<const Context*>(context);
        lu::combine_tournaments(of.width, *of.blas, static_cast<const double*>(left), static_cast<const double*>(right),
                                static_cast<double*>(target));
      },
      &of_candidates_);
}

} // namespace kumihimo::lu_app
