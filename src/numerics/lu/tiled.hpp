// LU with tournament pivoting as a graph of tasks on the columns of tiles of a process (CALU on a node: S. Donfack, L.
// Grigori, A. K. Gupta, Adapting communication-avoiding LU and QR factorizations to multicore architectures, IPDPS
// 2010).
//
// A step k chooses the rows of panel k by a tournament whose leaves are groups of rows, exchanges and factors them,
// makes L of the groups below, and updates each column of tiles behind the panel: row exchange, triangular solve,
// product. The tree is the same whatever the number of threads, and so are the pivots.
//
// Tiles may belong to the processes of a P x Q grid, each of which has a graph of its own. The column of the grid that
// owns a panel makes it, and messages bring it along the rows of the grid. Where a column has several processes, each
// has a tournament of its rows; one message finds the best of all processes and brings the rows that they displace. An
// update packs its rows of U and those that they displace, and a message exchanges them.
#pragma once

#include "base/result.hpp"
#include "blas/blas.hpp"
#include "lu/block_cyclic.hpp"
#include "lu/panel_message.hpp"
#include "lu/row_exchange.hpp"
#include "lu/row_moves.hpp"
#include "tasks/task_graph.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::lu {

inline constexpr std::int64_t leaf_rows = 1024; // of a tournament

// Stored by columns: of n rows and n + 1 columns, of which the last is the right side, those of one process of a grid.
struct TiledMatrix {
  double* a = nullptr;
  std::int64_t leading = 1, n = 0, block = 1;
  std::int32_t part = 0, parts = 1;         // of columns: of the processes of a row of the grid
  std::int32_t row_part = 0, row_parts = 1; // of rows: of the processes of a column of the grid

  BlockCyclic columns() const { return {n + 1, block, parts}; }
  BlockCyclic rows() const { return {n, block, row_parts}; }
};

// Numbers that a message exchanges among the processes of a column of the grid: rows of U, and displaced rows.
struct RowMessage {
  const RowExchange* rows = nullptr;
  std::int64_t columns = 0;
  const double* given = nullptr; // of this process
  double* got = nullptr;         // of all
  const double* left = nullptr;  // of the owner of the diagonal block, to all
  double* taken = nullptr;       // to this process
};

class TiledFactorisation {
 public:
  // Messages are `message`, which brings a panel along a row of the grid, and among the processes of a column
  // `tournament` and `exchange`. `rows` packs what an exchange sends.
  enum class Kind : std::uint8_t { candidates, match, panel, lower, update, message, rows, tournament, exchange };
  static constexpr std::string_view kind_names[] = {"candidates", "match", "panel",      "lower",   "update",
                                                    "message",    "rows",  "tournament", "exchange"};
  std::span<const std::string_view> kinds() const;  // those that there are on such a grid
  static constexpr std::int64_t panels_at_once = 4; // that have memory, where there are several processes
  struct Step {
    Kind kind = Kind::panel;
    std::int32_t panel = 0;
    std::int32_t part = 0;  // group of rows, or first column of tiles of this process
    std::int32_t other = 0; // of a match: the other group; of columns of tiles: their end
  };

  // The columns with the first `static_share` (0 to 1) of the operations belong to the threads, `static_group` columns
  // of tiles in turn, and an update takes as many at once: a wide product is faster. The others belong to any thread,
  // and an update takes `dynamic_group` of them.
  struct Split {
    double static_share = 0;
    std::int64_t static_group = 1, dynamic_group = 1;
  };
  // The matrix and `blas` outlive it; `blas` has one thread a call. `threads`: the same on all processes, those of the
  // process that has most: all deal their columns alike.
  TiledFactorisation(const TiledMatrix& matrix, const blas::Blas& blas, int threads, const Split& split);

  const tasks::TaskGraph& graph() const { return graph_; }
  const Step& step(tasks::TaskId task) const { return steps_[static_cast<std::size_t>(task)]; }
  // "update of columns 4 to 7 by panel 3"; of process `part`, whose steps have the same form.
  std::string name_of(const Step& step, std::int32_t part) const;
  std::string name_of(tasks::TaskId task) const { return name_of(step(task), m_.part); }
  double operations(const Step& step) const; // about: the larger terms

  // Error: a column has no pivot, where there is one process.
  Status run(tasks::TaskId task, int thread);

