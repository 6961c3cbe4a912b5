#include "lu/tiled.hpp"

#include "lu/panel.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo::lu {
namespace {

// An operation of a tournament takes about as long as so many of a product: panels are narrow.
constexpr double slowness_of_tournament = 6, slowness_of_solve = 1.5;

double product(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
}

} // namespace

TiledFactorisation::TiledFactorisation(const TiledMatrix& matrix, const blas::Blas& blas, int threads,
                                       const Split& split)
    : m_(matrix), blas_(blas), columns_(static_cast<std::int32_t>((matrix.n + matrix.block - 1) / matrix.block)),
      pivots_(static_cast<std::size_t>(matrix.n)) {
  for (std::int32_t k = 0; k < columns_; ++k) {
    Panel panel{
        .first = k * m_.block, .width = std::min(m_.block, m_.n - k * m_.block), .moves = {}, .top = {}, .records = {}};
    panel.records.resize(static_cast<std::size_t>(groups(panel)));
    panels_.push_back(std::move(panel));
  }
  const std::vector<Strip> all = strips(threads, split);
  std::int64_t widest = 0;
  for (const Strip& each : all) {
    const Range columns = columns_of(each.begin, each.end);
    widest = std::max(widest, columns.end - columns.begin);
  }
  u_.assign(static_cast<std::size_t>(threads), std::vector<double>(static_cast<std::size_t>(m_.block * widest)));
  build(threads, all);
}

std::int32_t TiledFactorisation::groups(const Panel& panel) const {
  return static_cast<std::int32_t>((m_.n - panel.first + leaf_rows - 1) / leaf_rows);
}

TiledFactorisation::Range TiledFactorisation::group(const Panel& panel, std::int32_t number) const {
  const std::int64_t begin = panel.first + number * leaf_rows;
  return {begin, std::min(m_.n, begin + leaf_rows)};
}

TiledFactorisation::Range TiledFactorisation::columns_of(std::int32_t begin, std::int32_t end) const {
  return {std::min(m_.n, begin * m_.block), end > columns_ ? m_.n + 1 : std::min(m_.n, end * m_.block)};
}

