#include "sparse/matrix_market.hpp"

#include "base/real_number.hpp"
#include "base/text_file.hpp"
#include "base/text_lines.hpp"
#include "base/whole_file.hpp"
#include "sparse/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <tuple>

namespace kumihimo::sparse {
namespace {

constexpr const char* form = "write '%%MatrixMarket matrix coordinate real symmetric'";
constexpr const char* solvable = "conjugate gradients need a real symmetric matrix";

struct FileEntry {
  std::int32_t row, column;
  std::int32_t line; // for errors; saturates
  bool is_mirrored;  // it stands for the entry at (column, row) of a symmetric file
  double value;
};

struct Header {
  bool is_array = false, is_pattern = false, is_symmetric = false;
};

class MatrixMarketLines {
 public:
  explicit MatrixMarketLines(std::string_view text) : lines_(text) {}
  // The next line that is neither empty nor a comment.
  std::optional<std::string_view> next() {
    while (lines_.are_left()) {
      const std::string_view line = trimmed(lines_.next());
      if (!line.empty() && line.front() != '%') return line;
    }
    return std::nullopt;
  }
  std::string_view raw() { return lines_.next(); }
  std::int32_t number() const {
    return static_cast<std::int32_t>(std::min<std::int64_t>(lines_.number(), std::numeric_limits<std::int32_t>::max()));
  }
  Error at(Error error) const { return located(fmt::format("line {}", lines_.number()), std::move(error)); }

 private:
  TextLines lines_;
};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

Result<Header> read_header(std::string_view line) {
  const std::string text = lower_case(trimmed(line));
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() != 5 || words[0] != "%%matrixmarket" || words[1] != "matrix")
    return wrong_value("the first line must be the header of a Matrix Market matrix", on_one_line(trimmed(line)), form);
  Header header;
  header.is_array = words[2] == "array";
  if (!header.is_array && words[2] != "coordinate")
    return wrong_value("the format must be coordinate or array", on_one_line(words[2]), form);
  header.is_pattern = words[3] == "pattern";
  if (header.is_array && header.is_pattern) return wrong_value("an array must have values", words[3], form);
  if (!header.is_pattern && words[3] != "real" && words[3] != "integer")
    return wrong_value("the values must be real, integer or pattern", on_one_line(words[3]), solvable);
  header.is_symmetric = words[4] == "symmetric";
  if (!header.is_symmetric && words[4] != "general")
    return wrong_value("the symmetry must be general or symmetric", on_one_line(words[4]), solvable);
  return header;
}

struct MatrixSize {
  std::int32_t rows;
  std::int64_t entries;
};

Result<MatrixSize> read_size(std::string_view line, const Header& header) {
  const std::vector<std::string_view> words = words_of(line);
  std::int64_t rows = 0, columns = 0, entries = 0;
  if (words.size() != (header.is_array ? 2U : 3U) || !read_number(words[0], rows) || !read_number(words[1], columns) ||
      !(header.is_array || read_number(words[2], entries)))
    return wrong_value(header.is_array ? "the line of sizes must be two numbers: rows, columns"
                                       : "the line of sizes must be three numbers: rows, columns, entries",
                       on_one_line(line));
  if (rows != columns)
    return wrong_value("the matrix must be square", fmt::format("{} rows, {} columns", rows, columns));
  if (rows < 1 || rows > std::numeric_limits<std::int32_t>::max())
    return wrong_value("the number of rows must be 1 to 2147483647", rows);
  if (header.is_array) entries = header.is_symmetric ? rows * (rows + 1) / 2 : rows * rows;
  if (entries < rows) // else a short file could ask for the memory of 2147483647 rows
    return wrong_value("each row must have a diagonal entry, so there must be at least as many entries as rows",
                       fmt::format("{} entries, {} rows", entries, rows));
  return MatrixSize{static_cast<std::int32_t>(rows), entries};
}

Result<double> read_value(std::string_view word) {
  double value = 0;
  if (!read_real(word, value)) return wrong_value("the value must be a finite number", on_one_line(word));
  return value;
}

Result<FileEntry> read_entry(std::string_view line, const Header& header, std::int32_t rows) {
  const std::vector<std::string_view> words = words_of(line);
  const std::size_t needed = header.is_pattern ? 2 : 3;
  if (words.size() != needed)
    return wrong_value(header.is_pattern ? "an entry must be two numbers: row, column"
                                         : "an entry must be three numbers: row, column, value",
                       on_one_line(line));
  std::int64_t place[2];
  for (int i = 0; i < 2; ++i) {
    if (!read_number(words[i], place[i]) || place[i] < 1 || place[i] > rows)
      return wrong_value(fmt::format("the {} must be a number from 1 to {}", i == 0 ? "row" : "column", rows),
                         on_one_line(words[i]));
  }
  const double value = header.is_pattern ? 1 : TRY(read_value(words[2]));
  return FileEntry{static_cast<std::int32_t>(place[0] - 1), static_cast<std::int32_t>(place[1] - 1), 0, false, value};
}

// The places of an array's values: column by column, of a symmetric one without those above the diagonal.
class ArrayPlaces {
 public:
  ArrayPlaces(const Header& header, std::int32_t rows) : is_symmetric_(header.is_symmetric), rows_(rows) {}
  Result<FileEntry> read(std::string_view line) {
    const FileEntry entry{row_, column_, 0, false, TRY(read_value(line))};
    if (++row_ == rows_) ++column_, row_ = is_symmetric_ ? column_ : 0;
    return entry;
  }

