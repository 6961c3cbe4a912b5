#include "sparse/stored_rows.hpp"

#include "threads/team.hpp"

#include <algorithm>

namespace kumihimo::sparse {
namespace {

// The entries of a row on one side, lower ones first.
class RowsOfSide {
 public:
  RowsOfSide(const SplitMatrix& matrix, const Numbering& numbering, Side side, const Factor* factor) : side_(side) {
    const bool own = factor && !factor->lower.empty();
    if (side != Side::upper) use(matrix.lower, own ? factor->lower : matrix.lower.value);
    if (side != Side::lower) use(matrix.upper, own ? factor->upper : matrix.upper.value);
    for (std::int32_t i = 0; i < matrix.rows(); ++i) {
      if (numbering.rank[i] == 0) first_ = i;
      if (numbering.rank[i] == matrix.rows() - 1) last_ = i;
    }
  }

  std::int64_t length(std::int64_t row) const {
    std::int64_t length = 0;
    for (int h = 0; h < halves_; ++h) length += half_[h].rows->begin[row + 1] - half_[h].rows->begin[row];
    return length;
  }

  // Calls put(k, column, value) for k = 0 .. width - 1.
  template <class Put>
  void each(std::int64_t row, std::int64_t width, Put put) const {
    // Before a sweep reaches a row that is short of entries, the rows of the first (last) colour are done.
    std::int32_t column = side_ == Side::both ? static_cast<std::int32_t>(row) : side_ == Side::lower ? first_ : last_;
    std::int64_t k = 0;
    for (int h = 0; h < halves_; ++h)
      for (std::int64_t from = half_[h].rows->begin[row]; from < half_[h].rows->begin[row + 1]; ++from)
        put(k++, column = half_[h].rows->column[from], half_[h].values[from]);
    for (; k < width; ++k) put(k, column, 0.0);
  }

 private:
  struct Half {
    const Triangle* rows;
    const double* values;
  };
  void use(const Triangle& rows, const std::vector<double>& values) { half_[halves_++] = {&rows, values.data()}; }

  Side side_;
  Half half_[2] = {};
  int halves_ = 0;
  std::int32_t first_ = 0, last_ = 0;
};

constexpr std::int64_t rounded_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }
constexpr std::int64_t vector_rows = 8; // columns of blocks begin at multiples, for aligned loads

template <class Value>
class Builder {
 public:
  Builder(const SplitMatrix& matrix, const Numbering& numbering, Side side, Layout layout, int chunk,
          const Factor* factor)
      : rows_(matrix, numbering, side, factor), numbering_(numbering), n_(matrix.rows()) {
    made_.layout = layout;
    made_.chunk = chunk;
    made_.place.resize(numbering.block.size());
  }

  Result<StoredRows<Value>> build() {
    switch (made_.layout) {
    case Layout::crs: place_crs(); break;
    case Layout::ell_rows:
    case Layout::ell_blocks:
    case Layout::ell_strips: place_blocks(); break;
    case Layout::ell_columns: place_columns(); break;
    case Layout::sell: place_chunks(); break;
    case Layout::streams: place_streams(); break;
    }
    made_.column = TRY(threads::Array<std::int32_t>::zeros(entries_));
    made_.value = TRY(threads::Array<Value>::zeros(entries_));
    made_.begin = TRY(threads::Array<std::int64_t>::zeros(static_cast<std::int64_t>(begin_.size())));
    std::copy(begin_.begin(), begin_.end(), made_.begin.begin());
    fill();
    return std::move(made_);
  }

 private:
  std::int64_t widest(const threads::Range& rows) const {
    std::int64_t width = 0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) width = std::max(width, rows_.length(i));
    return width;
  }

  // Calls use(block, rows, place) in the order of numbers.
  template <class Use>
  void each_block(Use use) {
    const bool coalesced = numbering_.order == Order::coalesced;
    const int outer = coalesced ? numbering_.colours : numbering_.parts;
    const int inner = coalesced ? numbering_.parts : numbering_.colours;
    for (int o = 0; o < outer; ++o)
      for (int i = 0; i < inner; ++i) {
        const std::size_t b = static_cast<std::size_t>(coalesced ? o : i) * numbering_.parts + (coalesced ? i : o);
        use(numbering_.block[b], made_.place[b], i);
      }
  }

  void place_crs() {
    begin_.resize(static_cast<std::size_t>(n_) + 1);
    for (std::int64_t i = 0; i < n_; ++i) begin_[i + 1] = begin_[i] + rows_.length(i);
    entries_ = begin_.back();
  }

  void place_blocks() {
    each_block([&](const threads::Range& rows, BlockPlace& place, int) {
      place.width = static_cast<std::int32_t>(widest(rows));
      place.base = entries_;
      place.stride = made_.layout == Layout::ell_rows ? place.width : rounded_up(rows.size(), vector_rows);
      entries_ += made_.layout == Layout::ell_rows ? rows.size() * place.width : place.stride * place.width;
    });
  }

