#include "distributed_fft/row_and_column.hpp"

#include <numeric>
#include <vector>

namespace kumihimo::distributed_fft {
namespace {

using application::Runtime, application::SubCommunicator;
using fft::RankPencils;

bool is_in_row(std::size_t before, std::size_t after) { return before == 2 || after == 2; }

bool is_of_all_ranks(ExchangeKind kind) { return kind == ExchangeKind::window || kind == ExchangeKind::leaders; }

std::vector<std::int32_t> exchanging_ranks(const RankPencils& pencils, ExchangeKind kind, std::int32_t rank,
                                           std::size_t before, std::size_t after) {
  if (!is_of_all_ranks(kind)) return is_in_row(before, after) ? pencils.row_of(rank) : pencils.column_of(rank);
  std::vector<std::int32_t> all(static_cast<std::size_t>(pencils.ranks()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

} // namespace

TranspositionTask task_between(const RankPencils& pencils, ExchangeKind kind, std::int32_t rank, std::size_t before,
                               std::size_t after, std::int64_t bands) {
  TranspositionTask task{{}, {}, bands};
  for (const std::int32_t each : exchanging_ranks(pencils, kind, rank, before, after)) {
    task.before.push_back(pencils.box(before, each));
    task.after.push_back(pencils.box(after, each));
  }
  return task;
}

bool moves_nothing(const RankPencils& pencils, std::size_t before, std::size_t after) {
  return pencils.boxes(before) == pencils.boxes(after);
}

Result<RowAndColumn> RowAndColumn::make(const RankPencils& pencils, ExchangeKind kind, Runtime& runtime) {
  RowAndColumn made(runtime);
  if (pencils.rows == 1 || pencils.columns == 1 || is_of_all_ranks(kind)) return made;
  const std::int32_t row = runtime.rank() / pencils.columns, column = runtime.rank() % pencils.columns;
  made.row_ = TRY(SubCommunicator::make(TRY(runtime.processes().split(row))));
  made.column_ = TRY(SubCommunicator::make(TRY(runtime.processes().split(column))));
  return made;
}

ExchangeRanks RowAndColumn::ranks_between(std::size_t before, std::size_t after) const {
  SubCommunicator* const some = is_in_row(before, after) ? row_.get() : column_.get();
  return some ? ExchangeRanks(*runtime_, *some) : ExchangeRanks(*runtime_);
}

Status RowAndColumn::poll() {
  for (SubCommunicator* const each : {row_.get(), column_.get()})
    if (each)
      if (Status s = each->poll(); !s) return s;
  return Nothing{};
}

} // namespace kumihimo::distributed_fft
