#include "lu/tiled.hpp"

#include "lu/panel.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo::lu {
namespace {

// An operation of a tournament takes about as long as so many of a product: panels are narrow. So does a number of a
// message: one of 8 bytes at 5 GB/s beside 20 GFLOPS. A number that is packed is a cache line of its own.
constexpr double slowness_of_tournament = 6, slowness_of_solve = 1.5, slowness_of_message = 32,
                 slowness_of_packing = 64;

double slowness_of(TiledFactorisation::Kind kind) {
  using enum TiledFactorisation::Kind;
  switch (kind) {
  case update: return 1;
  case lower: return slowness_of_solve;
  case rows: return slowness_of_packing;
  case message:
  case tournament:
  case exchange: return slowness_of_message;
  case candidates:
  case match:
  case panel: break;
  }
  return slowness_of_tournament;
}

double product(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
}

} // namespace

TiledFactorisation::TiledFactorisation(const TiledMatrix& matrix, const blas::Blas& blas, int threads,
                                       const Split& split)
    : m_(matrix), blas_(blas), tiles_(static_cast<std::int32_t>((matrix.n + matrix.block - 1) / matrix.block)),
      own_(place_after(tiles_ - 1) + (matrix.columns().owner(matrix.n) == matrix.part ? 1 : 0)),
      pivots_(static_cast<std::size_t>(matrix.n)) {
  const bool is_sent = is_row_shared();
  const BlockCyclic rows = m_.rows();
  const std::int64_t own_rows = rows.count(m_.row_part);
  memory_.resize(static_cast<std::size_t>(is_sent ? std::min<std::int64_t>(panels_at_once, tiles_) : tiles_));
  for (std::vector<double>& each : memory_)
    each.resize(static_cast<std::size_t>(PanelMessage::length_of(m_.block, is_sent ? own_rows : 0)));
  for (std::int32_t k = 0; k < tiles_; ++k) {
    Panel panel;
    panel.first = k * m_.block;
    panel.width = std::min(m_.block, m_.n - panel.first);
    panel.first_row = rows.count(m_.row_part, panel.first);
    panel.first_below = rows.count(m_.row_part, panel.first + panel.width);
    panel.rows_below = own_rows - panel.first_below;
    panel.has_diagonal_block = rows.owner_of_block(k) == m_.row_part;
    panel.data = memory_[static_cast<std::size_t>(k) % memory_.size()].data();
    panel.lower = is_sent ? panel.below() : of_panel(panel, panel.first_below);
    panel.leading_of_lower = is_sent ? std::max<std::int64_t>(1, panel.rows_below) : m_.leading;
    if (owner_of(k) == m_.part) panel.records.resize(static_cast<std::size_t>(groups(panel)));
    panels_.push_back(std::move(panel));
  }
  const std::vector<Strip> all = strips(threads, split);
  std::int64_t widest = 0;
  for (const Strip& each : all) {
    const Range columns = columns_of(each.begin, each.end);
    widest = std::max(widest, columns.end - columns.begin);
  }
  u_.assign(static_cast<std::size_t>(threads), std::vector<double>(static_cast<std::size_t>(m_.block * widest)));
  if (is_column_shared())
    for (std::vector<double>* const each : {&given_, &got_, &left_, &taken_})
      each->resize(static_cast<std::size_t>(m_.block * m_.columns().count(m_.part)));
  build(threads, all);
}

std::span<const std::string_view> TiledFactorisation::kinds() const {
  const Kind last = is_column_shared() ? Kind::exchange : is_row_shared() ? Kind::message : Kind::update;
  return {kind_names, static_cast<std::size_t>(last) + 1};
}

// A process without rows has an empty one: it takes part in the tournament of the column.
std::int32_t TiledFactorisation::groups(const Panel& panel) const {
  const std::int64_t rows = panel.first_below + panel.rows_below - panel.first_row;
  return static_cast<std::int32_t>(std::max<std::int64_t>(1, (rows + leaf_rows - 1) / leaf_rows));
}