  // One array per column for the blocks of a colour (coalesced) or of a part (sequential), which stand side by side.
  void place_columns() {
    std::vector<BlockPlace*> group;
    std::int64_t first = 0, end = 0;
    const auto close = [&] {
      std::int64_t width = 0;
      for (BlockPlace* const place : group) {
        place->base += entries_ - first;
        place->stride = rounded_up(end - first, vector_rows);
        width = std::max<std::int64_t>(width, place->width);
      }
      entries_ += width * rounded_up(end - first, vector_rows);
      group.clear();
    };
    each_block([&](const threads::Range& rows, BlockPlace& place, int i) {
      if (i == 0) {
        close();
        first = rows.begin;
      }
      place.width = static_cast<std::int32_t>(widest(rows));
      place.base = rows.begin;
      end = rows.end;
      group.push_back(&place);
    });
    close();
  }

  void place_chunks() {
    begin_.assign(1, 0);
    each_block([&](const threads::Range& rows, BlockPlace& place, int) {
      place.base = static_cast<std::int64_t>(begin_.size()) - 1;
      for (std::int64_t i = rows.begin; i < rows.end; i += made_.chunk) {
        entries_ += widest({i, std::min(rows.end, i + made_.chunk)}) * made_.chunk;
        begin_.push_back(entries_);
      }
    });
  }

  void place_streams() {
    each_block([&](const threads::Range& rows, BlockPlace& place, int) {
      const std::int64_t length = rounded_up(rows.size(), made_.chunk) / made_.chunk;
      place.base = static_cast<std::int64_t>(begin_.size());
      place.first = entries_;
      begin_.push_back(0);
      for (std::int64_t j = 0; j < length; ++j) {
        std::int64_t width = 0;
        for (std::int64_t i = rows.begin + j; i < rows.end; i += length) width = std::max(width, rows_.length(i));
        begin_.push_back(begin_.back() + width);
      }
      place.stride = begin_.back();
      entries_ += place.stride * made_.chunk;
    });
  }

  void put(std::int64_t at, std::int32_t column, double value) {
    made_.column[at] = column;
    made_.value[at] = static_cast<Value>(value);
  }

  void fill() {
    const auto blocks = static_cast<std::int64_t>(made_.place.size());
    const int team = threads::count();
#pragma omp parallel for schedule(static) num_threads(team)
    for (std::int64_t b = 0; b < blocks; ++b) fill(made_.place[b], numbering_.block[b]);
  }

  void fill(const BlockPlace& place, const threads::Range& rows) {
    const int chunk = made_.chunk;
    const std::int64_t length = rounded_up(rows.size(), chunk) / chunk;
    const auto row = [&](std::int64_t i, std::int64_t base, std::int64_t step, std::int64_t width) {
      rows_.each(i, width, [&](std::int64_t k, std::int32_t c, double v) { put(base + k * step, c, v); });
    };
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const std::int64_t local = i - rows.begin;
      switch (made_.layout) {
      case Layout::crs: row(i, begin_[i], 1, 0); break;
      case Layout::ell_rows: row(i, place.base + local * place.width, 1, place.width); break;
      case Layout::ell_columns:
      case Layout::ell_blocks:
      case Layout::ell_strips: row(i, place.base + local, place.stride, place.width); break;
      case Layout::sell: {
        const std::int64_t c = place.base + local / chunk;
        row(i, begin_[c] + local % chunk, chunk, (begin_[c + 1] - begin_[c]) / chunk);
        break;
      }
      case Layout::streams: {
        const std::int64_t position = place.base + local % length;
        row(i, place.first + local / length * place.stride + begin_[position], 1,
            begin_[position + 1] - begin_[position]);
        break;
      }
      }
    }
  }

  RowsOfSide rows_;
  const Numbering& numbering_;
  std::int64_t n_, entries_ = 0;
  std::vector<std::int64_t> begin_;
  StoredRows<Value> made_;
};

} // namespace

std::string_view name_of(Layout layout) {
  switch (layout) {
  case Layout::crs: return "CRS";
  case Layout::ell_rows: return "Sliced-ELL, row-wise";
  case Layout::ell_columns: return "Sliced-ELL, column-wise";
  case Layout::ell_blocks: return "Sliced-ELL, column-wise, blocked";
  case Layout::ell_strips: return "Sliced-ELL, blocked and vectorised";
  case Layout::sell: return "SELL-C-sigma";
  case Layout::streams: return "streamed CRS";
  }
  return "";
}

template <class Value>
Result<StoredRows<Value>> store(const SplitMatrix& matrix, const Numbering& numbering, Side side, Layout layout,
                                int chunk, const Factor* factor) {
  return Builder<Value>(matrix, numbering, side, layout, chunk, factor).build();
}

template Result<StoredRows<double>> store<double>(const SplitMatrix&, const Numbering&, Side, Layout, int,
                                                  const Factor*);
template Result<StoredRows<float>> store<float>(const SplitMatrix&, const Numbering&, Side, Layout, int, const Factor*);

} // namespace kumihimo::sparse
