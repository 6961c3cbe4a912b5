// The factorisation of a block-cyclic matrix on a grid of ranks, and the solution, under the rules of HPL: row pivoting
// or tournament pivoting, in float64, with the right side as the last column.
#pragma once

#include "application/checkpoints.hpp"
#include "application/kernel_times.hpp"
#include "lu/block_cyclic.hpp"
#include "lu/panel_message.hpp"
#include "lu/row_moves.hpp"
#include "lu/test_matrix.hpp"
#include "lu/update_device.hpp"
#include "lu/update_split.hpp"
#include "lu_app/problem.hpp"
#include "lu_app/process_grid.hpp"
#include "threads/array.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kumihimo::lu_app {

// Time of this rank, by kind of work, and its operations.
struct WorkTime {
  double seconds = 0, flops = 0;
  std::int64_t calls = 0;
};
struct LuTimes {
  WorkTime panels, waits, moves, updates, solution;
};

class LuFactorisation {
 public:
  static double bytes_of_rank(const LuProblem& problem, int lookahead); // about, of the rank that has most
  // The matrix and the right side, made. `grid` and `blas` outlive it. Errors: no memory; an entry is no finite number.
  static Result<std::unique_ptr<LuFactorisation>> make(const LuProblem& problem, const LuRequest& request,
                                                       ProcessGrid& grid, const blas::Blas& blas);

  // Gives a part of the updates to a device, which outlives this.
  void use(lu::UpdateDevice& device) { device_ = &device; }
  const lu::UpdateSplit& split() const { return split_; }
  double device_share() const;                          // of the flops of all updates
  bool device_failed() const { return device_failed_; } // that of this rank, so other ranks know nothing of it

  // All that follow are collective. Before factor(). Error: `broadcast` names no broadcast that fits.
  Status accept_messages(application::Processes& processes);
  // In steps, each with the next panel; `checkpoints` are called before those where a state is due. Errors: the matrix
  // is singular, or entries overflow, on all ranks; those of the transport and of the checkpoints.
  Status factor(application::Checkpoints& checkpoints);
  Result<std::vector<double>> solve(); // x, whole, on all ranks

  const lu::BlockCyclic& rows() const { return rows_; }
  const lu::BlockCyclic& columns() const { return columns_; }
  const ProcessGrid& grid() const { return grid_; }
  double* column(std::int64_t local) { return a_.data() + local * leading_; } // of this rank's part
  const std::vector<std::int64_t>& pivots() const { return pivots_; }         // row k was exchanged with pivots()[k]
  const LuTimes& phases() const { return phases_; }

  // For a factorisation in place of factor(): how far apart columns are, how its panels are sent, and what it has
  // found.
  Result<std::unique_ptr<application::ProgramRun>> broadcast_of(std::int64_t length, std::int32_t owner);
  Result<application::ProgramRun*> tournament_of(std::int64_t width) { return pivots_of(width).tournament_run(); }
  std::int64_t leading() const { return leading_; }
  void set_factored(std::vector<std::int64_t> pivots, const LuTimes& phases) {
    pivots_ = std::move(pivots);
    phases_ = phases;
  }

 private:
  struct Panel : lu::PanelMessage {
    std::int64_t block = 0, first = 0;
    threads::ThreadedArray<double> memory;
    std::unique_ptr<application::ProgramRun> broadcast; // under way
    bool has_come = false;
  };

  LuFactorisation(const LuProblem& problem, const LuRequest& request, ProcessGrid& grid, const blas::Blas& blas);
  Panel& panel_of(std::int64_t block) {
    return panels_[static_cast<std::size_t>(block % static_cast<std::int64_t>(panels_.size()))];
  }
  std::int64_t longest_panel() const {
    return lu::PanelMessage::length_of(rows_.block, std::max<std::int64_t>(1, own_rows_));
  }
  PivotsOverRanks& pivots_of(std::int64_t width) { return width == rows_.block ? pivots_over_ranks_ : pivots_of_last_; }
  std::int64_t first_of(std::int64_t block) const { return block * rows_.block; }
  // Before a step: behind the last panel that is started.
  std::int64_t end_of_started(std::int64_t step) const { return std::min(step + lookahead_, rows_.blocks()); }
  std::int64_t rows_before(std::int64_t global) const { return rows_.count(grid_.p, global); }
  // Saves the state before a step, or goes back to another one: the step that comes next. Panels that were started
  // earlier are part of it, and come first.
  Result<std::int64_t> at_step(std::int64_t block, application::Checkpoints& checkpoints);
  void list_state(StateList& list, std::int64_t& block);
  Panel& place_panel(std::int64_t block); // of this rank's part
  // Factored by its column, and on its way. `done`: the first panel whose updates the column does not have.
  Status start_panel(std::int64_t block, std::int64_t done);
  Status make_panel(Panel& panel, std::int64_t done); // by its column
  Status factor_block(Panel& panel);
  Status pivot_by_rows(Panel& panel, const lu::PanelPart& part, lu::ColumnOfProcesses& column);
  Status pivot_by_tournament(Panel& panel, const lu::PanelPart& part, lu::ColumnOfProcesses& column);
  Status finish_panel(Panel& panel);                           // waits for it
  Status end_without_pivot(std::int64_t block, Error missing); // waits for the panels that were started after it
  Status update(Panel& panel, std::int64_t begin, std::int64_t end);
  Status update_piece(Panel& panel, const lu::RowMoves& moves, std::int64_t begin, std::int64_t end);
  // C -= A B by this rank's processors and, of columns beyond the next panel's, by the device.
  Status multiply(const lu::DeviceProduct& product);
  // Brings the rows that stand in the diagonal block after the exchanges, of local columns [begin, end), to `u` of
  // every process of the column, and those that they displaced to their places.
  Status move_rows(const lu::RowMoves& moves, std::int64_t first, std::int64_t begin, std::int64_t end, double* u);
  void move_own_rows(const lu::RowMoves& moves, std::int64_t begin, std::int64_t end, double* u);
  Status move_rows_of_ranks(const lu::RowMoves& moves, std::int64_t first, std::int64_t begin, std::int64_t end,
                            double* u);

  const LuRequest& request_;
  ProcessGrid& grid_;
  const blas::Blas& blas_;
  std::int64_t n_, lookahead_;
  std::string broadcast_;
  lu::BlockCyclic rows_, columns_; // columns_ counts the right side
  std::int64_t leading_ = 1, own_rows_ = 0, own_columns_ = 0;
  threads::ThreadedArray<double> a_, u_;
  std::vector<Panel> panels_; // those under way: the look-ahead and one more
  PivotsOverRanks pivots_over_ranks_, pivots_of_last_;
  lu::UpdateDevice* device_ = nullptr;
  lu::UpdateSplit split_;
  lu::UpdateSplit::Part of_device_, of_processors_; // of a panel's updates
  double device_flops_ = 0;
  bool device_failed_ = false;
  std::vector<double> sent_, received_;
  std::vector<std::int64_t> pivots_;
  LuTimes phases_;
};

} // namespace kumihimo::lu_app
