#include "sparse/stored_rows.hpp"

#include "threads/team.hpp"

#include <algorithm>
#include <utility>

namespace kumihimo::sparse {
namespace {

// The entries of a row on one side, lower ones first.
class RowsOfSide {
 public:
  RowsOfSide(const SplitMatrix& matrix, const RowNumbering& numbering, TriangleSide side, const Factor* factor)
      : side_(side) {
    const bool own = factor && !factor->lower.empty();
    if (side != TriangleSide::upper) use(matrix.lower, own ? factor->lower : matrix.lower.value);
    if (side != TriangleSide::lower) use(matrix.upper, own ? factor->upper : matrix.upper.value);
    for (int p = 0; p < numbering.parts; ++p)
      if (const threads::IndexRange& rows = numbering.at(numbering.colours - 1, p); rows.size() > 0)
        last_ = static_cast<std::int32_t>(rows.end - 1);
    for (int p = numbering.parts; p-- > 0;)
      if (const threads::IndexRange& rows = numbering.at(0, p); rows.size() > 0)
        first_ = static_cast<std::int32_t>(rows.begin);
  }

  std::int64_t entries() const {
    std::int64_t entries = 0;
    for (int h = 0; h < halves_; ++h) entries += half_[h].rows->entries();
    return entries;
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
    std::int32_t column = side_ == TriangleSide::both    ? static_cast<std::int32_t>(row)
                          : side_ == TriangleSide::lower ? first_
                                                         : last_;
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
  void use(const Triangle& rows, const UnwrittenVector<double>& values) { half_[halves_++] = {&rows, values.data()}; }

  TriangleSide side_;
  Half half_[2] = {};
  int halves_ = 0;
  std::int32_t first_ = 0, last_ = 0;
};

constexpr std::int64_t rounded_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }
constexpr std::int64_t vector_rows = 8; // columns of blocks begin at multiples, for aligned loads

template <class Value>
class RowBuilder {
  using Columns = threads::ThreadedArray<std::int32_t>;
  using Values = threads::ThreadedArray<Value>;

 public:
  RowBuilder(const SplitMatrix& matrix, const RowNumbering& numbering, TriangleSide side, RowLayout layout, int chunk,
             const Factor* factor)
      : rows_(matrix, numbering, side, factor), numbering_(numbering), n_(matrix.rows()) {
    made_.layout = layout;
    made_.chunk = chunk;
    made_.place.resize(numbering.block.size());
  }

  Result<StoredRows<Value>> build() {
    switch (made_.layout) {
    case RowLayout::crs: place_crs(); break;
    case RowLayout::ell_rows: place_rows(); break;
    case RowLayout::ell_columns:
    case RowLayout::ell_blocks:
    case RowLayout::ell_strips: place_columns(); break;
    case RowLayout::sell: place_chunks(); break;
    case RowLayout::streams: place_streams(); break;
    }
    // Written by the thread that reads it. Where blocks share columns, places that no block reads stay unwritten.
    made_.column = TRY(Columns::unwritten(entries_));
    made_.value = TRY(Values::unwritten(entries_));
    made_.begin = TRY(threads::ThreadedArray<std::int64_t>::zeros(static_cast<std::int64_t>(begin_.size())));
    std::copy(begin_.begin(), begin_.end(), made_.begin.begin());
    fill();
    made_.nonzeros = rows_.entries();
    return std::move(made_);
  }

 private:
  std::int64_t widest(const threads::IndexRange& rows) const {
    std::int64_t width = 0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) width = std::max(width, rows_.length(i));
    return width;
  }

  // Calls use(rows, place) for each block in the order of numbers.
  template <class Use>
  void each_block(Use use) {
    numbering_.in_order({0, numbering_.parts}, [&](int c, int p) {
      use(numbering_.at(c, p), made_.place[static_cast<std::size_t>(numbering_.block_of(c, p))]);
    });
  }

  void place_crs() {
    begin_.resize(static_cast<std::size_t>(n_) + 1);
    numbering_.for_rows([&](std::int32_t i) { begin_[i + 1] = rows_.length(i); });
    for (std::int64_t i = 0; i < n_; ++i) begin_[i + 1] += begin_[i];
    entries_ = begin_.back();
  }