TiledFactorisation::Range TiledFactorisation::group(const Panel& panel, std::int32_t number) const {
  const std::int64_t begin = panel.first_row + number * leaf_rows;
  return {begin, std::min(panel.first_below + panel.rows_below, begin + leaf_rows)};
}

TiledFactorisation::Range TiledFactorisation::columns_of(std::int32_t begin, std::int32_t end) const {
  const std::int64_t of_panels = m_.columns().count(m_.part, m_.n);
  return {std::min(of_panels, begin * m_.block),
          end == own_ ? m_.columns().count(m_.part) : std::min(of_panels, end * m_.block)};
}

std::int32_t TiledFactorisation::tile_at(std::int32_t place, std::int32_t part) const {
  return std::min(part + place * m_.parts, tiles_);
}

std::int32_t TiledFactorisation::place_after(std::int32_t panel) const {
  return panel < m_.part ? 0 : (panel - m_.part) / m_.parts + 1;
}

// Costs of a column of tiles are those of its updates, which are nearly all. All processes of a column of the grid deal
// alike, whatever rows they have.
std::vector<TiledFactorisation::Strip> TiledFactorisation::strips(int threads, const Split& split) const {
  std::vector<double> costs;
  for (std::int32_t place = 0; place < own_; ++place) {
    double cost = 1;
    const Range columns = columns_of(place, place + 1);
    for (std::int32_t k = 0; k < tile_at(place, m_.part); ++k) {
      const Panel& panel = panels_[static_cast<std::size_t>(k)];
      const std::int64_t below = m_.n - panel.first - panel.width;
      cost += product(panel.width + 2 * below, panel.width, columns.end - columns.begin);
    }
    costs.push_back(cost);
  }
  const std::vector<std::int32_t> owners = tasks::owners_of(costs, threads, split.static_share);
  const auto of_threads =
      static_cast<std::int32_t>(std::ranges::find(owners, tasks::any_thread) - owners.begin()); // columns
  std::vector<Strip> found;
  std::int32_t turn = 0;
  const auto cut = [&](std::int32_t begin, std::int32_t end, std::int64_t group) {
    for (std::int64_t at = begin; at < end; at += group)
      found.push_back({static_cast<std::int32_t>(at),
                       static_cast<std::int32_t>(std::min<std::int64_t>(end, at + group)),
                       begin < of_threads ? turn++ % threads : tasks::any_thread});
  };
  cut(0, of_threads, split.static_group);
  cut(of_threads, own_, split.dynamic_group);
  return found;
}

void TiledFactorisation::build(int threads, const std::vector<Strip>& strips) {
  std::vector<std::int32_t> owners;
  for (const Strip& each : strips)
    owners.insert(owners.end(), static_cast<std::size_t>(each.end - each.begin), each.owner);
  updates_.resize(static_cast<std::size_t>(tiles_));
  std::vector<std::vector<tasks::TaskId>> updated(static_cast<std::size_t>(own_)); // the last of each column
  const auto add_update = [&](std::int32_t k, const Strip& strip, std::vector<tasks::TaskId> after) {
    for (std::int32_t j = strip.begin; j < strip.end; ++j) {
      const std::vector<tasks::TaskId>& last = updated[static_cast<std::size_t>(j)];
      after.insert(after.end(), last.begin(), last.end());
    }
    if (is_column_shared()) after.push_back(add_exchange(k, strip, after));
    const tasks::TaskId task = add({Kind::update, k, strip.begin, strip.end}, strip.owner, after);
    for (std::int32_t j = strip.begin; j < strip.end; ++j) updated[static_cast<std::size_t>(j)] = {task};
    updates_[static_cast<std::size_t>(k)].push_back(task);
  };
  for (std::int32_t k = 0; k < tiles_; ++k) {
    const std::int32_t after = place_after(k);
    const bool is_own = owner_of(k) == m_.part;
    std::vector<tasks::TaskId> made; // what updates wait for
    if (is_own) {
      const auto place = static_cast<std::size_t>(after - 1);
      add_panel(k, threads, owners[place], updated[place], made);
    }
    if (is_row_shared()) add_message(k, made);
    for (Strip strip : strips) {
      strip.begin = std::max(strip.begin, after);
      if (strip.begin == after && strip.end > after) { // the next panel does not wait for its neighbours
        add_update(k, {after, after + 1, strip.owner}, made);
        ++strip.begin;
      }
      if (strip.begin < strip.end) add_update(k, strip, made);
    }
  }
}