 private:
  bool is_symmetric_;
  std::int32_t rows_, row_ = 0, column_ = 0;
};

Result<std::vector<FileEntry>> read_entries(MatrixMarketLines& lines, const Header& header, const MatrixSize& size,
                                            std::size_t text_bytes) {
  std::vector<FileEntry> entries;
  // No more than the text can hold: the number of entries is the user's.
  const auto most = static_cast<std::int64_t>(text_bytes / (header.is_array ? 2 : 4)) + 1;
  entries.reserve(static_cast<std::size_t>(std::min(size.entries, most)));
  ArrayPlaces places(header, size.rows);
  for (std::int64_t i = 0; i < size.entries; ++i) {
    const std::optional<std::string_view> line = lines.next();
    if (!line)
      return lines.at(wrong_value(fmt::format("the file must have {} entries, but ends after {}", size.entries, i), {},
                                  "correct the line of sizes, or give the other entries"));
    Result<FileEntry> read = header.is_array ? places.read(*line) : read_entry(*line, header, size.rows);
    if (!read) return lines.at(read.error());
    read->line = lines.number();
    if (header.is_array && read->value == 0 && read->row != read->column) continue;
    entries.push_back(*read);
    if (header.is_symmetric && read->row != read->column)
      entries.push_back({read->column, read->row, read->line, true, read->value});
  }
  if (const std::optional<std::string_view> line = lines.next())
    return lines.at(
        wrong_value(fmt::format("the file must end after its {} entries", size.entries), on_one_line(*line)));
  return entries;
}

Error at_line(const FileEntry& entry, Error error) {
  return located(fmt::format("line {}", entry.line), std::move(error));
}

// The sum of all entries at one place, as a program writes them that assembles a matrix from parts; those of a pattern
// say the same twice.
Result<FileEntry> sum_of(std::span<const FileEntry> entries, const Header& header) {
  FileEntry sum = entries[0];
  for (const FileEntry& e : entries.subspan(1)) {
    if (e.is_mirrored != sum.is_mirrored)
      return at_line(e.line > sum.line ? e : sum,
                     wrong_value(fmt::format("row {}, column {} is given in both triangles, first in line {}",
                                             e.row + 1, e.column + 1, std::min(e.line, sum.line)),
                                 {}, "of a symmetric matrix, give the entries of one triangle"));
    sum.line = std::min(sum.line, e.line);
    if (!header.is_pattern) sum.value += e.value;
  }
  if (!std::isfinite(sum.value))
    return at_line(sum, wrong_value(fmt::format("the sum of the entries at row {}, column {} must be finite",
                                                sum.row + 1, sum.column + 1)));
  if (sum.row == sum.column && !(sum.value > 0))
    return at_line(sum, wrong_value(fmt::format("the diagonal entry of row {} must be positive", sum.row + 1),
                                    fmt::format("{}", sum.value),
                                    "conjugate gradients need a symmetric positive definite matrix"));
  return sum;
}

Result<CrsMatrix> matrix_of(std::vector<FileEntry> entries, const Header& header, std::int32_t rows) {
  // Equal values in the same order on both sides of the diagonal, so that their sums are the same bits.
  std::sort(entries.begin(), entries.end(), [](const FileEntry& a, const FileEntry& b) {
    return std::tuple(a.row, a.column, a.value) < std::tuple(b.row, b.column, b.value);
  });
  CrsMatrix a;
  a.rows = a.columns = rows;
  a.begin.assign(static_cast<std::size_t>(rows) + 1, 0);
  a.column.reserve(entries.size());
  a.value.reserve(entries.size());
  const std::span<const FileEntry> all(entries);
  for (std::size_t i = 0, end = 0; i < all.size(); i = end) {
    while (end < all.size() && all[end].row == all[i].row && all[end].column == all[i].column) ++end;
    const FileEntry sum = TRY(sum_of(all.subspan(i, end - i), header));
    if (sum.row != sum.column && sum.value == 0) continue; // its mirror image may be absent
    ++a.begin[sum.row + 1];
    a.column.push_back(sum.column);
    a.value.push_back(sum.value);
  }
  for (std::int32_t i = 0; i < rows; ++i) a.begin[i + 1] += a.begin[i];
  TRY(check_symmetric_positive(a));
  return a;
}

Result<CrsMatrix> parse(std::string_view text) {
  if (!TextLines(text).has_words()) return wrong_value("the file is empty", {}, form);
  MatrixMarketLines lines(text);
  const Result<Header> header = read_header(lines.raw());
  if (!header) return lines.at(header.error());
  const std::optional<std::string_view> line = lines.next();
  if (!line) return lines.at(missing("the line of sizes", "write rows, columns and entries"));
  const Result<MatrixSize> size = read_size(*line, *header);
  if (!size) return lines.at(size.error());
  std::vector<FileEntry> entries = TRY(read_entries(lines, *header, *size, text.size()));
  return matrix_of(std::move(entries), *header, size->rows);
}

} // namespace

Result<CrsMatrix> parse_matrix_market(std::string_view text) {
  return within_memory("the matrix", [&] { return parse(text); });
}

Result<CrsMatrix> read_matrix_market(const std::string& path) {
  return within_memory("the matrix of " + path, [&]() -> Result<CrsMatrix> {
    const std::string text = TRY(read_text(path, {"the Matrix Market file", std::int64_t{1} << 36, "check the path"}));
    Result<CrsMatrix> read = parse_matrix_market(text);
    if (!read) return located(path, read.error());
    return read;
  });
}

Status write_matrix_market(const CrsMatrix& a, const std::string& path) {
  std::int64_t entries = 0;
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.begin[i]; k < a.begin[i + 1]; ++k) entries += a.column[k] <= i;
  WholeFile file(path);
  file.write(fmt::format("%%MatrixMarket matrix coordinate real symmetric\n{} {} {}\n", a.rows, a.rows, entries));
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.begin[i]; k < a.begin[i + 1] && a.column[k] <= i; ++k)
      file.write(fmt::format("{} {} {}\n", i + 1, a.column[k] + 1, a.value[k]));
  return file.finish();
}

} // namespace kumihimo::sparse