  void find_widths() {
    numbering_.for_blocks(
        [&](std::size_t b) { made_.place[b].width = static_cast<std::int32_t>(widest(numbering_.block[b])); });
  }

  void place_rows() {
    find_widths();
    each_block([&](const threads::IndexRange& rows, BlockPlace& place) {
      place.base = entries_;
      place.stride = place.width;
      entries_ += rows.size() * place.width;
    });
  }

  // One array per column for a run of blocks that stand side by side: those of a colour (coalesced) or of a group
  // (sequential), and of a colour within a group where columns are blocked. Such a run also ends where a block's width
  // would make more than half of it padding: one long row must not make thousands as long.
  void place_columns() {
    find_widths();
    std::vector<BlockPlace*> run;
    std::int64_t first = 0, end = 0, width = 0, needed = 0;
    const auto close = [&] {
      for (BlockPlace* const place : run) {
        place->base += entries_ - first;
        place->stride = rounded_up(end - first, vector_rows);
      }
      entries_ += width * rounded_up(end - first, vector_rows);
      run.clear();
      width = needed = 0;
    };
    const bool is_blocked = made_.layout != RowLayout::ell_columns,
               is_coalesced = numbering_.order == RowOrder::coalesced;
    std::pair<int, int> before{-1, -1};
    numbering_.in_order({0, numbering_.parts}, [&](int c, int p) {
      const std::pair<int, int> of{is_blocked || is_coalesced ? c : 0,
                                   is_blocked || !is_coalesced ? numbering_.group_of(p) : 0};
      const threads::IndexRange& rows = numbering_.at(c, p);
      BlockPlace& place = made_.place[static_cast<std::size_t>(numbering_.block_of(c, p))];
      const std::int64_t entries = place.width * rows.size();
      if (of != before ||
          (is_blocked && std::max<std::int64_t>(width, place.width) * (rows.end - first) > 2 * (needed + entries))) {
        close();
        first = rows.begin;
      }
      before = of;
      place.base = rows.begin;
      end = rows.end;
      width = std::max<std::int64_t>(width, place.width);
      needed += entries;
      run.push_back(&place);
    });
    close();
  }

  void place_chunks() {
    std::int64_t chunks = 0;
    each_block([&](const threads::IndexRange& rows, BlockPlace& place) {
      place.base = chunks;
      chunks += (rows.size() + made_.chunk - 1) / made_.chunk;
    });
    begin_.assign(static_cast<std::size_t>(chunks) + 1, 0);
    numbering_.for_blocks([&](std::size_t b) {
      const threads::IndexRange& rows = numbering_.block[b];
      std::int64_t chunk = made_.place[b].base;
      for (std::int64_t i = rows.begin; i < rows.end; i += made_.chunk)
        begin_[++chunk] = widest({i, std::min(rows.end, i + made_.chunk)}) * made_.chunk;
    });
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) begin_[chunk + 1] += begin_[chunk];
    entries_ = begin_.back();
  }

  void place_streams() {
    std::int64_t positions = 0;
    each_block([&](const threads::IndexRange& rows, BlockPlace& place) {
      place.base = positions;
      positions += length_of_stream(rows) + 1;
    });
    begin_.assign(static_cast<std::size_t>(positions), 0);
    numbering_.for_blocks([&](std::size_t b) {
      const threads::IndexRange& rows = numbering_.block[b];
      const std::int64_t length = length_of_stream(rows);
      std::int64_t at = made_.place[b].base, sum = 0;
      for (std::int64_t j = 0; j < length; ++j) {
        std::int64_t width = 0;
        for (std::int64_t i = rows.begin + j; i < rows.end; i += length) width = std::max(width, rows_.length(i));
        begin_[++at] = sum += width;
      }
      made_.place[b].stride = sum;
    });
    each_block([&](const threads::IndexRange&, BlockPlace& place) {
      place.first = entries_;
      entries_ += place.stride * made_.chunk;
    });
  }