// `owner`: of its column, which has the updates by `updated`.
void TiledFactorisation::add_panel(std::int32_t k, int threads, std::int32_t owner, std::vector<tasks::TaskId> updated,
                                   std::vector<tasks::TaskId>& made) {
  const Panel& panel = panels_[static_cast<std::size_t>(k)];
  const auto owner_of_group = [&](std::int32_t number) {
    return owner == tasks::any_thread ? owner : (owner + number) % threads;
  };
  const std::int32_t leaves = groups(panel);
  std::vector<tasks::TaskId> best;
  for (std::int32_t g = 0; g < leaves; ++g) best.push_back(add({Kind::candidates, k, g}, owner_of_group(g), updated));
  for (std::int32_t apart = 1; apart < leaves; apart *= 2)
    for (std::int32_t g = 0; g + apart < leaves; g += 2 * apart)
      best[static_cast<std::size_t>(g)] =
          add({Kind::match, k, g, g + apart}, owner_of_group(g),
              {best[static_cast<std::size_t>(g)], best[static_cast<std::size_t>(g + apart)]});
  std::vector<tasks::TaskId> after = {best.front()};
  if (is_column_shared()) after = {add({Kind::tournament, k}, tasks::no_thread, after)};
  add_users_of_memory(k, after);
  made = {add({Kind::panel, k, 0}, owner_of_group(0), after)};
  const tasks::TaskId factored = made.front();
  for (std::int32_t g = 0; g < leaves; ++g)
    if (const Range rows = group(panel, g); rows.end > std::max(rows.begin, panel.first_below))
      made.push_back(add({Kind::lower, k, g}, owner_of_group(g), {factored}));
}

// `after`: what the update waits for. The L of the panel is not needed yet. Exchanges follow each other in the order of
// the graph, so all processes of a column begin them in one order.
tasks::TaskId TiledFactorisation::add_exchange(std::int32_t k, const Strip& strip, std::vector<tasks::TaskId> after) {
  std::erase_if(after, [this](tasks::TaskId task) { return step(task).kind == Kind::lower; });
  std::vector<tasks::TaskId> packed = {add({Kind::rows, k, strip.begin, strip.end}, strip.owner, after)};
  if (last_exchange_ != tasks::no_task) packed.push_back(last_exchange_);
  last_exchange_ = add({Kind::exchange, k, strip.begin, strip.end}, tasks::no_thread, packed);
  return last_exchange_;
}

// The updates by the panel whose memory this one gets. Its message has ended: messages follow each other.
void TiledFactorisation::add_users_of_memory(std::int32_t k, std::vector<tasks::TaskId>& after) const {
  const std::int64_t before = k - std::ssize(memory_);
  if (before < 0) return;
  const std::vector<tasks::TaskId>& updates = updates_[static_cast<std::size_t>(before)];
  after.insert(after.end(), updates.begin(), updates.end());
}

// Messages follow each other, so all processes begin them in one order. `made`: of the panel, where it is this
// process's; otherwise updates wait for the message.
void TiledFactorisation::add_message(std::int32_t k, std::vector<tasks::TaskId>& made) {
  std::vector<tasks::TaskId> after = made;
  if (!messages_.empty()) after.push_back(messages_.back());
  if (made.empty()) add_users_of_memory(k, after);
  messages_.push_back(add({Kind::message, k}, tasks::no_thread, after));
  if (made.empty()) made = {messages_.back()};
}

