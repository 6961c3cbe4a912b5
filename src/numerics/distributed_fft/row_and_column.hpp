// The exchanges of pencils: ranks of a row exchange points between lines along z and y, ranks of a column between lines
// along y and x (fft::RankPencils). Rows and columns have messages of their own. Through a window all ranks exchange,
// as it has one barrier, and through leaders too: a leader's message carries blocks of all rows of its group.
#pragma once

#include "distributed_fft/exchange_ranks.hpp"
#include "distributed_fft/transform_way.hpp"
#include "distributed_fft/transposition.hpp"
#include "fft/pencils.hpp"

#include <cstdint>
#include <memory>

namespace kumihimo::distributed_fft {

// An exchange of `rank` between stages of lines along two axes, of so many bands at once: boxes of the ranks that it
// exchanges with.
TranspositionTask task_between(const fft::RankPencils& pencils, ExchangeKind kind, std::int32_t rank,
                               std::size_t before, std::size_t after, std::int64_t bands);
// No rank of the grid sends anything.
bool moves_nothing(const fft::RankPencils& pencils, std::size_t before, std::size_t after);

class RowAndColumn {
 public:
  // Collective. `runtime` outlives it. Errors: those of the transports.
  static Result<RowAndColumn> make(const fft::RankPencils& pencils, ExchangeKind kind, application::Runtime& runtime);

  // Numbered as in task_between().
  ExchangeRanks ranks_between(std::size_t before, std::size_t after) const;
  Status poll(); // moves messages that are under way

 private:
  explicit RowAndColumn(application::Runtime& runtime) : runtime_(&runtime) {}
  application::Runtime* runtime_;
  std::unique_ptr<application::SubCommunicator> row_, column_; // null: all ranks exchange
};

} // namespace kumihimo::distributed_fft