  // What messages carry. Of a panel: from sender() to all of the row.
  PanelMessage message(tasks::TaskId task) const { return panels_[static_cast<std::size_t>(step(task).panel)]; }
  std::int32_t sender(tasks::TaskId task) const { return owner_of(step(task).panel); }
  // Of a tournament: what combine_tournaments() combines, in place.
  std::span<double> tournament(tasks::TaskId task) {
    return panels_[static_cast<std::size_t>(step(task).panel)].records.front();
  }
  RowMessage exchange(tasks::TaskId task);
  // It has come, or is sent. Error: a column has no pivot, where all ranks end at this message.
  Status finish_message(tasks::TaskId task);
  // After all tasks. Error: a column has no pivot. Where columns of the grid have several processes, a run goes on
  // without arithmetic: all wait for the messages of all.
  Status outcome() const;

  // After all tasks: row k was exchanged with pivots()[k]. Columns of L do not have the exchanges of later panels.
  const std::vector<std::int64_t>& pivots() const { return pivots_; }

 private:
  struct Panel : PanelMessage {
    std::int64_t first = 0;       // row and column of the matrix
    std::int64_t first_row = 0;   // of this process, that plays
    std::int64_t first_below = 0; // of this process, below the diagonal block
    bool has_diagonal_block = false;
    RowMoves moves;
    RowExchange rows;              // where there are several processes in a column
    const double* lower = nullptr; // L below the diagonal block: in the matrix, or in the message
    std::int64_t leading_of_lower = 1;
    std::vector<std::vector<double>> records; // candidates of each group
  };
  struct Range { // of rows or columns of this process
    std::int64_t begin = 0, end = 0;
  };

  std::int32_t groups(const Panel& panel) const;
  Range group(const Panel& panel, std::int32_t number) const;
  Range columns_of(std::int32_t begin, std::int32_t end) const; // of tiles of this process, its own columns
  double* at(std::int64_t i, std::int64_t j) const { return m_.a + i + j * m_.leading; } // j: of this process
  double* of_panel(const Panel& panel, std::int64_t i) const { return at(i, m_.columns().local(panel.first)); }
  bool is_row_shared() const { return m_.parts > 1; }
  bool is_column_shared() const { return m_.row_parts > 1; }
  std::int32_t owner_of(std::int32_t tile) const { return tile % m_.parts; }
  std::int32_t tile_at(std::int32_t place, std::int32_t part) const; // the right side is tile tiles_
  std::int32_t place_after(std::int32_t panel) const;                // of the first tile of this process behind it
  void set_pivots(Panel& panel);
  std::optional<MissingPivot> missing_before(const Panel& panel) const;

  struct Strip { // columns of tiles that are updated together
    std::int32_t begin = 0, end = 0, owner = tasks::any_thread;
  };
  std::vector<Strip> strips(int threads, const Split& split) const;
  void build(int threads, const std::vector<Strip>& strips);
  void add_panel(std::int32_t k, int threads, std::int32_t owner, std::vector<tasks::TaskId> updated,
                 std::vector<tasks::TaskId>& made);
  void add_message(std::int32_t k, std::vector<tasks::TaskId>& made);
  tasks::TaskId add_exchange(std::int32_t k, const Strip& strip, std::vector<tasks::TaskId> after);
  void add_users_of_memory(std::int32_t k, std::vector<tasks::TaskId>& after) const;
  tasks::TaskId add(const Step& step, std::int32_t owner, const std::vector<tasks::TaskId>& after);
  void choose_candidates(Panel& panel, std::int32_t number);
  void match(Panel& panel, std::int32_t number, std::int32_t other);
  Status factor(Panel& panel);
  void choose_rows(Panel& panel);
  void place_winners(Panel& panel);
  void pack(const Panel& panel, const Range& columns);
  void make_lower(const Panel& panel, std::int32_t number);
  void copy_lower(const Panel& panel, std::int64_t begin, std::int64_t end);
  void update(const Panel& panel, const Range& columns, double* u);
  void exchange_own(const Panel& panel, std::int64_t begin, std::int64_t end, double* u);

  TiledMatrix m_;
  const blas::Blas& blas_;
  std::int32_t tiles_; // columns of tiles of all processes; the right side is one more
  std::int32_t own_;   // of this process, with the right side where it is here
  tasks::TaskGraph graph_;
  std::vector<Step> steps_;
  std::vector<Panel> panels_;
  std::vector<std::vector<double>> memory_; // of panels, which go round
  std::vector<tasks::TaskId> messages_;     // of each panel, along a row of the grid
  tasks::TaskId last_exchange_ = tasks::no_task;
  std::vector<double> given_, got_, left_, taken_;  // of exchanges: a block high, for each column
  std::vector<std::vector<tasks::TaskId>> updates_; // by each panel
  std::vector<std::vector<double>> u_;              // of each thread: rows of U of an update
  std::vector<std::int64_t> pivots_;
};

} // namespace kumihimo::lu