tasks::TaskId TiledFactorisation::add(const Step& step, std::int32_t owner, const std::vector<tasks::TaskId>& after) {
  steps_.push_back(step);
  return graph_.add({slowness_of(step.kind) * std::max(1.0, operations(step)), owner}, after);
}

double TiledFactorisation::operations(const Step& s) const {
  const Panel& panel = panels_[static_cast<std::size_t>(s.panel)];
  const std::int64_t width = panel.width, below = panel.rows_below;
  switch (s.kind) {
  case Kind::candidates: {
    const Range rows = group(panel, s.part);
    return product(rows.end - rows.begin, width, width);
  }
  case Kind::match: return product(2 * width, width, width);
  case Kind::panel: return product(width, width, width);
  case Kind::message: return product(width, below + width, 1);
  case Kind::lower: {
    const Range rows = group(panel, s.part);
    return product(rows.end - std::max(rows.begin, panel.first_below), width, width);
  }
  case Kind::tournament: return static_cast<double>(tournament_record(width));
  case Kind::rows:
  case Kind::exchange:
  case Kind::update: break;
  }
  const Range of = columns_of(s.part, s.other);
  return s.kind == Kind::update ? product(width + 2 * below, width, of.end - of.begin)
                                : product(width, of.end - of.begin, 2);
}

std::string TiledFactorisation::name_of(const Step& s, std::int32_t part) const {
  switch (s.kind) {
  case Kind::candidates: return fmt::format("candidates of panel {}, rows {}", s.panel, s.part);
  case Kind::match: return fmt::format("match of panel {}, rows {} and {}", s.panel, s.part, s.other);
  case Kind::panel: return fmt::format("panel {}", s.panel);
  case Kind::lower: return fmt::format("L of panel {}, rows {}", s.panel, s.part);
  case Kind::message: return fmt::format("message of panel {}", s.panel);
  case Kind::tournament: return fmt::format("tournament of panel {}", s.panel);
  case Kind::rows:
  case Kind::exchange:
  case Kind::update: break;
  }
  const char* const what = s.kind == Kind::update ? "update" : s.kind == Kind::rows ? "rows" : "exchange of rows";
  const std::int32_t first = tile_at(s.part, part), last = tile_at(s.other - 1, part);
  return first == last ? fmt::format("{} of column {} by panel {}", what, first, s.panel)
                       : fmt::format("{} of columns {} to {} by panel {}", what, first, last, s.panel);
}

Status TiledFactorisation::run(tasks::TaskId task, int thread) {
  const Step& s = step(task);
  Panel& panel = panels_[static_cast<std::size_t>(s.panel)];
  switch (s.kind) {
  case Kind::candidates: choose_candidates(panel, s.part); break;
  case Kind::match: match(panel, s.part, s.other); break;
  case Kind::panel: return factor(panel);
  case Kind::lower:
    if (!panel.no_pivot()) make_lower(panel, s.part);
    break;
  case Kind::rows: pack(panel, columns_of(s.part, s.other)); break;
  case Kind::update:
    if (!panel.no_pivot()) update(panel, columns_of(s.part, s.other), u_[static_cast<std::size_t>(thread)].data());
    break;
  case Kind::message:
  case Kind::tournament:
  case Kind::exchange: break;
  }
  return Nothing{};
}

RowMessage TiledFactorisation::exchange(tasks::TaskId task) {
  const Step& s = step(task);
  const auto [begin, end] = columns_of(s.part, s.other);
  const std::int64_t at = begin * m_.block;
  return {&panels_[static_cast<std::size_t>(s.panel)].rows,
          end - begin,
          given_.data() + at,
          got_.data() + at,
          left_.data() + at,
          taken_.data() + at};
}

