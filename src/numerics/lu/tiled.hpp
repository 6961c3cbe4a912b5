// LU with tournament pivoting as a graph of tasks on the columns of tiles of one process's matrix (CALU on a node: S.
// Donfack, L. Grigori, A. K. Gupta, Adapting communication-avoiding LU and QR factorizations to multicore
// architectures, IPDPS 2010).
//
// A step k chooses the rows of panel k by a tournament whose leaves are groups of rows, exchanges and factors them,
// makes L of the groups below, and updates each column of tiles behind the panel: row exchange, triangular solve,
// product. The tree is the same whatever the number of threads, and so are the pivots.
#pragma once

#include "base/result.hpp"
#include "blas/blas.hpp"
#include "lu/row_moves.hpp"
#include "tasks/task_graph.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::lu {

inline constexpr std::int64_t leaf_rows = 1024; // of a tournament

// Stored by columns: n rows, n + 1 columns, of which the last is the right side.
struct TiledMatrix {
  double* a = nullptr;
  std::int64_t leading = 1, n = 0, block = 1;
};

class TiledFactorisation {
 public:
  enum class Kind : std::uint8_t { candidates, match, panel, lower, update };
  static constexpr std::string_view kind_names[] = {"candidates", "match", "panel", "lower", "update"};
  struct Step {
    Kind kind = Kind::panel;
    std::int32_t panel = 0;
    std::int32_t part = 0;  // group of rows, or first column of tiles
    std::int32_t other = 0; // of a match: the other group; of an update: the end of its columns of tiles
  };

  // The columns with the first `static_share` (0 to 1) of the operations belong to the threads, `static_group` columns
  // of tiles in turn, and an update takes as many at once: a wide product is faster. The others belong to any thread,
  // and an update takes `dynamic_group` of them.
  struct Split {
    double static_share = 0;
    std::int64_t static_group = 1, dynamic_group = 1;
  };
  // The matrix and `blas` outlive it; `blas` has one thread a call.
  TiledFactorisation(const TiledMatrix& matrix, const blas::Blas& blas, int threads, const Split& split);

  const tasks::TaskGraph& graph() const { return graph_; }
  const Step& step(tasks::TaskId task) const { return steps_[static_cast<std::size_t>(task)]; }
  std::string name_of(tasks::TaskId task) const; // "update of columns 4 to 7 by panel 3"
  double operations(const Step& step) const;     // about: the larger terms

  // Error: a column has no pivot.
  Status run(tasks::TaskId task, int thread);

  // After all tasks: row k was exchanged with pivots()[k]. Columns of L do not have the exchanges of later panels.
  const std::vector<std::int64_t>& pivots() const { return pivots_; }

 private:
  struct Panel {
    std::int64_t first = 0, width = 0;
    RowMoves moves;
    std::vector<double> top;                  // L and U of the diagonal block
    std::vector<std::vector<double>> records; // candidates of each group
  };
  struct Range { // of rows or columns of the matrix
    std::int64_t begin = 0, end = 0;
  };

  std::int32_t groups(const Panel& panel) const;
  Range group(const Panel& panel, std::int32_t number) const;
  Range columns_of(std::int32_t begin, std::int32_t end) const; // of tiles
  double* at(std::int64_t i, std::int64_t j) const { return m_.a + i + j * m_.leading; }

  struct Strip { // columns of tiles that are updated together
    std::int32_t begin = 0, end = 0, owner = tasks::any_thread;
  };
  std::vector<Strip> strips(int threads, const Split& split) const;
  void build(int threads, const std::vector<Strip>& strips);
  tasks::TaskId add(const Step& step, std::int32_t owner, const std::vector<tasks::TaskId>& after);
  void choose_candidates(Panel& panel, std::int32_t number);
  void match(Panel& panel, std::int32_t number, std::int32_t other);
  Status factor(Panel& panel);
  void make_lower(const Panel& panel, std::int32_t number);
  void update(const Panel& panel, const Range& columns, double* u);
  void exchange(const Panel& panel, std::int64_t begin, std::int64_t end, double* u);

  TiledMatrix m_;
  const blas::Blas& blas_;
  std::int32_t columns_; // of tiles; the right side is one more
  tasks::TaskGraph graph_;
  std::vector<Step> steps_;
  std::vector<Panel> panels_;
  std::vector<std::vector<double>> u_; // of each thread: rows of U of an update
  std::vector<std::int64_t> pivots_;
};

} // namespace kumihimo::lu