  std::int64_t length_of_stream(const threads::IndexRange& rows) const {
    return (rows.size() + made_.chunk - 1) / made_.chunk;
  }

  void put(std::int64_t at, std::int32_t column, double value) {
    made_.column[at] = column;
    made_.value[at] = static_cast<Value>(value);
  }

  void fill() {
    numbering_.for_blocks([&](std::size_t b) {
      clear(made_.place[b], numbering_.block[b]);
      fill(made_.place[b], numbering_.block[b]);
    });
  }

  // Zeros, where a block has padding.
  void clear(const BlockPlace& place, const threads::IndexRange& rows) {
    switch (made_.layout) {
    case RowLayout::crs:
    case RowLayout::ell_rows:
    case RowLayout::ell_columns:
    case RowLayout::ell_blocks:
    case RowLayout::ell_strips: return;
    case RowLayout::sell: {
      const std::int64_t first = begin_[place.base], chunks = length_of_stream(rows);
      return clear(first, begin_[place.base + chunks] - first);
    }
    case RowLayout::streams: return clear(place.first, place.stride * made_.chunk);
    }
  }
  void clear(std::int64_t first, std::int64_t entries) {
    std::fill_n(made_.column.data() + first, entries, 0);
    std::fill_n(made_.value.data() + first, entries, Value{});
  }

  void fill(const BlockPlace& place, const threads::IndexRange& rows) {
    const int chunk = made_.chunk;
    const std::int64_t length = rounded_up(rows.size(), chunk) / chunk;
    const auto row = [&](std::int64_t i, std::int64_t base, std::int64_t step, std::int64_t width) {
      rows_.each(i, width, [&](std::int64_t k, std::int32_t c, double v) { put(base + k * step, c, v); });
    };
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const std::int64_t local = i - rows.begin;
      switch (made_.layout) {
      case RowLayout::crs: row(i, begin_[i], 1, 0); break;
      case RowLayout::ell_rows: row(i, place.base + local * place.width, 1, place.width); break;
      case RowLayout::ell_columns:
      case RowLayout::ell_blocks:
      case RowLayout::ell_strips: row(i, place.base + local, place.stride, place.width); break;
      case RowLayout::sell: {
        const std::int64_t c = place.base + local / chunk;
        row(i, begin_[c] + local % chunk, chunk, (begin_[c + 1] - begin_[c]) / chunk);
        break;
      }
      case RowLayout::streams: {
        const std::int64_t position = place.base + local % length;
        row(i, place.first + local / length * place.stride + begin_[position], 1,
            begin_[position + 1] - begin_[position]);
        break;
      }
      }
    }
  }

  RowsOfSide rows_;
  const RowNumbering& numbering_;
  std::int64_t n_, entries_ = 0;
  std::vector<std::int64_t> begin_;
  StoredRows<Value> made_;
};

} // namespace

std::string_view name_of(RowLayout layout) {
  switch (layout) {
  case RowLayout::crs: return "CRS";
  case RowLayout::ell_rows: return "Sliced-ELL, row-wise";
  case RowLayout::ell_columns: return "Sliced-ELL, column-wise";
  case RowLayout::ell_blocks: return "Sliced-ELL, column-wise, blocked";
  case RowLayout::ell_strips: return "Sliced-ELL, blocked and vectorised";
  case RowLayout::sell: return "SELL-C-sigma";
  case RowLayout::streams: return "streamed CRS";
  }
  return "";
}

template <class Value>
Result<StoredRows<Value>> store(const SplitMatrix& matrix, const RowNumbering& numbering, TriangleSide side,
                                RowLayout layout, int chunk, const Factor* factor) {
  return RowBuilder<Value>(matrix, numbering, side, layout, chunk, factor).build();
}

template Result<StoredRows<double>> store<double>(const SplitMatrix&, const RowNumbering&, TriangleSide, RowLayout, int,
                                                  const Factor*);
template Result<StoredRows<float>> store<float>(const SplitMatrix&, const RowNumbering&, TriangleSide, RowLayout, int,
                                                const Factor*);

} // namespace kumihimo::sparse