Status TiledFactorisation::finish_message(tasks::TaskId task) {
  if (step(task).kind != Kind::message) return Nothing{};
  Panel& panel = panels_[static_cast<std::size_t>(step(task).panel)];
  if (const auto missing = panel.no_pivot(); missing && !is_column_shared()) return missing->error();
  if (sender(task) != m_.part) set_pivots(panel);
  return Nothing{};
}

Status TiledFactorisation::outcome() const {
  const auto missing = panels_.back().no_pivot();
  return missing ? Status(missing->error()) : Status(Nothing{});
}

// Of the panel before, from which all later ones have it. Its memory holds until its updates have ended.
std::optional<MissingPivot> TiledFactorisation::missing_before(const Panel& panel) const {
  return panel.first > 0 ? (&panel - 1)->no_pivot() : std::nullopt;
}

void TiledFactorisation::set_pivots(Panel& panel) {
  std::vector<std::int64_t> pivots;
  for (std::int64_t k = 0; k < panel.width; ++k) pivots.push_back(static_cast<std::int64_t>(panel.pivots()[k]));
  std::copy(pivots.begin(), pivots.end(), pivots_.begin() + panel.first);
  panel.moves = moves_of(panel.first, pivots);
  if (is_column_shared()) panel.rows = RowExchange(panel.first, panel.moves, m_.rows(), m_.row_part);
}

void TiledFactorisation::choose_candidates(Panel& panel, std::int32_t number) {
  const Range rows = group(panel, number);
  const std::int64_t width = panel.width;
  std::vector<double>& record = panel.records[static_cast<std::size_t>(number)];
  record.assign(
      static_cast<std::size_t>(is_column_shared() && number == 0 ? tournament_record(width) : candidate_record(width)),
      0.0);
  if (missing_before(panel)) return;
  const PanelPart part{.a = of_panel(panel, rows.begin),
                       .leading = m_.leading,
                       .rows = rows.end - rows.begin,
                       .width = width,
                       .first = m_.rows().global(m_.row_part, rows.begin),
                       .has_diagonal_block = number == 0 && panel.has_diagonal_block,
                       .all_rows = m_.rows(),
                       .process = m_.row_part,
                       .top = nullptr};
  best_candidates(part, blas_, record.data());
  if (!is_column_shared() || !part.has_diagonal_block) return;
  double* const block = diagonal_block_of(width, record.data());
  block[-1] = 1;
  for (std::int64_t c = 0; c < width; ++c) std::copy_n(part.a + c * m_.leading, width, block + c * width);
}

void TiledFactorisation::match(Panel& panel, std::int32_t number, std::int32_t other) {
  double* const mine = panel.records[static_cast<std::size_t>(number)].data();
  combine_candidates(panel.width, blas_, mine, panel.records[static_cast<std::size_t>(other)].data(), mine);
}

Status TiledFactorisation::factor(Panel& panel) {
  const std::int64_t width = panel.width;
  panel.missing()[0] = 0;
  if (const auto missing = missing_before(panel)) panel.set_missing(*missing);
  choose_rows(panel);
  if (panel.no_pivot()) return Nothing{};
  const std::int64_t column = m_.columns().local(panel.first);
  if (is_column_shared())
    place_winners(panel);
  else
    exchange_own(panel, column, column + width, panel.top());
  panel.records.clear();
  if (const auto missing = factor_chosen(panel.top(), width, nullptr, 1, 0, panel.first, blas_)) {
    panel.set_missing(*missing);
    const bool is_alone = !is_row_shared() && !is_column_shared(); // otherwise others wait for messages
    return is_alone ? Status(missing->error()) : Status(Nothing{});
  }
  if (panel.has_diagonal_block)
    for (std::int64_t c = 0; c < width; ++c)
      std::copy_n(panel.top() + c * width, width, at(panel.first_row, column + c));
  return Nothing{};
}

// Without a pivot every row stays.
void TiledFactorisation::choose_rows(Panel& panel) {
  std::vector<std::int64_t> rows;
  if (panel.no_pivot())
    for (std::int64_t k = 0; k < panel.width; ++k) rows.push_back(panel.first + k);
  else
    rows = rows_of_candidates(panel.records.front().data());
  const std::vector<std::int64_t> pivots = pivots_of(panel.first, rows);
  std::copy(pivots.begin(), pivots.end(), panel.pivots());
  set_pivots(panel);
}

