#include "lu_app/factorisation.hpp"

#include "lu/row_exchange.hpp"
#include "measure/clock.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

namespace kumihimo::lu_app {
namespace {

// Columns that are updated between two looks at the messages under way: enough for the full speed of DGEMM.
constexpr std::int64_t piece_columns = 768;

class Timer {
 public:
  explicit Timer(WorkTime& phase) : phase_(phase), start_(measure::now_ns()) {}
  ~Timer() {
    phase_.seconds += measure::seconds_since(start_);
    ++phase_.calls;
  }

 private:
  WorkTime& phase_;
  std::int64_t start_;
};

double product(std::int64_t a, std::int64_t b, std::int64_t c = 1) {
  return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
}

} // namespace

double LuFactorisation::bytes_of_rank(const LuProblem& problem, int lookahead) {
  const double rows = static_cast<double>(lu::BlockCyclic{problem.n, problem.block, problem.p}.count(0)),
               columns = static_cast<double>(lu::BlockCyclic{problem.n + 1, problem.block, problem.q}.count(0)),
               block = static_cast<double>(problem.block);
  return 8 * (rows * columns + (lookahead + 1) * block * (rows + block) + (problem.p > 1 ? 5 : 1) * block * columns);
}

LuFactorisation::LuFactorisation(const LuProblem& problem, const LuRequest& request, ProcessGrid& grid,
                                 const blas::Blas& blas)
    : request_(request), grid_(grid), blas_(blas), n_(problem.n), lookahead_(problem.lookahead),
      broadcast_(problem.broadcast), rows_{problem.n, problem.block, problem.p}, columns_{problem.n + 1, problem.block,
                                                                                          problem.q},
      own_rows_(rows_.count(grid.p)), own_columns_(columns_.count(grid.q)),
      panels_(request.pivoting == LuVariant::Pivoting::tiles // they have their own
                  ? 0
                  : static_cast<std::size_t>(std::min<std::int64_t>(problem.lookahead + 1, rows_.blocks()))),
      pivots_over_ranks_(*grid.column, problem.block, blas),
      pivots_of_last_(*grid.column, rows_.block_size(rows_.blocks() - 1), blas) {
  // Not a power of two: columns of one row would share a few lines of the cache.
  leading_ = std::max<std::int64_t>(1, (own_rows_ + 7) / 8 * 8);
  if (leading_ % 512 == 0) leading_ += 8;
}

Result<std::unique_ptr<LuFactorisation>> LuFactorisation::make(const LuProblem& problem, const LuRequest& request,
                                                               ProcessGrid& grid, const blas::Blas& blas) {
  std::unique_ptr<LuFactorisation> made(new LuFactorisation(problem, request, grid, blas));
  LuFactorisation& f = *made;
  f.a_ = TRY(threads::ThreadedArray<double>::unwritten(f.leading_ * f.own_columns_));
  f.u_ = TRY(threads::ThreadedArray<double>::zeros(problem.block * std::max<std::int64_t>(1, f.own_columns_)));
  for (Panel& panel : f.panels_) {
    panel.memory = TRY(threads::ThreadedArray<double>::zeros(f.longest_panel()));
    panel.data = panel.memory.data();
  }
  const lu::TestMatrix matrix(request.matrix, f.n_, request.seed);
  const int team = threads::count();
  const auto entries = [&](std::int64_t j) { return std::span(f.column(j), static_cast<std::size_t>(f.own_rows_)); };
  std::int64_t wrong = f.own_columns_; // the first
#pragma omp parallel for schedule(static) num_threads(team) reduction(min : wrong)
  for (std::int64_t j = 0; j < f.own_columns_; ++j) {
    matrix.fill(f.columns_.global(grid.q, j), f.rows_, grid.p, f.column(j));
    std::fill(f.column(j) + f.own_rows_, f.column(j) + f.leading_, 0.0);
    if (!std::ranges::all_of(entries(j), [](double entry) { return std::isfinite(entry); })) wrong = std::min(wrong, j);
  }
  if (wrong < f.own_columns_)
    if (Status s = lu::check_column(f.columns_.global(grid.q, wrong), entries(wrong)); !s) return s.error();
  return made;
}

Status LuFactorisation::accept_messages(application::Processes& processes) {
  const Collective longest =
      make_collective(CollectiveKind::bcast, grid_.row->ranks(), longest_panel(), DataType::float64);
  Status accepted = grid_.row->accept(longest, broadcast_);
  if (!accepted && accepted.error().kind == Error::Kind::not_applicable) // its advice is for collectives alone
    accepted = not_applicable(fmt::format("broadcast={} does not fit the {} ranks of a row of the grid: {}", broadcast_,
                                          grid_.row->ranks(), accepted.error().problem),
                              {}, "use another broadcast, such as chain");
  // One row may refuse what another one accepts, and columns cross rows.
  if (Status s = processes.agree(std::move(accepted)); !s) return s;
  if (request_.pivoting == LuVariant::Pivoting::tiles && grid_.column->ranks() > 1)
    for (const std::int64_t width : {rows_.block, rows_.block_size(rows_.blocks() - 1)})
      (void)TRY(tournament_of(width));
  return grid_.column->accept_blocks(rows_.block * std::max<std::int64_t>(1, own_columns_));
}

// A step updates with one panel. Before it the panel `lookahead` steps further on is made: its column has not had the
// updates of the panels between, and gets them first.
Status LuFactorisation::factor(application::Checkpoints& checkpoints) {
  const std::int64_t blocks = rows_.blocks(), ahead = lookahead_;
  for (std::int64_t b = 0; b < std::min(ahead, blocks); ++b)
    if (Status s = start_panel(b, 0); !s) return s;
  std::int64_t next_state = 0;
  for (std::int64_t b = 0; b < blocks; ++b) {
    if (b >= next_state) {
      b = TRY(at_step(b, checkpoints));
      next_state = b + checkpoints.steps_to_next(b);
    }
    const std::int64_t last = std::min(b + ahead, blocks - 1); // that is started
    if (b + ahead < blocks)
      if (Status s = start_panel(last, b); !s) return s;
    Panel& panel = panel_of(b);
    if (Status s = finish_panel(panel); !s) return s;
    if (const auto missing = panel.no_pivot()) return end_without_pivot(b, missing->error());
    if (Status s = update(panel, columns_.count(grid_.q, first_of(last) + rows_.block_size(last)), own_columns_); !s)
      return s;
  }
  return Nothing{};
}

Status LuFactorisation::end_without_pivot(std::int64_t block, Error missing) {
  const std::int64_t end = std::min(block + lookahead_ + 1, rows_.blocks());
  for (std::int64_t b = block + 1; b < end; ++b)
    if (Status s = finish_panel(panel_of(b)); !s) return s;
  return missing;
}

Result<std::int64_t> LuFactorisation::at_step(std::int64_t block, application::Checkpoints& checkpoints) {
  if (!checkpoints.is_asked()) return block;
  for (std::int64_t b = block; b < end_of_started(block); ++b) {
    if (Status s = finish_panel(panel_of(b)); !s) return s.error();
    if (panel_of(b).no_pivot()) return block; // the run ends there
  }
  const bool is_other = TRY(checkpoints.at_iteration(block, [&](StateList& list) { list_state(list, block); }));
  if (is_other)
    for (std::int64_t b = block; b < end_of_started(block); ++b) place_panel(b).has_come = true;
  return block;
}

void LuFactorisation::list_state(StateList& list, std::int64_t& block) {
  list.number("step", block).array("matrix", a_.span()).vector("pivots", pivots_);
  for (std::size_t i = 0; i < panels_.size(); ++i) list.array(fmt::format("panel {}", i), panels_[i].memory.span());
}

LuFactorisation::Panel& LuFactorisation::place_panel(std::int64_t block) {
  Panel& panel = panel_of(block);
  panel.block = block;
  panel.first = first_of(block);
  panel.width = rows_.block_size(block);
  panel.rows_below = own_rows_ - rows_before(panel.first + panel.width);
  panel.has_come = false;
  return panel;
}

Status LuFactorisation::start_panel(std::int64_t block, std::int64_t done) {
  Panel& panel = place_panel(block);
  const std::int32_t owner = columns_.owner_of_block(block);
  if (owner == grid_.q)
    if (Status s = make_panel(panel, done); !s) return s;
  if (grid_.row->ranks() == 1) return Nothing{};
  const Timer timer(phases_.waits);
  panel.broadcast = TRY(broadcast_of(panel.length(), owner));
  return panel.broadcast->start({panel.data, panel.data});
}

Result<std::unique_ptr<application::ProgramRun>> LuFactorisation::broadcast_of(std::int64_t length,
                                                                               std::int32_t owner) {
  return grid_.row->make_run(make_collective(CollectiveKind::bcast, grid_.row->ranks(), length, DataType::float64,
                                             Operation::sum, Rank{owner}),
                             broadcast_, transport::Stream::nonblocking);
}

Status LuFactorisation::make_panel(Panel& panel, std::int64_t done) {
  const std::int64_t begin = columns_.count(grid_.q, panel.first), end = begin + panel.width;
  for (std::int64_t b = done; b < panel.block; ++b) {
    Panel& before = panel_of(b);
    if (Status s = finish_panel(before); !s) return s;
    if (const auto missing = before.no_pivot()) { // all ranks end at that panel, and wait for this one
      panel.set_missing(*missing);
      return Nothing{};
    }
    if (Status s = update(before, begin, end); !s) return s;
  }
  return factor_block(panel);
}

Status LuFactorisation::factor_block(Panel& panel) {
  const Timer timer(phases_.panels);
  const std::int64_t row = rows_before(panel.first), j = columns_.count(grid_.q, panel.first);
  const lu::PanelPart part{.a = column(j) + row,
                           .leading = leading_,
                           .rows = own_rows_ - row,
                           .width = panel.width,
                           .first = panel.first,
                           .has_diagonal_block = rows_.owner_of_block(panel.block) == grid_.p,
                           .all_rows = rows_,
                           .process = grid_.p,
                           .top = panel.top()};
  phases_.panels.flops += product(part.rows, panel.width, panel.width);
  lu::ColumnOfProcesses& pivots = pivots_of(panel.width);
  panel.missing()[0] = 0;
  const bool by_rows = request_.pivoting == LuVariant::Pivoting::rows;
  if (Status s = by_rows ? pivot_by_rows(panel, part, pivots) : pivot_by_tournament(panel, part, pivots); !s) return s;
  const std::int64_t below = part.rows - panel.rows_below;
  for (std::int64_t c = 0; c < panel.width; ++c) {
    if (part.has_diagonal_block) std::copy_n(panel.top() + c * panel.width, panel.width, part.a + c * leading_);
    std::copy_n(part.a + below + c * leading_, panel.rows_below, panel.below() + c * panel.rows_below);
  }
  return Nothing{};
}

Status LuFactorisation::pivot_by_rows(Panel& panel, const lu::PanelPart& part, lu::ColumnOfProcesses& column) {
  const lu::PanelPivots found = TRY(lu::factor_panel(part, blas_, column));
  std::copy(found.rows.begin(), found.rows.end(), panel.pivots());
  if (found.missing) panel.set_missing(*found.missing);
  return Nothing{};
}

Status LuFactorisation::pivot_by_tournament(Panel& panel, const lu::PanelPart& part, lu::ColumnOfProcesses& column) {
  const std::vector<std::int64_t> chosen = TRY(lu::tournament(part, blas_, column));
  const std::vector<std::int64_t> pivots = lu::pivots_of(panel.first, chosen);
  std::copy(pivots.begin(), pivots.end(), panel.pivots());
  const std::int64_t j = columns_.count(grid_.q, panel.first);
  if (Status s = move_rows(lu::moves_of(panel.first, pivots), panel.first, j, j + panel.width, panel.top()); !s)
    return s;
  const std::int64_t below = part.rows - panel.rows_below;
  const std::optional<lu::MissingPivot> missing =
      lu::factor_chosen(panel.top(), panel.width, part.a + below, leading_, panel.rows_below, panel.first, blas_);
  if (missing) panel.set_missing(*missing);
  return Nothing{};
}

Status LuFactorisation::finish_panel(Panel& panel) {
  if (panel.has_come) return Nothing{};
  const Timer timer(phases_.waits);
  if (panel.broadcast) {
    if (Status s = panel.broadcast->wait(); !s) return s;
    panel.broadcast.reset();
  }
  panel.has_come = true;
  if (panel.no_pivot()) return Nothing{};
  for (std::int64_t k = 0; k < panel.width; ++k) pivots_.push_back(static_cast<std::int64_t>(panel.pivots()[k]));
  return Nothing{};
}

Status LuFactorisation::update(Panel& panel, std::int64_t begin, std::int64_t end) {
  const lu::RowMoves moves =
      lu::moves_of(panel.first, {pivots_.data() + panel.first, static_cast<std::size_t>(panel.width)});
  // Rows that cross ranks go in one message.
  const std::int64_t piece = grid_.column->ranks() > 1 ? std::max<std::int64_t>(1, end - begin) : piece_columns;
  for (std::int64_t at = begin; at < end; at += piece)
    if (Status s = update_piece(panel, moves, at, std::min(end, at + piece)); !s) return s;
  if (device_) split_.measured(std::exchange(of_device_, {}), std::exchange(of_processors_, {}));
  return Nothing{};
}

Status LuFactorisation::update_piece(Panel& panel, const lu::RowMoves& moves, std::int64_t begin, std::int64_t end) {
  {
    const Timer timer(phases_.moves);
    if (Status s = move_rows(moves, panel.first, begin, end, u_.data()); !s) return s;
  }
  const std::int64_t row = rows_before(panel.first), below = own_rows_ - panel.rows_below;
  for (std::int64_t at = begin; at < end; at += piece_columns) {
    const std::int64_t columns = std::min(piece_columns, end - at);
    double* const u = u_.data() + (at - begin) * panel.width;
    {
      const Timer timer(phases_.updates);
      phases_.updates.flops +=
          product(panel.width, panel.width, columns) + 2 * product(panel.rows_below, panel.width, columns);
      blas_.solve_unit_lower(panel.width, columns, panel.top(), panel.width, u, panel.width);
      if (rows_.owner_of_block(panel.block) == grid_.p)
        for (std::int64_t c = 0; c < columns; ++c) std::copy_n(u + c * panel.width, panel.width, column(at + c) + row);
      if (Status s = multiply({.m = panel.rows_below,
                               .n = columns,
                               .k = panel.width,
                               .a = panel.below(),
                               .lda = panel.rows_below,
                               .b = u,
                               .ldb = panel.width,
                               .c = column(at) + below,
                               .ldc = leading_});
          !s)
        return s;
    }
    if (Status s = grid_.row->poll(); !s) return s;
  }
  return Nothing{};
}

Status LuFactorisation::multiply(const lu::DeviceProduct& all) {
  const std::int64_t first = device_ && all.n > rows_.block ? split_.device_columns(all.n) : 0;
  lu::DeviceProduct theirs = all;
  theirs.n = first;
  if (first > 0) device_->start(theirs);
  const std::int64_t begin = measure::now_ns();
  blas_.multiply(all.m, all.n - first, all.k, -1, all.a, all.lda, all.b + first * all.ldb, all.ldb, 1,
                 all.c + first * all.ldc, all.ldc);
  if (first == 0) return Nothing{};
  of_processors_.seconds += measure::seconds_since(begin);
  of_processors_.flops += product(all.m, all.n - first, 2 * all.k);
  const Result<double> took = device_->wait();
  device_failed_ = !took;
  if (!took) return took.error();
  of_device_.seconds += *took;
  of_device_.flops += product(all.m, first, 2 * all.k);
  device_flops_ += product(all.m, first, 2 * all.k);
  return Nothing{};
}

double LuFactorisation::device_share() const {
  return phases_.updates.flops > 0 ? device_flops_ / phases_.updates.flops : 0;
}

Status LuFactorisation::move_rows(const lu::RowMoves& moves, std::int64_t first, std::int64_t begin, std::int64_t end,
                                  double* u) {
  if (begin == end) return Nothing{};
  if (grid_.column->ranks() > 1) return move_rows_of_ranks(moves, first, begin, end, u);
  move_own_rows(moves, begin, end, u);
  return Nothing{};
}

// By one thread: those of OpenMP would spin for a while after the loop, on processors that BLAS needs for its own.
void LuFactorisation::move_own_rows(const lu::RowMoves& moves, std::int64_t begin, std::int64_t end, double* u) {
  const auto width = static_cast<std::int64_t>(moves.source.size());
  for (std::int64_t j = begin; j < end; ++j) {
    double* const from = column(j);
    double* const to = u + (j - begin) * width;
    for (std::int64_t i = 0; i < width; ++i) to[i] = from[moves.source[static_cast<std::size_t>(i)]];
    for (const lu::RowMoves::Displaced& each : moves.displaced) from[each.to] = from[each.from];
  }
}

Status LuFactorisation::move_rows_of_ranks(const lu::RowMoves& moves, std::int64_t first, std::int64_t begin,
                                           std::int64_t end, double* u) {
  const lu::RowExchange exchange(first, moves, rows_, grid_.p);
  const std::int64_t columns = end - begin;
  const auto most = moves.source.size() * static_cast<std::size_t>(columns);
  sent_.resize(std::max(sent_.size(), most));
  received_.resize(std::max(received_.size(), most));
  exchange.pack(column(begin), leading_, columns, sent_.data());
  if (Status s = grid_.column->all_gather(sent_.data(), received_.data(), exchange.counts(columns)); !s) return s;
  exchange.unpack(received_.data(), columns, u);
  if (!exchange.displaces_rows()) return Nothing{};
  if (exchange.owner() == grid_.p) exchange.pack_displaced(column(begin), leading_, columns, sent_.data());
  if (Status s =
          grid_.column->scatter(exchange.owner(), sent_.data(), received_.data(), exchange.displaced_counts(columns));
      !s)
    return s;
  exchange.put_displaced(received_.data(), column(begin), leading_, columns);
  return Nothing{};
}

// U x = y by blocks from the last: the ranks of a row add up what their columns contribute to the block's part of y,
// its owner solves for the block of x, and the column gets it.
Result<std::vector<double>> LuFactorisation::solve() {
  const Timer timer(phases_.solution);
  phases_.solution.flops += product(n_, n_) / (grid_.row->ranks() * grid_.column->ranks());
  std::vector<double> x(static_cast<std::size_t>(n_)), y(static_cast<std::size_t>(own_rows_));
  if (columns_.owner(n_) == grid_.q) std::copy_n(column(columns_.local(n_)), own_rows_, y.begin());
  for (std::int64_t b = rows_.blocks() - 1; b >= 0; --b) {
    const std::int64_t first = b * rows_.block, width = rows_.block_size(b), row = rows_before(first);
    const std::int32_t p = rows_.owner_of_block(b), q = columns_.owner_of_block(b);
    double* const part = x.data() + first;
    if (p == grid_.p) {
      std::copy_n(y.begin() + row, width, part);
      if (Status s = grid_.row->sum_at(q, {part, static_cast<std::size_t>(width)}); !s) return s.error();
    }
    if (q != grid_.q) {
      std::fill_n(part, width, 0.0);
      continue;
    }
    const std::int64_t j = columns_.local(first);
    if (p == grid_.p) blas_.solve_upper(width, 1, column(j) + row, leading_, part, width);
    if (Status s = grid_.column->broadcast({part, static_cast<std::size_t>(width)}, p); !s) return s.error();
    blas_.multiply(row, 1, width, -1, column(j), leading_, part, width, 1, y.data(),
                   std::max<std::int64_t>(1, own_rows_));
  }
  if (Status s = grid_.row->sum(x); !s) return s.error();
  return x;
}

} // namespace kumihimo::lu_app