// Costs of a column of tiles are those of its updates, which are nearly all.
std::vector<TiledFactorisation::Strip> TiledFactorisation::strips(int threads, const Split& split) const {
  std::vector<double> costs;
  for (std::int32_t j = 0; j <= columns_; ++j) {
    double cost = 1;
    for (std::int32_t k = 0; k < std::min(j, columns_); ++k) cost += operations(Step{Kind::update, k, j, j + 1});
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
  cut(of_threads, columns_ + 1, split.dynamic_group);
  return found;
}

void TiledFactorisation::build(int threads, const std::vector<Strip>& strips) {
  std::vector<std::int32_t> owners;
  for (const Strip& each : strips)
    owners.insert(owners.end(), static_cast<std::size_t>(each.end - each.begin), each.owner);
  const auto owner_of = [&](std::int32_t column, std::int32_t number) {
    const std::int32_t owner = owners[static_cast<std::size_t>(column)];
    return owner == tasks::any_thread ? owner : (owner + number) % threads;
  };
  std::vector<std::vector<tasks::TaskId>> updated(static_cast<std::size_t>(columns_) + 1); // the last of each column
  const auto add_update = [&](std::int32_t k, const Strip& strip, std::vector<tasks::TaskId> after) {
    for (std::int32_t j = strip.begin; j < strip.end; ++j) {
      const std::vector<tasks::TaskId>& last = updated[static_cast<std::size_t>(j)];
      after.insert(after.end(), last.begin(), last.end());
    }
    const tasks::TaskId task = add({Kind::update, k, strip.begin, strip.end}, strip.owner, after);
    for (std::int32_t j = strip.begin; j < strip.end; ++j) updated[static_cast<std::size_t>(j)] = {task};
  };
  for (std::int32_t k = 0; k < columns_; ++k) {
    const Panel& panel = panels_[static_cast<std::size_t>(k)];
    const std::int32_t leaves = groups(panel);
    std::vector<tasks::TaskId> best;
    for (std::int32_t g = 0; g < leaves; ++g)
      best.push_back(add({Kind::candidates, k, g}, owner_of(k, g), updated[static_cast<std::size_t>(k)]));
    for (std::int32_t apart = 1; apart < leaves; apart *= 2)
      for (std::int32_t g = 0; g + apart < leaves; g += 2 * apart)
        best[static_cast<std::size_t>(g)] =
            add({Kind::match, k, g, g + apart}, owner_of(k, g),
                {best[static_cast<std::size_t>(g)], best[static_cast<std::size_t>(g + apart)]});
    std::vector<tasks::TaskId> lower = {add({Kind::panel, k, 0}, owner_of(k, 0), {best.front()})};
    const tasks::TaskId factored = lower.front();
    for (std::int32_t g = 0; g < leaves; ++g)
      if (const Range rows = group(panel, g); rows.end > panel.first + panel.width)
        lower.push_back(add({Kind::lower, k, g}, owner_of(k, g), {factored}));
    for (Strip strip : strips) {
      strip.begin = std::max(strip.begin, k + 1);
      if (strip.begin == k + 1 && strip.end > k + 1) { // the next panel does not wait for its neighbours
        add_update(k, {k + 1, k + 2, strip.owner}, lower);
        ++strip.begin;
      }
      if (strip.begin < strip.end) add_update(k, strip, lower);
    }
  }
}

tasks::TaskId TiledFactorisation::add(const Step& step, std::int32_t owner, const std::vector<tasks::TaskId>& after) {
  steps_.push_back(step);
  const double slowness = step.kind == Kind::update  ? 1
                          : step.kind == Kind::lower ? slowness_of_solve
                                                     : slowness_of_tournament;
  return graph_.add({slowness * operations(step), owner}, after);
}

double TiledFactorisation::operations(const Step& s) const {
  const Panel& panel = panels_[static_cast<std::size_t>(s.panel)];
  const std::int64_t width = panel.width, below = m_.n - panel.first - width;
  switch (s.kind) {
  case Kind::candidates: {
    const Range rows = group(panel, s.part);
    return product(rows.end - rows.begin, width, width);
  }
  case Kind::match: return product(2 * width, width, width);
  case Kind::panel: return product(width, width, width);
  case Kind::lower: {
    const Range rows = group(panel, s.part);
    return product(rows.end - std::max(rows.begin, panel.first + width), width, width);
  }
  case Kind::update: break;
  }
  const Range of = columns_of(s.part, s.other);
  return product(width + 2 * below, width, of.end - of.begin);
}

std::string TiledFactorisation::name_of(tasks::TaskId task) const {
  const Step& s = step(task);
  switch (s.kind) {
  case Kind::candidates: return fmt::format("candidates of panel {}, rows {}", s.panel, s.part);
  case Kind::match: return fmt::format("match of panel {}, rows {} and {}", s.panel, s.part, s.other);
  case Kind::panel: return fmt::format("panel {}", s.panel);
  case Kind::lower: return fmt::format("L of panel {}, rows {}", s.panel, s.part);
  case Kind::update: break;
  }
  return s.other == s.part + 1 ? fmt::format("update of column {} by panel {}", s.part, s.panel)
                               : fmt::format("update of columns {} to {} by panel {}", s.part, s.other - 1, s.panel);
}

Status TiledFactorisation::run(tasks::TaskId task, int thread) {
  const Step& s = step(task);
  Panel& panel = panels_[static_cast<std::size_t>(s.panel)];
  switch (s.kind) {
  case Kind::candidates: choose_candidates(panel, s.part); break;
  case Kind::match: match(panel, s.part, s.other); break;
  case Kind::panel: return factor(panel);
  case Kind::lower: make_lower(panel, s.part); break;
  case Kind::update: update(panel, columns_of(s.part, s.other), u_[static_cast<std::size_t>(thread)].data()); break;
  }
  return Nothing{};
}

void TiledFactorisation::choose_candidates(Panel& panel, std::int32_t number) {
  const Range rows = group(panel, number);
  std::vector<double>& record = panel.records[static_cast<std::size_t>(number)];
  record.resize(static_cast<std::size_t>(candidate_record(panel.width)));
  const PanelPart part{.a = at(rows.begin, panel.first),
                       .leading = m_.leading,
                       .rows = rows.end - rows.begin,
                       .width = panel.width,
                       .first = rows.begin,
                       .has_diagonal_block = number == 0,
                       .all_rows = {m_.n, m_.n, 1},
                       .process = 0,
                       .top = nullptr};
  best_candidates(part, blas_, record.data());
}

void TiledFactorisation::match(Panel& panel, std::int32_t number, std::int32_t other) {
  double* const mine = panel.records[static_cast<std::size_t>(number)].data();
  combine_candidates(panel.width, blas_, mine, panel.records[static_cast<std::size_t>(other)].data(), mine);
}

Status TiledFactorisation::factor(Panel& panel) {
  const std::int64_t width = panel.width;
  const std::vector<std::int64_t> pivots = pivots_of(panel.first, rows_of_candidates(panel.records.front().data()));
  panel.records.clear();
  std::copy(pivots.begin(), pivots.end(), pivots_.begin() + panel.first);
  panel.moves = moves_of(panel.first, pivots);
  panel.top.resize(static_cast<std::size_t>(width * width));
  exchange(panel, panel.first, panel.first + width, panel.top.data());
  if (const auto missing = factor_chosen(panel.top.data(), width, nullptr, 1, 0, panel.first, blas_))
    return missing->error();
  for (std::int64_t c = 0; c < width; ++c)
    std::copy_n(panel.top.data() + c * width, width, at(panel.first, panel.first + c));
  return Nothing{};
}

void TiledFactorisation::make_lower(const Panel& panel, std::int32_t number) {
  const Range rows = group(panel, number);
  const std::int64_t begin = std::max(rows.begin, panel.first + panel.width);
  blas_.solve_upper_right(rows.end - begin, panel.width, panel.top.data(), panel.width, at(begin, panel.first),
                          m_.leading);
}

void TiledFactorisation::update(const Panel& panel, const Range& columns, double* u) {
  const auto [begin, end] = columns;
  const std::int64_t width = panel.width, below = panel.first + width;
  exchange(panel, begin, end, u);
  blas_.solve_unit_lower(width, end - begin, panel.top.data(), width, u, width);
  for (std::int64_t c = 0; c < end - begin; ++c) std::copy_n(u + c * width, width, at(panel.first, begin + c));
  blas_.multiply(m_.n - below, end - begin, width, -1, at(below, panel.first), m_.leading, u, width, 1,
                 at(below, begin), m_.leading);
}

// Of some columns: the rows that come to stand in the diagonal block, to `u`; those that they displace, to their
// places.
void TiledFactorisation::exchange(const Panel& panel, std::int64_t begin, std::int64_t end, double* u) {
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