// The rows that won, and those that they displace, are in the record.
void TiledFactorisation::place_winners(Panel& panel) {
  const std::int64_t width = panel.width, column = m_.columns().local(panel.first);
  double* const record = panel.records.front().data();
  std::copy_n(entries_of_candidates(width, record), width * width, panel.top());
  const double* const block = diagonal_block_of(width, record);
  const BlockCyclic rows = m_.rows();
  for (const RowMoves::Displaced& each : panel.moves.displaced)
    if (rows.owner(each.to) == m_.row_part)
      for (std::int64_t c = 0; c < width; ++c)
        *at(rows.local(each.to), column + c) = block[each.from - panel.first + c * width];
}

void TiledFactorisation::make_lower(const Panel& panel, std::int32_t number) {
  const Range rows = group(panel, number);
  const std::int64_t begin = std::max(rows.begin, panel.first_below);
  blas_.solve_upper_right(rows.end - begin, panel.width, panel.top(), panel.width, of_panel(panel, begin), m_.leading);
  if (is_row_shared()) copy_lower(panel, begin, rows.end);
}

// Of some rows to the message.
void TiledFactorisation::copy_lower(const Panel& panel, std::int64_t begin, std::int64_t end) {
  double* const to = panel.below() + begin - panel.first_below;
  for (std::int64_t c = 0; c < panel.width; ++c)
    std::copy_n(of_panel(panel, begin) + c * m_.leading, end - begin, to + c * panel.rows_below);
}

void TiledFactorisation::pack(const Panel& panel, const Range& columns) {
  const auto [begin, end] = columns;
  const double* const a = at(0, begin);
  panel.rows.pack(a, m_.leading, end - begin, given_.data() + begin * m_.block);
  if (panel.has_diagonal_block) panel.rows.pack_displaced(a, m_.leading, end - begin, left_.data() + begin * m_.block);
}

void TiledFactorisation::update(const Panel& panel, const Range& columns, double* u) {
  const auto [begin, end] = columns;
  const std::int64_t width = panel.width;
  if (is_column_shared()) {
    panel.rows.unpack(got_.data() + begin * m_.block, end - begin, u);
    panel.rows.put_displaced(taken_.data() + begin * m_.block, at(0, begin), m_.leading, end - begin);
  } else {
    exchange_own(panel, begin, end, u);
  }
  blas_.solve_unit_lower(width, end - begin, panel.top(), width, u, width);
  if (panel.has_diagonal_block)
    for (std::int64_t c = 0; c < end - begin; ++c) std::copy_n(u + c * width, width, at(panel.first_row, begin + c));
  blas_.multiply(panel.rows_below, end - begin, width, -1, panel.lower, panel.leading_of_lower, u, width, 1,
                 at(panel.first_below, begin), m_.leading);
}

// Of some columns: the rows that come to stand in the diagonal block, to `u`; those that they displace, to their
// places.
void TiledFactorisation::exchange_own(const Panel& panel, std::int64_t begin, std::int64_t end, double* u) {
  for (std::int64_t j = begin; j < end; ++j) {
    double* const column = at(0, j);
    const double* const next = at(0, std::min(j + 1, end - 1)); // rows far apart, each in a line of its own
    double* const to = u + (j - begin) * panel.width;
    for (std::int64_t i = 0; i < panel.width; ++i) {
      const std::int64_t row = panel.moves.source[static_cast<std::size_t>(i)];
      to[i] = column[row];
      __builtin_prefetch(next + row);
    }
    for (const RowMoves::Displaced& each : panel.moves.displaced) {
      column[each.to] = column[each.from];
      __builtin_prefetch(next + each.to, 1);
    }
  }
}

} // namespace kumihimo::lu
